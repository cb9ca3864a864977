"""From an error to the reason on the object: the one table for everything that was raised."""

from collections.abc import Callable
from dataclasses import dataclass

from controller.credentials import CredentialsError
from controller.reasoned import ReasonedError, fail, reasoned
from controller.reasons import Reason
from informers import ApiFailure, StatusError, StatusKind
from lldap import (
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
from lldap.passwords import PasswordNotConfirmed

Text = Callable[[BaseException], str]


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of error: its reason, its words, and whether all work for lldap stops with it."""

    error: type[BaseException]
    reason: Reason
    text: Text
    closes_gate: bool = False


def _lldap_said(error: BaseException) -> str:
    assert isinstance(error, LldapError)
    return f': "{error.server_text}"' if error.server_text else ""


# The first row that fits decides: children before parents.
TABLE = (
    Row(
        Unavailable,
        Reason.LLDAP_UNAVAILABLE,
        lambda error: (
            f"lldap gave no usable answer ({type(error).__name__}): check that it runs "
            "and that LLDAP_URL is right"
        ),
        closes_gate=True,
    ),
    Row(
        CredentialsError,
        Reason.FORBIDDEN,
        lambda error: f"the operator cannot read its password for lldap: {error}",
        closes_gate=True,
    ),
    Row(
        LoginRefused,
        Reason.FORBIDDEN,
        lambda _: "lldap refuses the operator's login: check LLDAP_ADMIN_USERNAME and its password",
        closes_gate=True,
    ),
    Row(
        NotAdmin,
        Reason.FORBIDDEN,
        lambda _: "the operator's account is not in lldap_admin: put it there in lldap",
        closes_gate=True,
    ),
    Row(
        Forbidden,
        Reason.FORBIDDEN,
        lambda error: (
            f"lldap does not allow this to the operator{_lldap_said(error)}: put its "
            "account into lldap_admin"
        ),
    ),
    Row(
        Transient,
        Reason.REFUSED,
        lambda _: "lldap's database is busy; the change is tried again",
    ),
    Row(
        InvalidMessage,
        Reason.UNSUPPORTED_SERVER,
        lambda _: (
            "lldap answered the password protocol with something that is none of its "
            "messages: passwords need a release of lldap that this operator knows"
        ),
    ),
    Row(
        Unsupported,
        Reason.UNSUPPORTED_SERVER,
        str,
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
            f"lldap reported an error that the operator does not know{_lldap_said(error)}"
        ),
    ),
    Row(
        Rejected,
        Reason.REFUSED,
        lambda error: f"lldap refused the change{_lldap_said(error) or f' ({error})'}",
    ),
    Row(
        LldapError,
        Reason.REFUSED,
        lambda error: f"lldap did not do it ({type(error).__name__})",
    ),
    Row(
        ApiFailure,
        Reason.KUBERNETES_UNAVAILABLE,
        lambda error: f"the API server did not do it: {error}",
    ),
)


def row_of(error: BaseException) -> Row | None:
    """The row for an error, if it is one of those that can be explained."""
    return next((row for row in TABLE if isinstance(error, row.error)), None)


def explain(error: Exception) -> ReasonedError | None:
    """The reason of an error; None if it is one that nobody expects."""
    known = reasoned(error)
    if known is not None:
        return known
    if isinstance(error, StatusError) and error.kind in _DENIED:
        return fail(
            Reason.FORBIDDEN,
            f"the API server refuses it to the operator: {error}. Check its Roles",
        )
    row = row_of(error)
    return None if row is None else fail(row.reason, row.text(error))


_DENIED = frozenset({StatusKind.FORBIDDEN, StatusKind.UNAUTHORIZED})


def explain_probe(error: Exception) -> ReasonedError:
    """The reason why lldap cannot be worked with at all."""
    return explain(error) or fail(
        Reason.LLDAP_UNAVAILABLE, f"lldap could not be asked ({type(error).__name__}); see the log"
    )


def closes_gate(error: BaseException | None) -> bool:
    """Whether all work for lldap has to stop."""
    row = row_of(error) if error is not None else None
    return row is not None and row.closes_gate
