"""The three patterns of errors in controllers, put back in on purpose: each is caught (G21)."""

from collections.abc import Callable

import pytest

from controller.ownership.owned import Owned
from informers import ListWatch
from informers.reflector import Reflector
from tests.faults.plan import Fault, Plan
from tests.faults.run import Outcome, run

REPLAYS = 20

Break = Callable[[pytest.MonkeyPatch], None]


def _recorded_afterwards(patch: pytest.MonkeyPatch) -> None:
    """Intermediate state: what is set is recorded only when all is done."""
    patch.setattr(Owned, "record_managed_first", lambda *_: None)


def _older_lists(patch: pytest.MonkeyPatch) -> None:
    """Stale state: a process that starts takes any list that an API server has."""
    made = ListWatch.__init__

    def init(self: ListWatch, *args: object, **options: object) -> None:
        made(self, *args, **{**options, "never_older": False})  # type: ignore[arg-type]

    patch.setattr(ListWatch, "__init__", init)


def _watches_alone(patch: pytest.MonkeyPatch) -> None:
    """Unobserved state: what an event did not say is never learned."""
    made = Reflector.__init__

    def init(self: Reflector, *args: object, **options: object) -> None:
        made(self, *args, **{**options, "relist_seconds": float("inf")})  # type: ignore[arg-type]

    patch.setattr(Reflector, "__init__", init)


CASES = {
    "intermediate state": (
        _recorded_afterwards,
        Plan("values-declared-and-dropped", (Fault("lldap updateUser alice#1", "crash-after"),)),
    ),
    "stale state": (
        _older_lists,
        Plan(
            "group-deleted",
            (
                Fault("api PATCH team-a/lldapgroups/staff#1", "crash-after"),
                Fault("api LIST lldapgroups#1", "stale", back=2),
            ),
        ),
    ),
    "unobserved state": (
        _watches_alone,
        Plan(
            "attribute-deleted",
            (Fault("event lldapattributeschemas MODIFIED team-a/user-room#1", "drop"),),
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_each_is_caught_by_a_plan_that_the_operator_survives(name: str) -> None:
    disturb, plan = CASES[name]
    assert run(plan).good, run(plan).report()
    assert not _broken(disturb, plan).good


@pytest.mark.slow
def test_a_failed_plan_fails_the_same_way_every_time() -> None:
    reports = {_broken(*CASES["stale state"]).report() for _ in range(REPLAYS)}
    assert len(reports) == 1


def _broken(disturb: Break, plan: Plan) -> Outcome:
    with pytest.MonkeyPatch.context() as patch:
        disturb(patch)
        return run(plan)
