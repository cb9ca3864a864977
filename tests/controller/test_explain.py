"""From an error to a reason: every error of every package has a row."""

import pytest

import informers
import lldap
from controller.configuration.credentials import CredentialsError
from controller.harness.conditions import same_words
from controller.harness.explain import (
    TABLE,
    GateEffect,
    closes_gate,
    effect_on_gate,
    explain,
    explain_probe,
    quiet_retries,
)
from controller.harness.reasoned import fail
from controller.harness.reasons import Reason
from informers import ApiFailure, StatusError
from lldap import LldapError
from lldap.opaque import InvalidMessage
from lldap.passwords import PasswordNotConfirmed

# What was raised: the reason, what it says about lldap, how many retries are quiet.
CASES: dict[str, tuple[Exception, Reason, GateEffect, int]] = {
    "no connection": (
        lldap.ConnectionFailed("refused"),
        Reason.LLDAP_UNAVAILABLE,
        GateEffect.CLOSE,
        0,
    ),
    "no outcome": (lldap.OutcomeUnknown("reset"), Reason.LLDAP_UNAVAILABLE, GateEffect.CLOSE, 0),
    "a bad answer": (lldap.BadAnswer("500"), Reason.LLDAP_UNAVAILABLE, GateEffect.LOOK, 0),
    "too large": (lldap.AnswerTooLarge("3 MB"), Reason.LLDAP_UNAVAILABLE, GateEffect.LOOK, 0),
    "login refused": (lldap.LoginRefused("401"), Reason.FORBIDDEN, GateEffect.CLOSE, 0),
    "no admin": (lldap.NotAdmin("no"), Reason.FORBIDDEN, GateEffect.CLOSE, 0),
    "one call forbidden": (lldap.Forbidden("401"), Reason.FORBIDDEN, GateEffect.LOOK, 0),
    "no password file": (CredentialsError("no file"), Reason.FORBIDDEN, GateEffect.CLOSE, 0),
    "a lock": (lldap.Transient("busy"), Reason.REFUSED, GateEffect.UNTOUCHED, 5),
    "too old": (lldap.Unsupported("no field"), Reason.UNSUPPORTED_SERVER, GateEffect.UNTOUCHED, 0),
    "opaque": (InvalidMessage("?"), Reason.UNSUPPORTED_SERVER, GateEffect.UNTOUCHED, 0),
    "not confirmed": (PasswordNotConfirmed("?"), Reason.REFUSED, GateEffect.UNTOUCHED, 0),
    "a value": (
        lldap.InvalidValue("age", "no number"),
        Reason.INVALID_VALUE,
        GateEffect.UNTOUCHED,
        0,
    ),
    "an attribute": (
        lldap.UnknownAttribute("age"),
        Reason.DEPENDENCY_NOT_READY,
        GateEffect.UNTOUCHED,
        0,
    ),
    "unknown words": (lldap.Unclassified("?"), Reason.REFUSED, GateEffect.UNTOUCHED, 0),
    "not there": (lldap.NotFound("no user"), Reason.REFUSED, GateEffect.UNTOUCHED, 0),
    "guarded": (lldap.Refused("own account"), Reason.REFUSED, GateEffect.UNTOUCHED, 0),
    "any other": (LldapError("?"), Reason.REFUSED, GateEffect.UNTOUCHED, 0),
    "API: no connection": (
        informers.ConnectionFailed("refused", sent=False),
        Reason.KUBERNETES_UNAVAILABLE,
        GateEffect.UNTOUCHED,
        9,
    ),
    "API: 500": (
        StatusError(500, "InternalError"),
        Reason.KUBERNETES_UNAVAILABLE,
        GateEffect.UNTOUCHED,
        9,
    ),
    "API: 429": (
        StatusError(429, "TooManyRequests"),
        Reason.KUBERNETES_UNAVAILABLE,
        GateEffect.UNTOUCHED,
        9,
    ),
    "API: 403": (StatusError(403, "Forbidden"), Reason.FORBIDDEN, GateEffect.UNTOUCHED, 0),
    "API: 401": (StatusError(401, "Unauthorized"), Reason.FORBIDDEN, GateEffect.UNTOUCHED, 0),
    "API: 422": (StatusError(422, "Invalid"), Reason.INVALID_SPEC, GateEffect.UNTOUCHED, 0),
    "API: an old CRD": (
        StatusError(500, "InternalError", ".status.x: field not declared in schema"),
        Reason.UNSUPPORTED_SERVER,
        GateEffect.UNTOUCHED,
        0,
    ),
}


@pytest.mark.parametrize(("error", "reason", "gate", "quiet"), CASES.values(), ids=CASES)
def test_an_error_has_its_reason_its_gate_and_its_patience(
    error: Exception, reason: Reason, gate: GateEffect, quiet: int
) -> None:
    known = explain(error)
    assert known is not None
    assert known.reason == reason
    assert len(known.message) > 20
    assert effect_on_gate(error) is gate
    assert closes_gate(error) is (gate is GateEffect.CLOSE)
    assert quiet_retries(error) == quiet


def test_rows_of_children_stand_before_those_of_their_parents() -> None:
    for position, row in enumerate(TABLE):
        later = [other.error for other in TABLE[position + 1 :]]
        assert not [error for error in later if issubclass(error, row.error)]


@pytest.mark.parametrize("package", [lldap, informers])
def test_every_error_of_the_libraries_is_explained(package: object) -> None:
    roots = (LldapError, ApiFailure)
    errors = [e for e in vars(package).values() if isinstance(e, type) and issubclass(e, roots)]
    assert len(errors) > 5
    for error in errors:
        assert any(issubclass(error, row.error) for row in TABLE), error


def test_a_reasoned_error_explains_itself() -> None:
    error = fail(Reason.CONFLICT, "bob has it")
    assert explain(error) is error
    assert effect_on_gate(error) is GateEffect.UNTOUCHED
    assert effect_on_gate(None) is GateEffect.UNTOUCHED


def test_an_error_that_nobody_expects_is_not_explained_but_stops_a_probe() -> None:
    error = KeyError("hunter2")
    assert explain(error) is None
    assert quiet_retries(error) == 0
    stopped = explain_probe(error)
    assert stopped.reason == Reason.LLDAP_UNAVAILABLE
    assert "hunter2" not in stopped.message
    assert stopped.__cause__ is error


@pytest.mark.parametrize("kind", [lldap.Unclassified, lldap.Rejected, lldap.Forbidden])
def test_I02_what_lldap_says_with_another_id_is_the_same_message(kind: type[LldapError]) -> None:
    said = [
        explain(kind("m", server_text=f"Internal error, request {number}: /var/lib/x-{number}"))
        for number in (17, 4711)
    ]
    assert said[0] is not None
    assert said[1] is not None
    assert said[0].message != said[1].message
    assert same_words(said[0].message, said[1].message)


def test_I02_what_the_api_server_says_with_another_id_is_the_same_message() -> None:
    errors = [
        informers.ConnectionFailed(f"<HTTPConnection at 0x7f{number}> timed out", sent=False)
        for number in (12345, 67890)
    ]
    first, second = (explain(error) for error in errors)
    assert first is not None
    assert second is not None
    assert same_words(first.message, second.message)


def test_a_refused_change_quotes_no_object() -> None:
    error = StatusError(422, "Invalid", 'spec.email: Invalid value: "hunter2"')
    known = explain(error)
    assert known is not None
    assert "hunter2" not in known.message
