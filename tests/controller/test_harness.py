"""Every knob of the harness, one after the other: what each choice does."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from controller.harness.harness import Harness
from controller.harness.harnessconfig import ConditionStyle, ObservedGenPolicy
from controller.harness.outcome import AT_ONCE, DONE, Outcome, Result, converged, progressing
from controller.harness.reasoned import UNTIL_WOKEN, ReasonedError, fail, fail_requeue
from controller.harness.taxonomy import Cadences, Rule, Taxonomy
from tests.support.handlers import (
    BACKOFF,
    DRY_RUN,
    FIXED,
    TERMINAL,
    FooHandler,
    HarnessBed,
    Remote,
)
from tests.support.kubebed import FINALIZER


@pytest.fixture
def bed() -> HarnessBed:
    bed = HarnessBed()
    bed.create()
    return bed


def raising(error: Exception) -> Callable[[], Any]:
    def act() -> None:
        raise error

    return act


def failing(error: Exception) -> FooHandler:
    handler = FooHandler()
    handler.outcome = raising(error)
    return handler


def coming_out(outcome: Outcome) -> FooHandler:
    handler = FooHandler()
    handler.outcome = lambda: outcome
    return handler


def plain(result: Result) -> tuple[float | None, bool, bool]:
    return result.requeue_after, result.rate_limited, result.terminal


# --- the way to Ready ----------------------------------------------------------------------------


def test_ready_is_true_only_after_a_converged_outcome(bed: HarnessBed) -> None:
    bed.run(handler=coming_out(progressing("Applying", "waiting for foo")))
    assert bed.shown() == ("False", "Applying", "waiting for foo")
    bed.run(handler=coming_out(converged("Verified", "foo is there")))
    assert bed.shown() == ("True", "Verified", "foo is there")


def test_the_finalizer_is_on_before_anything_is_done(bed: HarnessBed) -> None:
    handler = FooHandler()
    seen: list[list[str]] = []

    def look() -> Outcome:
        seen.append(bed.get().finalizers)
        return converged("Verified", "")

    handler.outcome = look
    bed.run(handler=handler)
    assert seen == [[FINALIZER]]


def test_a_kind_without_finalizer_gets_none(bed: HarnessBed) -> None:
    handler = FooHandler()
    handler.finalizer = ""
    bed.run(handler=handler)
    assert bed.get().finalizers == []
    assert bed.shown()[0] == "True"


# --- Resolve / ResolveFailureReason --------------------------------------------------------------

RESOLVES = {
    "its reason is in the taxonomy": (fail("NotYet", "no Secret"), "NotYet", "no Secret", FIXED),
    "its reason is not": (fail("Odd", "no route"), "NoClient", "no route", TERMINAL),
    "it has none": (ValueError("quoted secret"), "NoClient", "no client could be made", TERMINAL),
}


@pytest.mark.parametrize(("error", "reason", "words", "rule"), RESOLVES.values(), ids=RESOLVES)
def test_a_failure_to_resolve_goes_through_the_taxonomy(
    bed: HarnessBed, error: Exception, reason: str, words: str, rule: Rule
) -> None:
    result = bed.run(
        resolve=lambda _resource: raising(error)(),
        resolve_failure_reason="NoClient",
        taxonomy=Taxonomy({"NotYet": FIXED, "NoClient": TERMINAL}),
    )
    status, shown, message = bed.shown()
    assert (status, shown) == ("False", reason)
    assert words in message
    assert "quoted secret" not in message
    assert result.terminal is (rule is TERMINAL)
    assert bed.remote.calls == []


# --- Taxonomy, Cadences --------------------------------------------------------------------------

DISPOSITIONS = {
    "terminal": (fail("Invalid", "m"), (900.0, False, True)),
    "fixed": (fail("NotYet", "m"), (30.0, False, False)),
    "fixed with its own seconds": (fail("Soon", "m"), (10.0, False, False)),
    "terminal with its own seconds": (fail("Never", "m"), (None, False, True)),
    "back-off": (fail("Broken", "m"), (None, True, False)),
    "unmapped: the default": (fail("Unheard", "m"), (None, True, False)),
    "no reason: the default": (ValueError("m"), (None, True, False)),
    "transient whatever its reason says": (fail_requeue("Invalid", "m"), (30.0, False, False)),
    "after a time of its own": (fail("Invalid", "m").looked_at_after(7), (7, False, False)),
    "until somebody wakes it": (
        ReasonedError("Broken", "m", after=UNTIL_WOKEN),
        (None, False, False),
    ),
}


@pytest.mark.parametrize(("error", "expected"), DISPOSITIONS.values(), ids=DISPOSITIONS)
def test_the_taxonomy_decides_when_a_failure_is_looked_at_again(
    bed: HarnessBed, error: Exception, expected: tuple[float | None, bool, bool]
) -> None:
    rules = {
        "Invalid": TERMINAL,
        "NotYet": FIXED,
        "Broken": BACKOFF,
        "Soon": Rule(FIXED.disposition, 10.0),
        "Never": Rule(TERMINAL.disposition, 0.0),
    }
    result = bed.run(handler=failing(error), taxonomy=Taxonomy(rules))
    assert plain(result) == expected
    assert result.error is error


def test_the_default_of_the_taxonomy_is_a_choice_too(bed: HarnessBed) -> None:
    result = bed.run(handler=failing(fail("Unheard", "m")), taxonomy=Taxonomy({}, default=TERMINAL))
    assert result.terminal


OUTCOMES = {
    "ready": (converged("V", ""), Cadences(ready=60), Result(requeue_after=60)),
    "ready, one resync serves all": (converged("V", ""), Cadences(ready=0), DONE),
    "progressing": (progressing("P", ""), Cadences(progressing=2), Result(requeue_after=2)),
    "after": (converged("V", "").after(9), Cadences(), Result(requeue_after=9)),
    "after, progressing": (progressing("P", "").after(9), Cadences(), Result(requeue_after=9)),
    "at once": (progressing("P", "").after(0), Cadences(), AT_ONCE),
}


@pytest.mark.parametrize(("outcome", "cadences", "expected"), OUTCOMES.values(), ids=OUTCOMES)
def test_an_outcome_is_looked_at_again_by_its_phase_or_its_own_word(
    bed: HarnessBed, outcome: Outcome, cadences: Cadences, expected: Result
) -> None:
    assert bed.run(handler=coming_out(outcome), cadences=cadences) == expected


# --- ConditionStyle ------------------------------------------------------------------------------

STYLE = ConditionStyle(emit_progressing="Reconciling", emit_degraded="Stalled")

STYLES = {
    "converged": (coming_out(converged("V", "")), STYLE, {"Ready": "True"}),
    "progressing": (
        coming_out(progressing("P", "")),
        STYLE,
        {"Ready": "False", "Reconciling": "True"},
    ),
    "latched": (failing(fail("Invalid", "")), STYLE, {"Ready": "False", "Stalled": "True"}),
    "fixed": (failing(fail("NotYet", "")), STYLE, {"Ready": "False"}),
    "back-off": (failing(fail("Broken", "")), STYLE, {"Ready": "False"}),
    "heals by itself": (failing(fail_requeue("Invalid", "")), STYLE, {"Ready": "False"}),
    "progressing, not asked for": (
        coming_out(progressing("P", "")),
        ConditionStyle(),
        {"Ready": "False"},
    ),
    "latched, not asked for": (
        failing(fail("Invalid", "")),
        ConditionStyle(emit_progressing="Reconciling"),
        {"Ready": "False"},
    ),
}


@pytest.mark.parametrize(("handler", "style", "expected"), STYLES.values(), ids=STYLES)
def test_conditions_beside_ready_are_there_while_they_are_true(
    bed: HarnessBed, handler: FooHandler, style: ConditionStyle, expected: dict[str, str]
) -> None:
    bed.run(handler=handler, conditions=style)
    assert bed.types() == expected


def test_conditions_beside_ready_go_when_it_is_over(bed: HarnessBed) -> None:
    bed.run(handler=coming_out(progressing("P", "")), conditions=STYLE)
    bed.run(handler=failing(fail("Invalid", "")), conditions=STYLE)
    assert bed.types() == {"Ready": "False", "Stalled": "True"}
    bed.run(conditions=STYLE)
    assert bed.types() == {"Ready": "True"}


# --- RequeueOnFinalizerAdd -----------------------------------------------------------------------


def test_the_pass_goes_on_after_the_finalizer_or_ends_there(bed: HarnessBed) -> None:
    result = bed.run(requeue_on_finalizer_add=True)
    assert result == AT_ONCE  # the echo of our own write wakes nobody
    assert bed.remote.calls == []
    assert bed.get().finalizers == [FINALIZER]
    bed.run(requeue_on_finalizer_add=True)
    assert bed.remote.calls == ["converge"]


def test_without_it_one_pass_does_both(bed: HarnessBed) -> None:
    bed.run(requeue_on_finalizer_add=False)
    assert bed.get().finalizers == [FINALIZER]
    assert bed.remote.calls == ["converge"]


# --- ObservedGenPolicy ---------------------------------------------------------------------------

ALL, CONVERGED, EVERY = (
    ObservedGenPolicy.ON_ALL_SUCCESS,
    ObservedGenPolicy.ON_CONVERGED_ONLY,
    ObservedGenPolicy.ON_EVERY_PASS,
)
DONE_HANDLER = coming_out(converged("V", ""))
ON_THE_WAY = coming_out(progressing("P", ""))
FAILED = failing(fail("Invalid", ""))


@pytest.mark.parametrize(
    ("policy", "handler", "stamped"),
    [
        (ALL, DONE_HANDLER, True),
        (ALL, ON_THE_WAY, True),
        (ALL, FAILED, False),
        (CONVERGED, DONE_HANDLER, True),
        (CONVERGED, ON_THE_WAY, False),
        (CONVERGED, FAILED, False),
        (EVERY, DONE_HANDLER, True),
        (EVERY, ON_THE_WAY, True),
        (EVERY, FAILED, True),
    ],
)
def test_the_generation_is_stamped_by_policy(
    bed: HarnessBed, policy: ObservedGenPolicy, handler: FooHandler, stamped: bool
) -> None:
    bed.merge({"spec": {"displayName": "Al"}})
    bed.run(handler=handler, observed_generation=policy)
    assert bed.get().recorded.get("observedGeneration") == (2 if stamped else None)


@pytest.mark.parametrize(("policy", "stamped"), [(ALL, True), (CONVERGED, False), (EVERY, True)])
def test_a_dry_run_is_seen_but_not_converged(
    bed: HarnessBed, policy: ObservedGenPolicy, stamped: bool
) -> None:
    bed.merge({"metadata": {"annotations": {DRY_RUN: "true"}}})
    bed.run(observed_generation=policy, dry_run_annotation=DRY_RUN)
    assert bed.get().recorded.get("observedGeneration") == (1 if stamped else None)


# --- Recorder ------------------------------------------------------------------------------------


def test_an_error_is_told_bounded_and_as_it_is(bed: HarnessBed) -> None:
    bed.run(handler=failing(fail("Broken", "bad <tag> \n" + "ü" * 600)))
    kind, reason, note = bed.events[0]
    assert (kind, reason) == ("Warning", "Broken")
    assert note.startswith("bad <tag> \n")  # bounded, not sanitized
    assert len(note.encode()) <= 512
    assert len(bed.events) == 1


@pytest.mark.parametrize("handler", [DONE_HANDLER, ON_THE_WAY])
def test_what_is_no_error_makes_no_event(bed: HarnessBed, handler: FooHandler) -> None:
    bed.run(handler=handler)
    assert bed.events == []


def test_who_waits_for_somebody_else_is_told_of_once(bed: HarnessBed) -> None:
    handler = failing(ReasonedError("Down", "m", after=UNTIL_WOKEN))
    for _ in range(3):
        bed.run(handler=handler)
    assert bed.events == [("Warning", "Down", "m")]


def test_it_runs_without_a_recorder(bed: HarnessBed) -> None:
    bed.run(handler=failing(fail("Broken", "m")), recorder=None)
    assert bed.shown()[1] == "Broken"


# --- StampSuccess, MirrorStatus ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("handler", "stamped"), [(DONE_HANDLER, True), (ON_THE_WAY, False), (FAILED, False)]
)
def test_success_is_stamped_and_each_status_mirrored_before_it_is_written(
    bed: HarnessBed, handler: FooHandler, stamped: bool
) -> None:
    def stamp(resource: Any) -> None:
        resource.status["reconcileAt"] = "now"

    def mirror(resource: Any) -> None:
        ready = next(c for c in resource.status["conditions"] if c["type"] == "Ready")
        resource.status["origin"] = "Created" if ready["status"] == "True" else "Adopted"

    bed.run(handler=handler, stamp_success=stamp, mirror_status=mirror)
    recorded = bed.get().recorded
    assert recorded.get("reconcileAt") == ("now" if stamped else None)
    assert recorded["origin"] == ("Created" if stamped else "Adopted")


# --- errors that nobody expects ------------------------------------------------------------------


def test_an_unknown_error_shows_its_type_alone_and_is_logged_whole(
    bed: HarnessBed, caplog: pytest.LogCaptureFixture
) -> None:
    bed.run(handler=failing(KeyError("hunter2")), failure_reason="InternalError")
    status, reason, message = bed.shown()
    assert (status, reason) == ("False", "InternalError")
    assert message == "team-a/alice: unexpected KeyError; see the log"
    assert [r.exc_info is not None for r in caplog.records if r.levelno == logging.ERROR] == [True]
    assert "hunter2" not in str(bed.events)


def test_explain_gives_the_reason_of_foreign_errors(bed: HarnessBed) -> None:
    bed.run(
        handler=failing(TimeoutError()),
        explain=lambda error: fail("NotYet", f"it took too long ({type(error).__name__})"),
    )
    assert bed.shown() == ("False", "NotYet", "it took too long (TimeoutError)")


def test_a_reason_is_found_through_a_chain_of_causes(bed: HarnessBed) -> None:
    outer = RuntimeError("outer")
    outer.__cause__ = fail("NotYet", "the cause")
    result = bed.run(handler=failing(outer))
    assert bed.shown() == ("False", "NotYet", "the cause")
    assert result.requeue_after == 30.0


def test_a_passing_fault_is_tried_again_without_a_word(bed: HarnessBed) -> None:
    error = fail("Broken", "busy")
    result = bed.run(handler=failing(error), passing=lambda _resource, found: found is error)
    assert plain(result) == (None, True, False)
    assert bed.types() == {}
    assert bed.events == []


# --- hold and refuse -----------------------------------------------------------------------------


def harness(bed: HarnessBed) -> Harness[Remote]:
    return Harness(bed.config())


def test_what_is_held_keeps_its_status_and_for_which_generation_it_was(bed: HarnessBed) -> None:
    bed.run()
    before = bed.ready()
    bed.clock.advance(60)
    bed.merge({"spec": {"displayName": "Al"}})
    assert harness(bed).hold(bed.get(), "Paused", "it is paused") == DONE
    assert bed.ready() == {**before, "reason": "Paused", "message": "it is paused"}
    assert bed.get().recorded.get("observedGeneration") == 1


def test_what_was_never_reconciled_is_unknown_while_it_is_held(bed: HarnessBed) -> None:
    harness(bed).hold(bed.get(), "Paused", "it is paused")
    assert bed.shown() == ("Unknown", "Paused", "it is paused")
    assert bed.ready()["observedGeneration"] == 0


@pytest.mark.parametrize("told", [True, False])
def test_what_is_refused_shows_why(bed: HarnessBed, told: bool) -> None:
    result = harness(bed).refuse(bed.get(), fail("NotYet", "m"), told=told)
    assert plain(result) == (30.0, False, False)
    assert bed.shown() == ("False", "NotYet", "m")
    assert len(bed.events) == told
