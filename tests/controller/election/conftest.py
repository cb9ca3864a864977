"""Two candidates, their server and their clock."""

import pytest

from tests.controller.election.candidates import Candidate
from tests.controller.election.leases import (
    LeaseServer,
)
from tests.support.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def server() -> LeaseServer:
    return LeaseServer()


@pytest.fixture
def a(server: LeaseServer, clock: FakeClock) -> Candidate:
    return Candidate(server, clock, "a")


@pytest.fixture
def b(server: LeaseServer, clock: FakeClock) -> Candidate:
    return Candidate(server, clock, "b")
