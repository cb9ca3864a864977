"""What the harness makes of an API server that does not take its writes."""

import functools

import pytest

from controller.election.leadership import NotLeader
from controller.harness.explain import explain, quiet_retries
from controller.harness.finalizers import ObjectGone, StaleObject
from controller.harness.outcome import DONE, LATER, Result, converged
from controller.harness.reasoned import fail
from controller.harness.reasons import TAXONOMY
from informers import ConnectionFailed, RawResponse
from tests.support.handlers import FooHandler, HarnessBed
from tests.support.kubebed import FINALIZER, on_write, raw_answer, status_answer

PATCH_TYPED = "failed to create typed patch object: .status.x: field not declared in schema"

REST = (900.0, False, True)  # a rest: terminal
BACK_OFF = (None, True, False)

# What the API server answers to every write of that part: what follows, what is told.
ANSWERS: dict[str, tuple[RawResponse | Exception, tuple[object, ...], list[str]]] = {
    "403": (status_answer(403, "Forbidden"), BACK_OFF, ["Forbidden"]),
    "401": (status_answer(401, "Unauthorized"), BACK_OFF, ["Forbidden"]),
    "410": (status_answer(410, "Gone"), BACK_OFF, ["KubernetesUnavailable"]),
    "422": (
        status_answer(422, "Invalid", causes=[{"field": "spec.email"}]),
        REST,
        ["InvalidSpec"],
    ),
    "429": (status_answer(429, "TooManyRequests"), BACK_OFF, ["KubernetesUnavailable"]),
    "500": (status_answer(500, "InternalError"), BACK_OFF, ["KubernetesUnavailable"]),
    "500, the CRD is too old": (
        status_answer(500, "InternalError", PATCH_TYPED),
        REST,
        ["UnsupportedServer"],
    ),
    "502 of a proxy": (raw_answer(502, b"<html>"), BACK_OFF, ["KubernetesUnavailable"]),
    "200 and garbage": (raw_answer(200, b"<html>"), BACK_OFF, ["KubernetesUnavailable"]),
    "200 and no object": (raw_answer(200, b"{}"), BACK_OFF, ["KubernetesUnavailable"]),
    "no connection": (
        ConnectionFailed("refused", sent=False),
        BACK_OFF,
        ["KubernetesUnavailable"],
    ),
}
each_answer = pytest.mark.parametrize(
    ("answer", "expected", "told"), list(ANSWERS.values()), ids=list(ANSWERS)
)


@pytest.fixture
def bed() -> HarnessBed:
    return HarnessBed()


def plain(result: Result) -> tuple[object, ...]:
    return result.requeue_after, result.rate_limited, result.terminal


def run(bed: HarnessBed, handler: FooHandler | None = None) -> Result:
    return bed.run(handler=handler, explain=explain, taxonomy=TAXONOMY)


@each_answer
def test_a_status_that_is_not_taken(
    bed: HarnessBed,
    answer: RawResponse | Exception,
    expected: tuple[object, ...],
    told: list[str],
) -> None:
    bed.create()
    bed.transport.before = on_write(answer, part="/status")
    result = run(bed)
    assert plain(result) == expected
    assert result.error is not None
    assert [reason for _, reason, _ in bed.events] == told
    assert bed.get().recorded == {}
    bed.transport.before = lambda _call: None
    run(bed)
    assert bed.shown()[:2] == ("True", "Verified")


@each_answer
def test_a_finalizer_that_is_not_taken_shows_on_the_object(
    bed: HarnessBed,
    answer: RawResponse | Exception,
    expected: tuple[object, ...],
    told: list[str],
) -> None:
    bed.create()
    bed.transport.before = on_write(answer, part="/alice")
    result = run(bed)
    assert plain(result) == expected
    assert bed.remote.calls == []  # nothing is done that nobody would undo
    assert bed.shown()[:2] == ("False", told[0])
    assert [reason for _, reason, _ in bed.events] == told


@each_answer
def test_a_finalizer_that_does_not_come_off_shows_on_the_object(
    bed: HarnessBed,
    answer: RawResponse | Exception,
    expected: tuple[object, ...],
    told: list[str],
) -> None:
    bed.create(finalizers=[FINALIZER])
    bed.delete()
    bed.transport.before = on_write(answer, part="/alice")
    result = run(bed)
    assert plain(result) == expected
    assert bed.shown()[:2] == ("False", told[0])
    bed.transport.before = lambda _call: None
    assert run(bed) == DONE
    assert not bed.exists()


