"""An lldap's passwords: the version it speaks, its records, and its upgrade from 0.7 to 4.0."""

from collections.abc import Callable
from dataclasses import dataclass, field

from lldap.opaque import KeyStretching, Version
from sandbox.lldap.opaque.server import LoginStart, Server
from sandbox.lldap.opaque.setup import setup_from_seed
from sandbox.lldap.opaque.v07 import ServerV07
from sandbox.lldap.opaque.v40 import ServerV40


class OldRecordError(Exception):
    """The record still is one of 0.7: 409 `{"error_code": "opaque_v07_version"}`."""


@dataclass(frozen=True, slots=True)
class PasswordRecord:
    """What is stored of a user's password, and the version of the server that stored it."""

    version: Version
    upload: bytes = field(repr=False)


class PasswordServer:
    """What lies behind the endpoints of /auth/opaque and behind /auth/simple/login. Any thread.

    It keeps no records: the caller hands in the one that it stores for the user, or None. User
    ids are as lldap stores them. A server that speaks 0.7 does not know of 4.0: it takes every
    record for its own.
    """

    def __init__(
        self,
        speaks: Version,
        *,
        seed: bytes,
        random: Callable[[int], bytes],
        stretch: KeyStretching,
    ) -> None:
        setup = setup_from_seed(seed)
        self._v07 = ServerV07(setup, random=random, stretch=stretch)
        self._v40 = ServerV40(setup, random=random)
        self.speaks = speaks

    def upgrade(self) -> None:
        """Speak 4.0 from now on; the records stay what they are until their owners log in."""
        self.speaks = Version.V4_0

    @property
    def _server(self) -> Server:
        return self._v07 if self.speaks is Version.V0_7 else self._v40

    def registration_start(self, user_id: str, request: bytes) -> bytes:
        """POST /auth/opaque/register/start: the registration response."""
        return self._server.registration_start(user_id, request)

    def registration_finish(self, upload: bytes) -> PasswordRecord:
        """POST /auth/opaque/register/finish: the record to store.

        A client that speaks the other version gets no error.
        """
        return PasswordRecord(self.speaks, self._server.registration_finish(upload))

    def login_start(
        self, user_id: str, request: bytes, record: PasswordRecord | None
    ) -> LoginStart:
        """POST /auth/opaque/login/start: the credential response, or OldRecordError."""
        if record is not None and self._is_old(record):
            raise OldRecordError
        upload = None if record is None else record.upload
        return self._server.login_start(user_id, request, upload)

    def v07_login_start(
        self, user_id: str, request: bytes, record: PasswordRecord | None
    ) -> LoginStart:
        """POST /auth/opaque/v07/login/start, which a server that speaks 0.7 does not have."""
        if record is not None and record.version is Version.V0_7:
            return self._v07.login_start(user_id, request, record.upload)
        return self._v07.login_start(user_id, request, None)

    def simple_login(
        self, user_id: str, password: bytes, record: PasswordRecord | None
    ) -> PasswordRecord | None:
        """POST /auth/simple/login: the record to store from now on, or None: refused.

        It is `record` itself unless that is an old one, which becomes one of 4.0.
        """
        if record is None:
            return None
        old = self._is_old(record)
        server = self._v07 if old else self._server
        if not server.verify(user_id, password, record.upload):
            return None
        if not old:
            return record
        return self.register(user_id, password)

    def register(self, user_id: str, password: bytes) -> PasswordRecord:
        """The record of `password` as this server makes it: both sides in one, one Argon2.

        How lldap sets its first administrator's password, and how it re-encodes an old record.
        """
        return PasswordRecord(self.speaks, self._server.register(user_id, password))

    def _is_old(self, record: PasswordRecord) -> bool:
        return self.speaks is Version.V4_0 and record.version is Version.V0_7
