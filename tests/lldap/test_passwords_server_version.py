"""One own proof at a time, and which registrations it serves."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from lldap.errors import ConnectionFailed
from lldap.opaque import Client, ClientV07, ClientV40, Version
from lldap.passwords import PasswordExchange, Passwords, ServerVersion
from sandbox.lldap.opaque import cheap_stretching
from tests.support.password_endpoints import OWN_NAME, PasswordEndpoints

WAIT = 10.0


class Gate:
    """Holds the first call until it is opened; `arrived` says that a call waits."""

    def __init__(self) -> None:
        self.arrived = threading.Event()
        self.opened = threading.Event()

    def __call__(self, _path: str) -> None:
        self.arrived.set()
        assert self.opened.wait(WAIT)


@contextmanager
def threads(gate: Gate) -> Iterator[ThreadPoolExecutor]:
    """A pool; the gate is opened at the end, whatever happens."""
    with ThreadPoolExecutor(max_workers=4) as pool:
        try:
            yield pool
        finally:
            gate.opened.set()


def server_version(lldap: PasswordEndpoints) -> ServerVersion:
    clients: list[Client] = [ClientV07(random=os.urandom, stretch=cheap_stretching), ClientV40()]
    return ServerVersion(lldap, lldap.credentials, PasswordExchange(lldap, clients))


def watch_joins(version: ServerVersion, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set once a caller is about to wait for the proof of another."""
    has_joined, join = threading.Event(), version._join

    def watched(moment: int) -> object:
        proof, mine = join(moment)
        if not mine:
            has_joined.set()
        return proof, mine

    monkeypatch.setattr(version, "_join", watched)
    return has_joined


def test_the_version_is_found_once() -> None:
    lldap = PasswordEndpoints(Version.V0_7)
    version = server_version(lldap)

    assert [version.current() for _ in range(3)] == [Version.V0_7] * 3
    assert lldap.paths() == ["login/start"]


def test_the_version_found_last_is_tried_first() -> None:
    lldap = PasswordEndpoints(Version.V4_0)
    version = server_version(lldap)
    version.current()
    assert lldap.paths() == ["login/start"] * 2

    assert version.found_after(version.moment()) is Version.V4_0
    assert lldap.paths() == ["login/start"] * 3


def test_a_proof_serves_what_ended_before_it_began() -> None:
    lldap = PasswordEndpoints(Version.V0_7)
    version = server_version(lldap)
    first, second = version.moment(), version.moment()

    version.found_after(second)
    version.found_after(first)

    assert lldap.paths() == ["login/start"]


def test_a_proof_does_not_serve_what_ended_after_it_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lldap, gate = PasswordEndpoints(Version.V0_7), Gate()
    version = server_version(lldap)
    has_joined = watch_joins(version, monkeypatch)
    earlier = version.moment()
    lldap.before = gate
    with threads(gate) as pool:
        running = pool.submit(version.found_after, earlier)
        assert gate.arrived.wait(WAIT)
        later = version.moment()  # a registration that ends while the proof is on its way
        waiting = [pool.submit(version.found_after, later) for _ in range(2)]
        assert has_joined.wait(WAIT)
        assert lldap.paths() == ["login/start"], "one proof runs at a time"
        joined = pool.submit(version.found_after, earlier)
        gate.opened.set()

        for future in (running, joined, *waiting):
            assert future.result(WAIT) is Version.V0_7

    assert lldap.paths() == ["login/start"] * 2, "one for the earlier two, one for the later two"


def test_a_failed_proof_fails_all_whom_it_served_and_the_next_call_tries_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lldap, gate = PasswordEndpoints(Version.V0_7), Gate()
    version = server_version(lldap)
    moment = version.moment()
    has_joined = watch_joins(version, monkeypatch)

    def fail(path: str) -> None:
        gate(path)
        raise ConnectionFailed("refused")

    lldap.before = fail
    with threads(gate) as pool:
        running = pool.submit(version.found_after, moment)
        assert gate.arrived.wait(WAIT)
        joined = pool.submit(version.found_after, moment)
        assert has_joined.wait(WAIT)
        gate.opened.set()
        for future in (running, joined):
            with pytest.raises(ConnectionFailed):
                future.result(WAIT)

    assert lldap.paths() == ["login/start"]
    lldap.before = lambda _path: None
    assert version.found_after(moment) is Version.V0_7


def test_registrations_that_end_together_share_an_own_proof() -> None:
    lldap = PasswordEndpoints(Version.V0_7)
    clients: list[Client] = [ClientV07(random=os.urandom, stretch=cheap_stretching), ClientV40()]
    passwords = Passwords(lldap, lldap.credentials, clients)
    passwords.set_password("first", b"password")
    del lldap.calls[:]
    barrier = threading.Barrier(4)

    def meet(path: str) -> None:
        if path.endswith("register/finish"):
            barrier.wait(WAIT)

    lldap.before = meet
    names = [f"user-{number}" for number in range(4)]
    with ThreadPoolExecutor(max_workers=4) as pool:
        futures = [pool.submit(passwords.set_password, name, b"password") for name in names]
        assert [future.result(WAIT) for future in futures] == [Version.V0_7] * 4

    assert 1 <= len(lldap.paths(OWN_NAME)) <= 4
    assert all(lldap.logs_in(name, b"password") for name in names)
