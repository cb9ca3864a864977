"""Fixtures for tests with a raw server on loopback."""

from collections.abc import Iterator

import pytest

from lldap import HttpTransport, SystemClock
from tests.lldap.http_bed import Connect
from tests.lldap.loopback import Handler, LoopbackServer
from tests.support.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock | SystemClock:
    return SystemClock()


@pytest.fixture
def connect(clock: FakeClock | SystemClock) -> Iterator[Connect]:
    opened: list[tuple[HttpTransport, LoopbackServer]] = []

    def make(*handlers: Handler, path: str = "") -> tuple[HttpTransport, LoopbackServer]:
        server = LoopbackServer(*handlers)
        server.__enter__()
        transport = HttpTransport(server.url + path, clock=clock)
        opened.append((transport, server))
        return transport, server

    yield make
    for transport, server in opened:
        transport.close()
        server.__exit__(None, None, None)
