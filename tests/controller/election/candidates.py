"""A candidate with all that it tells, and its steps."""

import random
import threading
from dataclasses import dataclass, field

from controller.clock import Clock
from controller.election.election import LeaderElector
from controller.election.leadership import NotLeader, Term, Times
from controller.election.lease import LeaseLock
from tests.controller.election.leases import (
    NAME,
    NAMESPACE,
    LeaseClientStub,
    LeaseServer,
)
from tests.support.clock import FakeClock

TIMES = Times(lease=15, renew=10.0, retry=2.0, call=8.0)


@dataclass
class Candidate:
    """An elector with all that it tells."""

    server: LeaseServer
    clock: Clock
    name: str = "a"
    times: Times = TIMES
    led: list[Term] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    status: list[bool] = field(default_factory=list)
    slow_paths: int = 0
    heard: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.client = LeaseClientStub(self.server, self.name)
        self.elector = LeaderElector(
            LeaseLock(self.client, NAMESPACE, NAME),
            self.name,
            self.times,
            clock=self.clock,
            rng=random.Random(1),
            metrics=self,
            on_leading=self.led.append,
            on_lost=self.lose,
        )

    def lose(self, why: str) -> None:
        self.lost.append(why)
        self.heard.set()

    def leading(self, lease: str, *, leader: bool) -> None:
        assert lease == NAME
        self.status.append(leader)

    def slow_path(self, lease: str) -> None:
        self.slow_paths += 1

    @property
    def may_write(self) -> bool:
        try:
            self.elector.fence(self.times.call)
        except NotLeader:
            return False
        return True


def lead(candidate: Candidate) -> None:
    candidate.elector.step()
    assert candidate.elector.term is not None


def run(clock: FakeClock, candidate: Candidate, seconds: float) -> None:
    """Let the candidate step for `seconds` as its loop would."""
    end = clock.monotonic() + seconds
    while clock.monotonic() < end:
        wait = candidate.elector.step()
        clock.advance(min(wait, end - clock.monotonic()) if wait else 0.001)
