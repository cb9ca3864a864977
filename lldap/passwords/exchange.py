"""The exchanges with lldap's OPAQUE endpoints: one registration, one proof."""

import base64
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from lldap.errors import Conflict
from lldap.names import user_key
from lldap.opaque import Client, InvalidMessage, KeptKey, Version

REGISTER_START = "/auth/opaque/register/start"
REGISTER_FINISH = "/auth/opaque/register/finish"
LOGIN_START = "/auth/opaque/login/start"
V07_LOGIN_START = "/auth/opaque/v07/login/start"
OLD_RECORD_CODE = "opaque_v07_version"


class AuthEndpoints(Protocol):
    """lldap's HTTP endpoints, as the session serves them. Any thread."""

    def post(
        self, path: str, body: Mapping[str, Any], *, authenticated: bool, write: bool
    ) -> dict[str, Any]:
        """The JSON of an answer 200, {} when that has no body; all else is an error.

        HTTP 409 is Conflict with lldap's error code.
        """


class PasswordExchange:
    """Registers and proves passwords in the version that the caller names. Any thread.

    Raises InvalidMessage for an answer that is none of the protocol, and what the session raises.
    """

    def __init__(self, endpoints: AuthEndpoints, clients: Iterable[Client]) -> None:
        self._endpoints = endpoints
        self._clients = {client.version: client for client in clients}

    def register(self, username: str, password: bytes, version: Version, kept: KeptKey) -> None:
        """Register `password`. The server takes it in either version: prove it afterwards.

        When the answer to the last message is lost, the outcome is not known.
        """
        registration = self._clients[version].begin_registration(password, kept)
        start = {
            "username": user_key(username),
            "registration_start_request": _encoded(registration.request),
        }
        answer = self._endpoints.post(REGISTER_START, start, authenticated=True, write=False)
        upload = registration.finish(_decoded(answer, "registration_response"))
        finish = {
            "server_data": _field(answer, "server_data"),
            "registration_upload": _encoded(upload),
        }
        self._endpoints.post(REGISTER_FINISH, finish, authenticated=True, write=True)

    def prove(self, username: str, password: bytes, version: Version, kept: KeptKey) -> bool:
        """Whether `password` is the stored one, in `version`.

        A server that was upgraded asks for a proof in 0.7 while the user's record still is of 0.7.
        """
        try:
            return self._proof(LOGIN_START, version, username, password, kept)
        except Conflict as conflict:
            _expect_old_record(conflict)
            return self._proof(V07_LOGIN_START, Version.V0_7, username, password, kept)

    def prove_current(
        self, username: str, password: bytes, version: Version, kept: KeptKey
    ) -> bool:
        """As `prove`, but a record of before an upgrade proves nothing: False."""
        try:
            return self._proof(LOGIN_START, version, username, password, kept)
        except Conflict as conflict:
            _expect_old_record(conflict)
            return False

    def _proof(
        self, path: str, version: Version, username: str, password: bytes, kept: KeptKey
    ) -> bool:
        proof = self._clients[version].begin_proof(password, kept)
        start = {"username": user_key(username), "login_start_request": _encoded(proof.request)}
        answer = self._endpoints.post(path, start, authenticated=False, write=False)
        return proof.check(_decoded(answer, "credential_response"))


def _expect_old_record(conflict: Conflict) -> None:
    if conflict.error_code != OLD_RECORD_CODE:
        raise conflict


def _encoded(message: bytes) -> str:
    return base64.b64encode(message).decode("ascii")


def _decoded(answer: dict[str, Any], name: str) -> bytes:
    try:
        return base64.b64decode(_field(answer, name), validate=True)
    except ValueError:
        raise InvalidMessage(f"{name} in the server's answer is not base64") from None


def _field(answer: dict[str, Any], name: str) -> str:
    value = answer.get(name)
    if not isinstance(value, str):
        raise InvalidMessage(f"the server's answer has no text {name}")
    return value
