"""Faults of passwords that were seen in the field."""

import base64
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from lldap.errors import (
    BadAnswer,
    Conflict,
    ConnectionFailed,
    Forbidden,
    LldapError,
    OutcomeUnknown,
    Rejected,
)
from lldap.opaque import InvalidMessage, Version
from lldap.passwords import PasswordRejected
from tests.support.password_bed import Bed
from tests.support.password_endpoints import OWN_NAME, PasswordEndpoints

CANARY = "S3cr3t-CANARY-é".encode()
each_version = pytest.mark.parametrize("speaks", list(Version), ids=lambda version: version.name)


@pytest.mark.parametrize("value", [b"", b"\xff", b"p" * 4097])
def test_B05_a_value_that_is_no_password_reaches_no_server(value: bytes) -> None:
    bed = Bed(Version.V0_7)

    with pytest.raises(PasswordRejected):
        bed.passwords.set_password("alice", value)

    assert bed.lldap.calls == []


@each_version
@pytest.mark.parametrize(
    "error",
    [
        BadAnswer("HTTP 500"),
        Forbidden("HTTP 401"),
        Rejected("HTTP 400"),
        OutcomeUnknown("connection reset"),
        ConnectionFailed("refused"),
        Conflict("HTTP 409", "something else"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_B01_a_refused_finish_is_no_success(speaks: Version, error: LldapError) -> None:
    bed = Bed(speaks)

    def refuse(path: str) -> None:
        if path.endswith("register/finish"):
            raise error

    bed.lldap.before = refuse
    with pytest.raises(LldapError) as caught:
        bed.passwords.set_password("alice", b"password")

    assert caught.value is error
    assert bed.lldap.paths("alice") == ["register/start", "register/finish"]
    bed.lldap.before = lambda _path: None
    assert bed.passwords.set_password("alice", b"password") is speaks


Body = dict[str, Any]
BROKEN: dict[str, Callable[[Body, str], Body]] = {
    "no body": lambda _body, _name: {},
    "other names": lambda body, _name: {f"new_{each}": value for each, value in body.items()},
    "truncated": lambda body, name: {**body, name: body[name][:40]},
    "no base64": lambda body, name: {**body, name: "*" * 88},
    "stray characters": lambda body, name: {**body, name: "*" + body[name]},
    "not ASCII": lambda body, name: {**body, name: "é" * 88},
    "no text": lambda body, name: {**body, name: {"bytes": [1, 2]}},
    "no element": lambda body, name: {**body, name: "/" * 43 + body[name][43:]},
}
RESPONSES = {"register/start": "registration_response", "login/start": "credential_response"}


def break_answers(lldap: PasswordEndpoints, end: str, broken: Callable[[Body, str], Body]) -> None:
    def tamper(path: str, body: Body) -> Body:
        return broken(body, RESPONSES[end]) if path.endswith(end) else body

    lldap.tamper = tamper


@each_version
@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_B07_an_answer_of_another_protocol_is_not_finished(
    speaks: Version, broken: Callable[[Body, str], Body]
) -> None:
    bed = Bed(speaks)
    break_answers(bed.lldap, "register/start", broken)

    with pytest.raises(InvalidMessage):
        bed.passwords.set_password("alice", b"password")

    assert bed.lldap.paths("alice") == ["register/start"]
    assert "alice" not in bed.lldap.records


def test_B07_a_start_without_server_data_is_not_finished() -> None:
    bed = Bed(Version.V0_7)

    def drop(path: str, body: Body) -> Body:
        return {**body, "server_data": None} if path.endswith("register/start") else body

    bed.lldap.tamper = drop
    with pytest.raises(InvalidMessage, match="server_data"):
        bed.passwords.set_password("alice", b"password")

    assert bed.lldap.paths("alice") == ["register/start"]


@each_version
@pytest.mark.parametrize("end", RESPONSES)
@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_B14_no_exception_carries_a_password(
    speaks: Version, end: str, broken: Callable[[Body, str], Body]
) -> None:
    bed = Bed(speaks)
    bed.lldap.set_directly(OWN_NAME, CANARY)
    bed.lldap.file = CANARY
    bed.lldap.renew()
    break_answers(bed.lldap, end, broken)

    with pytest.raises(LldapError) as caught:
        bed.passwords.set_password("alice", CANARY)

    text = "".join(traceback.format_exception(caught.value))
    for secret in (CANARY.decode(), repr(CANARY), base64.b64encode(CANARY).decode(), CANARY.hex()):
        assert secret not in text


def test_B14_passwords_has_no_repr_that_shows_one() -> None:
    bed = Bed(Version.V0_7)
    bed.passwords.set_password("alice", CANARY)

    assert "S3cr3t" not in repr([bed.passwords, vars(bed.passwords)])
