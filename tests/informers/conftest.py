"""Fixtures of the tests that need a server with a script."""

import socket
from collections.abc import Callable

import pytest

from tests.informers.rawserver import (
    Certificate,
    Script,
)
from tests.informers.sites import Site


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return Certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(params=["plain", "tls"])
def site(request: pytest.FixtureRequest, certificate: Certificate) -> Callable[[Script], Site]:
    return lambda script: Site(script, certificate if request.param == "tls" else None)


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[socket.socket]:
    """The sockets that connect during the test; of a connection without TLS they stay its own."""
    found: list[socket.socket] = []
    connect = socket.socket.connect

    def connecting(sock: socket.socket, address: tuple[str, int]) -> None:
        found.append(sock)
        connect(sock, address)

    monkeypatch.setattr(socket.socket, "connect", connecting)
    return found
