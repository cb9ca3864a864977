"""`Passwords` in front of lldap's password endpoints, without HTTP."""

import os
from collections.abc import Callable

from lldap.opaque import Client, ClientV07, ClientV40, KeptKey, Version
from lldap.passwords import Passwords
from sandbox.lldap.opaque import CountedStretching, cheap_stretching
from tests.support.password_endpoints import PasswordEndpoints


class Bed:
    """`Passwords` in front of a server, with the client's Argon2 counted."""

    def __init__(self, speaks: Version) -> None:
        self.lldap = PasswordEndpoints(speaks)
        self.stretch = CountedStretching(cheap_stretching)
        self.clients: list[Client] = [
            ClientV07(random=os.urandom, stretch=self.stretch),
            ClientV40(),
        ]
        self.passwords = Passwords(self.lldap, self.lldap.credentials, self.clients)

    def at_call(self, number: int, act: Callable[[], None]) -> None:
        """Do `act` right before call `number` (from 1) from now on is served."""
        seen = 0

        def before(_path: str) -> None:
            nonlocal seen
            seen += 1
            if seen == number:
                act()

        self.lldap.before = before

    def register_in(self, version: Version, username: str, password: bytes) -> None:
        """As a client would that does not ask which version the server speaks."""
        client = next(each for each in self.clients if each.version is version)
        registration = client.begin_registration(password, KeptKey())
        response = self.lldap.server.registration_start(username, registration.request)
        upload = registration.finish(response)
        self.lldap.records[username] = self.lldap.server.registration_finish(upload)
