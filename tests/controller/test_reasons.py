"""The table of reasons: closed, complete, and what it says about trying again."""

import pytest

from controller.harness.reasons import BY_REASON, CADENCES, TABLE, TAXONOMY, Entry, Reason
from controller.harness.taxonomy import Cadences, Disposition

SPEC = [
    "Verified",
    "DryRun",
    "Paused",
    "Pending",
    "Conflict",
    "EmailConflict",
    "NotAdopted",
    "ProtectedAccount",
    "BuiltIn",
    "BuiltInConflict",
    "Forbidden",
    "DependencyNotReady",
    "SecretNotFound",
    "SecretKeyNotFound",
    "PasswordRejected",
    "InvalidValue",
    "SchemaMismatch",
    "AttributeInUse",
    "HeldByOtherInstance",
    "LldapUnavailable",
    "UnsupportedServer",
    "Deleting",
]

each = pytest.mark.parametrize("entry", TABLE, ids=[entry.reason for entry in TABLE])


def test_every_reason_has_one_row() -> None:
    assert [entry.reason for entry in TABLE] == list(dict.fromkeys(e.reason for e in TABLE))
    assert BY_REASON.keys() == set(Reason)


@pytest.mark.parametrize("reason", SPEC)
def test_the_reasons_that_were_agreed_on_are_there(reason: str) -> None:
    assert Reason(reason) in BY_REASON


@each
def test_a_row_says_what_it_means_and_what_to_do(entry: Entry) -> None:
    assert entry.meaning.endswith(".")
    assert entry.action.endswith(".")
    assert entry.ready in {"True", "False", "Unknown"}


@each
def test_a_failure_has_a_rule_and_nothing_else_has_one(entry: Entry) -> None:
    """Progressing is no failure: its cadence is that of the phase."""
    failure = entry.ready == "False" and entry.reason is not Reason.PROGRESSING
    assert (entry.rule is not None) is failure
    assert (entry.reason in TAXONOMY) is failure


@each
def test_a_reason_is_one_that_the_api_server_takes(entry: Entry) -> None:
    assert entry.reason.isascii()
    assert entry.reason.isalpha()


def test_the_cadences_are_those_that_were_agreed_on() -> None:
    assert Cadences(ready=0.0, progressing=5.0, transient=30.0, terminal=600.0) == CADENCES


@pytest.mark.parametrize(
    ("reason", "seconds"),
    [
        (Reason.PENDING, 10.0),
        (Reason.ATTRIBUTE_IN_USE, 10.0),
        (Reason.SECRET_NOT_FOUND, 30.0),
        (Reason.DEPENDENCY_NOT_READY, 30.0),
    ],
)
def test_what_somebody_else_provides_is_looked_at_after_a_fixed_time(
    reason: Reason, seconds: float
) -> None:
    rule = TAXONOMY.of(reason)
    assert (rule.disposition, rule.seconds) == (Disposition.FIXED_REQUEUE, seconds)


@pytest.mark.parametrize(
    "reason", [Reason.CONFLICT, Reason.INVALID_VALUE, Reason.INVALID_SPEC, Reason.SCHEMA_MISMATCH]
)
def test_what_a_person_has_to_change_rests(reason: Reason) -> None:
    assert TAXONOMY.of(reason).disposition is Disposition.TERMINAL


@pytest.mark.parametrize(
    "reason", [Reason.LLDAP_UNAVAILABLE, Reason.FORBIDDEN, Reason.REFUSED, Reason.INTERNAL_ERROR]
)
def test_what_may_pass_is_tried_ever_more_rarely(reason: Reason) -> None:
    assert TAXONOMY.of(reason).disposition is Disposition.BACKOFF
