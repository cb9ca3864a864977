"""The server's side of version 4.0, on opaque-ke-py."""

from collections.abc import Callable

import opaque_ke_py

from lldap.opaque import ristretto255
from lldap.opaque.messages import MASKING_KEY_BYTES
from sandbox.lldap.opaque import messages
from sandbox.lldap.opaque.server import LoginStart
from sandbox.lldap.opaque.setup import ServerSetup


class ServerV40:
    """A `Server` of version 4.0. Any thread.

    The library draws randomness of its own and has Argon2 built in, so its answers differ from
    run to run and `verify` always costs the real Argon2. `random` masks the dummy answers.
    """

    def __init__(self, setup: bytes, *, random: Callable[[int], bytes]) -> None:
        parts = ServerSetup.from_bytes(setup)
        self._fake_public_key = ristretto255.public_key(parts.fake_private_key)
        # unlike 0.7 it keeps the public half of the fake key
        own_setup = parts.oprf_seed + parts.private_key + self._fake_public_key
        self._setup = opaque_ke_py.ServerSetupData.from_bytes(own_setup)
        self._random = random

    def registration_start(self, username: str, request: bytes) -> bytes:
        """The registration response."""
        # the library itself would let bytes behind the message pass, here and below
        messages.check_registration_request(request)
        start = opaque_ke_py.server_registration_start
        return bytes(start(self._setup, request, username.encode()).get_message())

    def registration_finish(self, upload: bytes) -> bytes:
        """The record to store."""
        messages.read_record(upload)
        return bytes(opaque_ke_py.server_registration_finish(upload).get_password_file())

    def login_start(self, username: str, request: bytes, record: bytes | None) -> LoginStart:
        """The credential response; a well-formed one that fits no password without a record."""
        messages.read_credential_request(request)
        start = opaque_ke_py.server_login_start
        started = start(self._setup, record or self._dummy_record(), request, username.encode())
        return LoginStart(started.get_message(), started.get_state())

    def verify(self, username: str, password: bytes, record: bytes) -> bool:
        """Whether `password` is the one that was registered."""
        client = opaque_ke_py.client_login_start(password)
        response = self.login_start(username, client.get_message(), record).response
        try:
            opaque_ke_py.client_login_finish(password, client.get_state(), response)
        except ValueError:
            return False
        return True

    def register(self, username: str, password: bytes) -> bytes:
        """The record of `password`: both sides in one, one Argon2."""
        client = opaque_ke_py.client_registration_start(password)
        response = self.registration_start(username, client.get_message())
        finish = opaque_ke_py.client_registration_finish
        return bytes(finish(password, client.get_state(), response).get_message())

    def _dummy_record(self) -> bytes:
        return messages.dummy_record(self._fake_public_key, self._random(MASKING_KEY_BYTES))
