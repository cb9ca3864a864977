"""The taxonomy, and the errors that carry reasons for it."""

import pytest

from controller.harness.outcome import converged, progressing
from controller.harness.reasoned import (
    ReasonedError,
    fail,
    fail_requeue,
    reason_of,
    reasoned,
    requeue_transient_of,
)
from controller.harness.taxonomy import Cadences, Disposition, Rule, Taxonomy

TERMINAL = Rule(Disposition.TERMINAL)
FIXED = Rule(Disposition.FIXED_REQUEUE, 7.0)
BACKOFF = Rule(Disposition.BACKOFF)


@pytest.mark.parametrize(
    ("reason", "rule", "listed"),
    [("Invalid", TERMINAL, True), ("NotYet", FIXED, True), ("Unheard", BACKOFF, False)],
)
def test_a_reason_has_its_row_or_the_default(reason: str, rule: Rule, listed: bool) -> None:
    taxonomy = Taxonomy({"Invalid": TERMINAL, "NotYet": FIXED})
    assert taxonomy.of(reason) == rule
    assert (reason in taxonomy) is listed


def test_the_default_can_be_another() -> None:
    assert Taxonomy({}, default=TERMINAL).of("Unheard") == TERMINAL


def test_an_override_changes_its_own_rows_alone() -> None:
    main = Taxonomy({"Invalid": TERMINAL, "NotYet": FIXED}, default=TERMINAL)
    both = main.overridden_by(Taxonomy({"Invalid": BACKOFF}, default=FIXED))
    assert both.of("Invalid") == BACKOFF
    assert both.of("NotYet") == FIXED
    assert both.of("Unheard") == TERMINAL
    assert main.of("Invalid") == TERMINAL


def test_the_cadences_have_defaults() -> None:
    assert Cadences() == Cadences(ready=600.0, progressing=5.0, transient=30.0, terminal=600.0)


# --- errors with a reason ------------------------------------------------------------------------


def wrapped(inner: BaseException) -> Exception:
    middle, outer = ValueError("middle"), RuntimeError("outer")
    middle.__cause__, outer.__cause__ = inner, middle
    return outer


CASES = {
    "itself": (fail("NotYet", "m"), "NotYet", False),
    "transient": (fail_requeue("Invalid", "m"), "Invalid", True),
    "wrapped": (wrapped(fail_requeue("Invalid", "m")), "Invalid", True),
    "none": (ValueError("m"), None, False),
    "wrapped none": (wrapped(ValueError("m")), None, False),
}


@pytest.mark.parametrize(("error", "reason", "transient"), CASES.values(), ids=CASES)
def test_reasons_are_found_through_chains(
    error: Exception, reason: str | None, transient: bool
) -> None:
    assert reason_of(error) == reason
    assert requeue_transient_of(error) is transient


def test_the_outermost_reason_of_a_chain_counts() -> None:
    inner, outer = fail("Inner", "i"), fail("Outer", "o")
    outer.__cause__ = inner
    assert reason_of(wrapped(outer)) == "Outer"


def test_an_error_that_came_up_while_another_was_handled_is_its_own() -> None:
    def clumsy() -> None:
        try:
            raise fail("NotYet", "handled")
        except ReasonedError:
            raise KeyError("a fault of the program")  # noqa: B904 - that is the case

    with pytest.raises(KeyError) as raised:
        clumsy()
    assert isinstance(raised.value.__context__, ReasonedError)
    assert reasoned(raised.value) is None


def test_a_chain_that_bites_its_tail_ends() -> None:
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert reasoned(one) is None


def test_the_text_is_the_message() -> None:
    assert str(fail("NotYet", "no Secret a/b")) == "no Secret a/b"


def test_a_failure_can_have_a_time_of_its_own() -> None:
    error = fail("NotYet", "m").looked_at_after(3.5)
    assert (error.reason, error.after) == ("NotYet", 3.5)


# --- outcomes ------------------------------------------------------------------------------------


def test_an_outcome_says_where_it_stands() -> None:
    assert converged("Verified", "m").converged
    assert not progressing("Applying", "m").converged
    assert converged("Verified", "m").requeue_after is None


def test_after_makes_another_outcome() -> None:
    first = progressing("Applying", "m")
    later = first.after(2.0)
    assert (later.reason, later.requeue_after) == ("Applying", 2.0)
    assert first.requeue_after is None
