"""lldap's password endpoints in one object, without HTTP: both versions and the upgrade."""

import base64
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lldap.errors import Conflict, Forbidden, LoginRefused, Rejected
from lldap.login import Credentials
from lldap.opaque import InvalidMessage, Version
from lldap.passwords import OwnCredentials
from sandbox.lldap.opaque import (
    OldRecordError,
    PasswordRecord,
    PasswordServer,
    cheap_stretching,
)

PREFIX = "/auth/opaque/"
OWN_NAME = "operator"
OWN_PASSWORD = b"operator-password"


class Call(NamedTuple):
    """One request as it arrived; `path` is what follows /auth/opaque/."""

    path: str
    username: str
    authenticated: bool
    write: bool


class OwnLogin(NamedTuple):
    """One login."""

    generation: int


class PasswordEndpoints:
    """Is the session of `Passwords`; `credentials` are those that it logs in with.

    `before` is called with each path before the request is served: it may upgrade the server,
    change a record or raise what the session would raise. `tamper` replaces answers.
    """

    def __init__(self, speaks: Version = Version.V0_7) -> None:
        self.server = PasswordServer(
            speaks, seed=b"seed", random=os.urandom, stretch=cheap_stretching
        )
        self.file = OWN_PASSWORD
        self.credentials = OwnCredentials(lambda: Credentials(OWN_NAME, self.file.decode()))
        self.records: dict[str, PasswordRecord] = {}
        self.calls: list[Call] = []
        self.logins = 0
        self.before: Callable[[str], None] = lambda _path: None
        self.tamper: Callable[[str, dict[str, Any]], dict[str, Any]] = lambda _path, body: body
        self.set_directly(OWN_NAME, OWN_PASSWORD)
        self.renew()

    def login(self) -> OwnLogin:
        return OwnLogin(self.logins)

    def renew(self) -> OwnLogin:
        credentials = self.credentials()
        if not self.logs_in(credentials.username, credentials.password.encode()):
            raise LoginRefused("the operator's own password is refused")
        self.logins += 1
        return self.login()

    def logs_in(self, username: str, password: bytes) -> bool:
        """POST /auth/simple/login."""
        renewed = self.server.simple_login(username, password, self.records.get(username))
        if renewed is not None:
            self.records[username] = renewed
        return renewed is not None

    def set_directly(self, username: str, password: bytes) -> None:
        """As if somebody had set it in lldap's own page."""
        self.records[username] = self.server.register(username, password)

    def paths(self, username: str | None = None) -> list[str]:
        """The paths called for one user, or for all."""
        return [call.path for call in self.calls if username in (None, call.username)]

    def post(
        self, path: str, body: Mapping[str, Any], *, authenticated: bool, write: bool
    ) -> dict[str, Any]:
        username = body.get("username", "")
        if path.endswith("register/finish"):
            username = body["server_data"].removeprefix("sealed:")
        self.calls.append(Call(path.removeprefix(PREFIX), username, authenticated, write))
        self.before(path)
        try:
            answer = self._serve(path, username, body, authenticated)
        except OldRecordError:
            raise Conflict("the record is one of 0.7", "opaque_v07_version") from None
        except InvalidMessage:
            raise Rejected("HTTP 400") from None
        return self.tamper(path, answer)

    def _serve(
        self, path: str, username: str, body: Mapping[str, Any], authenticated: bool
    ) -> dict[str, Any]:
        record = self.records.get(username)
        match path.removeprefix(PREFIX):
            case "register/start":
                if not authenticated:
                    raise Forbidden("HTTP 401")
                request = base64.b64decode(body["registration_start_request"])
                response = self.server.registration_start(username, request)
                return {
                    "server_data": f"sealed:{username}",
                    "registration_response": _b64(response),
                }
            case "register/finish":
                upload = base64.b64decode(body["registration_upload"])
                self.records[username] = self.server.registration_finish(upload)
                return {}
            case "login/start":
                request = base64.b64decode(body["login_start_request"])
                start = self.server.login_start(username, request, record)
            case "v07/login/start" if self.server.speaks is Version.V4_0:
                request = base64.b64decode(body["login_start_request"])
                start = self.server.v07_login_start(username, request, record)
            case _:
                raise Rejected("HTTP 404")
        return {"server_data": "sealed", "credential_response": _b64(start.response)}


def _b64(message: bytes) -> str:
    return base64.b64encode(message).decode()
