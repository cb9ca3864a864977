"""What a pass over an object that is as it should be costs, in calls."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from controller.harness.resource import Resource
from controller.ownership import ownership
from controller.ownership.owned import record_account
from controller.ownership.ownership import Target
from controller.ownership.seal import Sealer
from controller.reconcilers.membership import MembershipReconciler
from tests.support.bed import Bed

NAMES = [f"user{number}" for number in range(5)]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    found: Counter[str] = Counter()

    def count(where: Any, name: str) -> None:
        real: Callable[..., Any] = getattr(where, name)

        def counting(*args: Any, **named: Any) -> Any:
            found[name] += 1
            return real(*args, **named)

        monkeypatch.setattr(where, name, counting)

    count(ownership, "mark_of")
    count(Sealer, "seal")
    return found


def settled_again(bed: Bed, counted: Counter[str]) -> None:
    bed.settle(400)
    bed.start()
    bed.settle(400)
    bed.clear_logs()
    counted.clear()
    bed.operator.compare_all()
    bed.settle(400)
    assert bed.operations() == []
    assert bed.api_writes() == []


def test_a_settled_user_has_its_mark_read_once_and_one_seal_made(
    bed: Bed, counted: Counter[str]
) -> None:
    for name in NAMES:
        bed.user(name, displayName="Somebody")
    settled_again(bed, counted)
    assert counted == {"mark_of": len(NAMES), "seal": len(NAMES)}


def test_a_settled_group_has_one_seal_made(bed: Bed, counted: Counter[str]) -> None:
    for name in NAMES:
        bed.group(name)
    settled_again(bed, counted)
    assert counted["seal"] == len(NAMES)


def test_a_settled_membership_has_one_seal_made(bed: Bed, counted: Counter[str]) -> None:
    bed.group("devs")
    for name in NAMES:
        bed.user(name)
        bed.membership(name, "devs")
    settled_again(bed, counted)
    passes = 2 * len(NAMES) + 1
    assert counted["seal"] == passes


def test_a_record_of_another_key_is_sealed_anew_once(bed: Bed, counted: Counter[str]) -> None:
    bed.user("alice")
    bed.settle()
    before = bed.get("LldapUser", "alice")["status"]["seal"]
    bed.start(hash_key=b"j" * 32)
    bed.settle()
    after = bed.get("LldapUser", "alice")["status"]["seal"]
    assert after != before
    settled_again(bed, counted)
    assert counted["seal"] == 1


def test_a_draft_that_is_older_than_the_record_gets_its_seal(bed: Bed) -> None:
    bed.user("alice")
    bed.group("devs")
    bed.membership("alice", "devs")
    bed.settle()
    instance = bed.operator.instance
    for kind, name in (("LldapUser", "alice"), ("LldapGroup", "devs")):
        now = bed.get(kind, name)
        resource = Resource({**now, "status": {}})
        resource.refreshed(now)
        record_account(instance, resource, now["status"]["uuid"], target_of(bed, kind, name))
        assert resource.status["seal"] == now["status"]["seal"]
    now = bed.get("LldapMembership", "alice-devs")
    resource = Resource({**now, "status": {}})
    resource.refreshed(now)
    MembershipReconciler(instance).converge(resource, instance)
    assert resource.status["seal"] == now["status"]["seal"]


def target_of(bed: Bed, kind: str, name: str) -> Target:
    instance = bed.operator.instance
    user, group = instance.mirror.user(name), instance.mirror.group_by_name(name)
    if kind == "LldapUser":
        assert user is not None
        return instance.user_target(user)
    assert group is not None
    return instance.group_target(group)


@pytest.mark.parametrize("forged", [{"uuid": "another"}, {"origin": "Adopted"}])
def test_a_forged_record_under_the_true_seal_is_put_right(bed: Bed, forged: dict[str, str]) -> None:
    bed.user("alice")
    bed.settle()
    true = bed.get("LldapUser", "alice")["status"]
    bed.forge("LldapUser", "alice", forged)
    bed.settle()
    assert bed.get("LldapUser", "alice")["status"] == true
    assert "RecordLost" in bed.events.reasons()


def test_an_added_membership_is_told_when_its_locks_are_free(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All memberships of one group go through its lock: nothing needless is done under it."""
    instance, held = bed.operator.instance, []
    told = bed.events.event

    def event(*args: Any) -> None:
        if args[2] == "Added":
            held.append(len(instance.locks))
        told(*args)

    monkeypatch.setattr(bed.events, "event", event)
    bed.group("devs")
    for name in NAMES:
        bed.user(name)
        bed.membership(name, "devs")
    bed.settle(400)
    assert held == [0] * len(NAMES)
