"""The sandbox's lldap behind a real socket."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import requests

from sandbox.lldap import faults
from sandbox.lldap.http import LldapServer
from sandbox.lldap.opaque import cheap_stretching
from sandbox.lldap.server import Lldap
from tests.sandbox.lldap_session import ADMIN_PASSWORD, new_lldap
from tests.support.clock import FakeClock

CREDENTIALS = {"username": "admin", "password": ADMIN_PASSWORD}


@pytest.fixture(name="lldap")
def _lldap() -> Lldap:
    return new_lldap()


@pytest.fixture(name="server")
def _server(lldap: Lldap) -> Iterator[LldapServer]:
    with LldapServer(lldap) as server:
        yield server


def test_it_answers_as_the_one_without_sockets(server: LldapServer, lldap: Lldap) -> None:
    with requests.Session() as session:
        session.trust_env = False
        login = session.post(f"{server.url}/auth/simple/login", json=CREDENTIALS, timeout=10)
        assert login.headers["content-type"] == "application/json"
        assert session.cookies.keys() == ["token", "refresh_token"]
        answer = session.post(
            f"{server.url}/api/graphql", json={"query": "{users{id}}"}, timeout=10
        )
        assert answer.json() == {"data": {"users": [{"id": "admin"}]}}
        health = session.get(f"{server.url}/health", timeout=10)
        assert (health.status_code, health.content) == (200, b"")
        assert "content-type" not in health.headers
    assert [entry.call.operation for entry in lldap.log] == [
        "/auth/simple/login",
        "users",
        "/health",
    ]


def test_checking_a_password_keeps_nobody_waiting() -> None:
    checking, go_on = threading.Event(), threading.Event()
    go_on.set()

    def slow(message: bytes) -> bytes:
        checking.set()
        assert go_on.wait(10)
        return cheap_stretching(message)

    lldap = Lldap(FakeClock(), admin_password=ADMIN_PASSWORD, stretch=slow)
    checking.clear()
    go_on.clear()
    with LldapServer(lldap) as server:
        statuses: list[int] = []
        login = threading.Thread(
            target=lambda: statuses.append(
                requests.post(
                    f"{server.url}/auth/simple/login", json=CREDENTIALS, timeout=10
                ).status_code
            )
        )
        login.start()
        assert checking.wait(10)
        assert requests.get(f"{server.url}/health", timeout=10).status_code == 200
        assert not statuses
        go_on.set()
        login.join(10)
        assert statuses == [200]


@pytest.mark.slow
def test_a_connection_that_was_idle_for_five_seconds_is_closed(server: LldapServer) -> None:
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as connection:
        connection.settimeout(15)
        for _ in range(2):
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: lldap\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        begun = time.monotonic()
        assert connection.recv(1000) == b""
        assert 4 < time.monotonic() - begun < 8


def test_a_lost_connection_is_reset(server: LldapServer, lldap: Lldap) -> None:
    lldap.hooks.append(faults.lose_answer)
    with pytest.raises(requests.ConnectionError, match=r"[Rr]eset"):
        requests.get(f"{server.url}/health", timeout=10)


def test_an_answer_can_drip(server: LldapServer, lldap: Lldap) -> None:
    lldap.hooks.append(faults.drip(0.02))
    begun = time.monotonic()
    answer = requests.get(f"{server.url}/nosuch", timeout=10)
    assert answer.text == "No such file or directory (os error 2)"
    assert time.monotonic() - begun > 0.02 * (len(answer.content) - 1)


def test_stopping_does_not_wait_for_a_dripping_answer(lldap: Lldap) -> None:
    lldap.hooks.append(faults.drip(60))
    with contextlib.ExitStack() as after, LldapServer(lldap) as server:
        port = int(server.url.rpartition(":")[2])
        connection = after.enter_context(socket.create_connection(("127.0.0.1", port)))
        connection.sendall(b"GET /nosuch HTTP/1.1\r\nHost: lldap\r\n\r\n")
        assert connection.recv(1000)
        begun = time.monotonic()
    assert time.monotonic() - begun < 5


def test_a_port_that_is_taken_is_an_error(server: LldapServer, lldap: Lldap) -> None:
    taken = int(server.url.rpartition(":")[2])
    with pytest.raises(OSError, match="address already in use"), LldapServer(lldap, taken):
        pass


def test_a_large_body_passes(server: LldapServer) -> None:
    body = {**CREDENTIALS, "more": "x" * 5_000_000}
    answer = requests.post(f"{server.url}/auth/simple/login", json=body, timeout=10)
    assert answer.status_code == 200