@pytest.mark.parametrize("part", ["/status", "/alice"])
def test_I05_an_object_that_is_gone_is_forgotten_and_no_error(bed: HarnessBed, part: str) -> None:
    bed.create()
    bed.transport.before = on_write(status_answer(404, "NotFound"), part=part)
    assert run(bed) == DONE
    assert bed.events == []


def test_a_conflict_for_ever_is_left_to_the_queue_and_no_error(bed: HarnessBed) -> None:
    bed.create()
    bed.transport.before = on_write(status_answer(409, "Conflict"), part="/status")
    assert run(bed) == LATER
    assert bed.events == []


@pytest.mark.parametrize(
    ("ended", "expected"), [(ObjectGone(), DONE), (StaleObject(), LATER), (NotLeader(), LATER)]
)
def test_what_ends_a_pass_is_no_failure_of_its_object(
    bed: HarnessBed, ended: Exception, expected: Result
) -> None:
    bed.create(finalizers=[FINALIZER])
    handler = FooHandler()

    def converge() -> None:
        raise ended

    handler.outcome = converge  # type: ignore[assignment]  # it never returns
    assert run(bed, handler) == expected
    assert bed.get().recorded == {}
    assert bed.events == []


# --- a failure beside a status that is not taken -------------------------------------------------


def failing(error: Exception) -> FooHandler:
    handler = FooHandler()

    def converge() -> None:
        raise error

    handler.outcome = converge  # type: ignore[assignment]  # it never returns
    return handler


@pytest.mark.parametrize(
    ("answer", "events"),
    [(status_answer(500, "InternalError"), 2), (status_answer(409, "Conflict"), 1)],
)
def test_the_objects_own_failure_is_not_lost_when_its_status_is_not_taken(
    bed: HarnessBed, answer: RawResponse, events: int
) -> None:
    """Else an lldap that is down would stay unknown while the API server stumbles.

    That somebody else was faster is no failure, and no event.
    """
    bed.create(finalizers=[FINALIZER])
    error = fail("SecretNotFound", "no Secret")
    bed.transport.before = on_write(answer, part="/status")
    result = run(bed, failing(error))
    assert result.error is error
    assert result.rate_limited  # soon: the object does not say it yet
    assert ("Warning", "SecretNotFound", "no Secret") in bed.events
    assert len(bed.events) == events


def test_L04_a_failure_of_an_object_that_is_gone_is_forgotten(bed: HarnessBed) -> None:
    resource = bed.create(finalizers=[FINALIZER])
    bed.merge({"metadata": {"finalizers": []}})
    bed.delete()
    result = bed.run(resource, failing(fail("Refused", "m")), explain=explain, taxonomy=TAXONOMY)
    assert result == DONE
    assert bed.events == []


def test_a_first_fault_of_the_api_server_passes_without_a_word(bed: HarnessBed) -> None:
    bed.create(finalizers=[FINALIZER])
    bed.transport.before = on_write(status_answer(500, "InternalError"), part="/status")
    for failures in range(12):
        quiet = functools.partial(lambda count, _r, e: count < quiet_retries(e), failures)
        result = bed.run(explain=explain, taxonomy=TAXONOMY, passing=quiet)
        assert result.rate_limited
    assert len(bed.events) == 3


def test_a_pause_that_the_api_server_asks_for_is_kept(bed: HarnessBed) -> None:
    bed.create(finalizers=[FINALIZER])
    busy = raw_answer(429, b"Too many requests", **{"Retry-After": "7"})
    bed.transport.before = on_write(busy, part="/status")
    result = bed.run(explain=explain, taxonomy=TAXONOMY, passing=lambda _r, _e: True)
    assert (result.requeue_after, result.rate_limited) == (7.0, False)


def test_a_lost_answer_is_found_out_by_the_next_pass(bed: HarnessBed) -> None:
    bed.create()

    def lose(_call: object, _status: int) -> None:
        raise ConnectionFailed("reset", sent=True)

    bed.transport.after = lose
    assert run(bed).rate_limited
    assert bed.get().finalizers == [FINALIZER]
    bed.transport.after = lambda _call, _status: None
    run(bed)
    assert bed.get().finalizers == [FINALIZER]
    assert bed.shown()[:2] == ("True", "Verified")


def test_I03_a_spec_edited_during_a_slow_pass_is_never_called_reconciled(bed: HarnessBed) -> None:
    bed.create(finalizers=[FINALIZER])
    handler = FooHandler()

    def slow() -> object:
        bed.merge({"spec": {"displayName": "Al"}})
        return converged("Verified", "as declared")

    handler.outcome = slow  # type: ignore[assignment]
    assert run(bed, handler) == LATER
    assert bed.get().recorded == {}
    run(bed)
    assert bed.ready()["observedGeneration"] == bed.get().recorded["observedGeneration"] == 2
