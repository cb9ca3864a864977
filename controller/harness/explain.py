"""From an error to the reason on the object: the one table for everything that was raised."""

import enum
from collections.abc import Callable
from dataclasses import dataclass

from controller.configuration.credentials import CredentialsError
from controller.harness.conditions import quoted
from controller.harness.reasoned import ReasonedError, fail, reasoned
from controller.harness.reasons import Reason
from informers import ApiFailure, StatusError, StatusKind
from lldap import (
    AnswerTooLarge,
    BadAnswer,
    Forbidden,
    InvalidValue,
    LldapError,
    LoginRefused,
    NotAdmin,
    Rejected,
    Transient,
    Unavailable,
    Unclassified,
    UnknownAttribute,
    Unsupported,
)
from lldap.opaque import InvalidMessage
from lldap.passwords import PasswordNotConfirmed, UnsupportedServer

Text = Callable[[BaseException], str]


class GateEffect(enum.Enum):
    """What an error of one object says about lldap as a whole."""

    UNTOUCHED = enum.auto()
    LOOK = enum.auto()  # it may be this object alone: the gate asks before it closes
    CLOSE = enum.auto()  # no object gets any further


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of error: its reason, its words, and what follows.

    `quiet`: so many retries go by before the object shows it: it mostly passes by itself.
    """

    error: type[BaseException]
    reason: Reason
    text: Text
    gate: GateEffect = GateEffect.UNTOUCHED
    quiet: int = 0


def _unusable(error: BaseException) -> str:
    return (
        f"lldap gave no usable answer ({type(error).__name__}): check that it runs "
        "and that LLDAP_URL is right; `lldap-operator doctor` says what it meets there"
    )


def _lldap_said(error: BaseException) -> str:
    assert isinstance(error, LldapError)
    return f": {quoted(error.server_text)}" if error.server_text else ""


# The first row that fits decides: children before parents.
TABLE = (
    Row(BadAnswer, Reason.LLDAP_UNAVAILABLE, _unusable, gate=GateEffect.LOOK),
    Row(AnswerTooLarge, Reason.LLDAP_UNAVAILABLE, _unusable, gate=GateEffect.LOOK),
    Row(Unavailable, Reason.LLDAP_UNAVAILABLE, _unusable, gate=GateEffect.CLOSE),
    Row(
        CredentialsError,
        Reason.FORBIDDEN,
        lambda error: f"the operator cannot read its password for lldap: {error}",
        gate=GateEffect.CLOSE,
    ),
    Row(
        LoginRefused,
        Reason.FORBIDDEN,
        lambda _: "lldap refuses the operator's login: check LLDAP_ADMIN_USERNAME and its password",
        gate=GateEffect.CLOSE,
    ),
    Row(
        NotAdmin,
        Reason.FORBIDDEN,
        lambda _: "the operator's account is not in lldap_admin: put it there in lldap",
        gate=GateEffect.CLOSE,
    ),
    Row(
        Forbidden,
        Reason.FORBIDDEN,
        lambda error: (
            f"lldap does not allow this to the operator{_lldap_said(error)}: put its "
            "account into lldap_admin"
        ),
        gate=GateEffect.LOOK,
    ),
    Row(
        Transient,
        Reason.REFUSED,
        lambda _: "lldap's database is busy; the change is tried again",
        quiet=5,
    ),
    Row(
        InvalidMessage,
        Reason.UNSUPPORTED_SERVER,
        lambda _: (
            "lldap answered the password protocol with something that is none of its "
            "messages: passwords need a release of lldap that this operator knows"
        ),
    ),
    Row(UnsupportedServer, Reason.UNSUPPORTED_SERVER, str),
    Row(
        Unsupported,
        Reason.UNSUPPORTED_SERVER,
        lambda error: (
            f"this lldap lacks what the operator needs ({error}): upgrade it to 0.6 or later"
        ),
    ),
    Row(
        PasswordNotConfirmed,
        Reason.REFUSED,
        lambda _: "lldap does not confirm the password; it is set again",
    ),
    Row(
        InvalidValue,
        Reason.INVALID_VALUE,
        lambda error: f"{error}: correct it in spec.attributes",
    ),
    Row(
        UnknownAttribute,
        Reason.DEPENDENCY_NOT_READY,
        lambda error: f"{error}: create an LldapAttributeSchema for it",
    ),
    Row(
        Unclassified,
        Reason.REFUSED,
        lambda error: (
            f"lldap reported an error that the operator does not know{_lldap_said(error)}; it is "
            "tried again: look into lldap's log"
        ),
    ),
    Row(
        Rejected,
        Reason.REFUSED,
        lambda error: (
            f"lldap refused the change{_lldap_said(error) or f' ({error})'}: correct what it "
            "names; it is tried again"
        ),
    ),
    Row(
        LldapError,
        Reason.REFUSED,
        lambda error: f"lldap did not do it ({type(error).__name__}); it is tried again",
    ),
    Row(
        ApiFailure,
        Reason.KUBERNETES_UNAVAILABLE,
        lambda error: f"the API server did not do it: {quoted(str(error))}; it is tried again",
        quiet=9,  # some 2.5 seconds: an election among etcd's members
    ),
)

_DENIED = (
    Reason.FORBIDDEN,
    "the API server refuses it to the operator: {}. Check the operator's Roles",
)

# What the API server said for good: the same request gets the same answer.
REFUSALS = {
    StatusKind.FORBIDDEN: _DENIED,
    StatusKind.UNAUTHORIZED: _DENIED,
    StatusKind.INVALID: (
        Reason.INVALID_SPEC,
        "the API server takes no change of this object: {}. Correct it, or apply the CRDs",
    ),
    StatusKind.SCHEMA_MISMATCH: (
        Reason.UNSUPPORTED_SERVER,
        "the CRDs of this cluster lack fields of the operator's release: apply its CRDs: {}",
    ),
}


def row_of(error: BaseException) -> Row | None:
    """The row for an error, if it is one of those that can be explained."""
    return next((row for row in TABLE if isinstance(error, row.error)), None)


def _refusal(error: Exception) -> tuple[Reason, str] | None:
    return REFUSALS.get(error.kind) if isinstance(error, StatusError) else None


def explain(error: Exception) -> ReasonedError | None:
    """The reason of an error; None if it is one that nobody expects."""
    known = reasoned(error)
    if known is not None:
        return known
    refusal = _refusal(error)
    if refusal is not None:
        reason, text = refusal
        return fail(reason, text.format(quoted(str(error))))
    row = row_of(error)
    return None if row is None else fail(row.reason, row.text(error))


def explain_probe(error: Exception) -> ReasonedError:
    """The reason why lldap cannot be worked with at all; an unknown error is its cause."""
    known = explain(error)
    if known is not None:
        return known
    unknown = fail(
        Reason.LLDAP_UNAVAILABLE, f"lldap could not be asked ({type(error).__name__}); see the log"
    )
    unknown.__cause__ = error
    return unknown


def effect_on_gate(error: BaseException | None) -> GateEffect:
    """What follows for all work on lldap."""
    row = row_of(error) if error is not None else None
    return GateEffect.UNTOUCHED if row is None else row.gate


def closes_gate(error: BaseException) -> bool:
    """Whether all work on lldap has to stop."""
    return effect_on_gate(error) is GateEffect.CLOSE


def quiet_retries(error: Exception) -> int:
    """How many retries go by before the object shows the error."""
    row = None if _refusal(error) is not None else row_of(error)
    return 0 if row is None else row.quiet
