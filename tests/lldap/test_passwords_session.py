"""Passwords over the real session and an embedded lldap: what the wire carries is enough."""

import json
import os
import random

import pytest

from lldap.login import Credentials
from lldap.opaque import Client, ClientV07, ClientV40, Version
from lldap.passwords import OwnCredentials, Passwords
from lldap.session import Session
from sandbox.lldap.opaque import cheap_stretching
from sandbox.lldap.server import ADMIN, Lldap
from sandbox.lldap.transport import InProcessTransport
from tests.support.clock import FakeClock

ADMIN_PASSWORD = "admin-password"
CLIENTS: list[Client] = [ClientV07(random=os.urandom, stretch=cheap_stretching), ClientV40()]
each_version = pytest.mark.parametrize("speaks", list(Version), ids=lambda version: version.name)


def embedded(speaks: Version) -> Lldap:
    lldap = Lldap(
        FakeClock(),
        admin_password=ADMIN_PASSWORD,
        speaks=speaks,
        rng=random.Random(1),
        stretch=cheap_stretching,
    )
    with lldap.database() as store:
        store.create_user("alice", "alice@example.org", "Alice")
    return lldap


def passwords_of(lldap: Lldap) -> Passwords:
    own = OwnCredentials(lambda: Credentials(ADMIN, ADMIN_PASSWORD))
    session = Session(InProcessTransport(lldap), own, clock=FakeClock(), call_seconds=8.0)
    return Passwords(session, own, CLIENTS)


def login_status(lldap: Lldap, username: str, password: str) -> int:
    body = json.dumps({"username": username, "password": password}).encode()
    headers = {"content-type": "application/json"}
    return lldap.handle("POST", "/auth/simple/login", headers, body).status


@each_version
def test_a_password_that_was_set_logs_in(speaks: Version) -> None:
    lldap = embedded(speaks)
    passwords = passwords_of(lldap)

    assert passwords.set_password("Alice", "pässwörd".encode()) is speaks

    assert login_status(lldap, "alice", "pässwörd") == 200
    assert login_status(lldap, "alice", "other") == 401
    assert passwords.has_password("alice", "pässwörd".encode())
    assert not passwords.has_password("alice", b"other")
    assert not passwords.has_password("nobody", b"other")


def test_an_upgrade_under_a_valid_token_is_survived() -> None:
    lldap = embedded(Version.V0_7)
    passwords = passwords_of(lldap)
    passwords.set_password("alice", b"before the upgrade")
    lldap.upgrade()

    assert passwords.has_password("alice", b"before the upgrade")
    assert passwords.set_password("alice", b"after the upgrade") is Version.V4_0
    assert login_status(lldap, "alice", "after the upgrade") == 200
