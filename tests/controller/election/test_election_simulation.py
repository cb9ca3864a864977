"""Several replicas, clocks that disagree, and all that can happen to them, in one thread.

Invariants, for every history:
1. No two replicas have a write under way at one moment: from the fence to the end of its deadline.
2. When the trouble is over, somebody works again.
3. Nobody hears of a loss twice, and nobody leads after it.
"""

import datetime
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.loop import FOREVER
from informers.errors import ConnectionFailed, DeadlineExceeded
from tests.controller.election.candidates import TIMES, Candidate
from tests.controller.election.leases import Fault, LeaseServer, OtherClock
from tests.support.clock import FakeClock

TICK = 0.25
REPLICAS = 3


def _unreachable(do: object, timeout: float) -> dict[str, object]:
    raise ConnectionFailed("no route", sent=False)


def _answer_lost(do: object, timeout: float) -> dict[str, object]:
    assert callable(do)
    do()
    raise DeadlineExceeded("no answer", sent=True)


@dataclass
class Replica:
    """A process: its elector, when it is next due, what it has under way."""

    candidate: Candidate
    rate: float
    step_due: float = 0.0
    watch_due: float = 0.0
    paused_until: float = 0.0
    faulty_until: float = 0.0
    stopping: bool = False
    busy_until: float = 0.0


@dataclass
class Cluster:
    """All replicas, on one true time."""

    rates: list[float]
    starts: list[float]
    clock: FakeClock = field(default_factory=FakeClock)
    server: LeaseServer = field(default_factory=LeaseServer)
    writes: int = 0
    born: int = 0

    def __post_init__(self) -> None:
        self.replicas = [self._new(i) for i in range(REPLICAS)]

    def _new(self, place: int) -> Replica:
        self.born += 1
        skew = datetime.timedelta(hours=self.starts[place])
        clock = OtherClock(self.clock, self.rates[place], self.starts[place], skew)
        return Replica(Candidate(self.server, clock, f"r{self.born}"), self.rates[place])

    def happen(self, kind: str, place: int, seconds: float) -> None:
        replica = self.replicas[place]
        now = self.clock.monotonic()
        if kind == "pause":
            replica.paused_until = now + seconds
        elif kind == "kill":
            self.replicas[place] = self._new(place)
        elif kind == "stop":
            replica.stopping = True
        elif kind == "relabel":
            if self.server.lease is not None:
                self.server.edit()
        else:
            replica.faulty_until = now + seconds
            faults: dict[str, Fault] = {"partition": _unreachable, "lose": _answer_lost}
            replica.candidate.client.broken = faults[kind]

    def run(self, seconds: float) -> None:
        end = self.clock.monotonic() + seconds
        while self.clock.monotonic() < end:
            for place, replica in enumerate(self.replicas):
                if replica.paused_until <= self.clock.monotonic():
                    self._tick(place, replica)
            self.clock.advance(TICK)

    def _tick(self, place: int, replica: Replica) -> None:
        now, elector = self.clock.monotonic(), replica.candidate.elector
        if replica.faulty_until <= now:
            replica.candidate.client.broken = None
        if replica.stopping and replica.busy_until <= now:
            elector.release()
            self.replicas[place] = self._new(place)
            return
        if replica.watch_due <= now:
            replica.watch_due = now + elector.watch() / replica.rate
        if replica.step_due <= now and not replica.stopping:
            replica.step_due = now + elector.step() / replica.rate
        if replica.candidate.lost:
            assert len(replica.candidate.lost) == 1
            assert not replica.candidate.may_write
            assert elector.step() == FOREVER
            self.replicas[place] = self._new(place)
        elif not replica.stopping and replica.candidate.may_write:
            self._write(replica)

    def _write(self, replica: Replica) -> None:
        now = self.clock.monotonic()
        for other in self.everybody:
            assert other is replica or other.busy_until <= now, "two write at once"
        replica.busy_until = now + TIMES.call / replica.rate
        if replica not in self.everybody:
            self.everybody.append(replica)
        self.writes += 1

    everybody: list[Replica] = field(default_factory=list)


events = st.lists(
    st.tuples(
        st.sampled_from(["pause", "kill", "stop", "relabel", "partition", "lose"]),
        st.integers(0, REPLICAS - 1),
        st.floats(0.5, 40.0),
        st.floats(0.0, 20.0),
    ),
    max_size=12,
)


@settings(max_examples=150)
@given(
    # Fastest to slowest 1.56: (lease + call) / usable lease is 1.64.
    rates=st.lists(st.floats(0.8, 1.25), min_size=REPLICAS, max_size=REPLICAS),
    starts=st.lists(st.floats(-500.0, 500.0), min_size=REPLICAS, max_size=REPLICAS),
    history=events,
)
def test_H01_no_two_replicas_ever_write_at_once(
    rates: list[float], starts: list[float], history: list[tuple[str, int, float, float]]
) -> None:
    cluster = Cluster(rates, starts)
    cluster.run(15.0)
    for kind, place, seconds, then in history:
        cluster.happen(kind, place, seconds)
        cluster.run(then)
    cluster.run(40.0)
    before = cluster.writes

    cluster.run(60.0)

    assert cluster.writes > before, "nobody works"


def test_the_simulation_notices_a_fence_that_is_missing() -> None:
    cluster = Cluster([1.0] * REPLICAS, [0.0] * REPLICAS)
    cluster.run(20.0)
    for replica in cluster.replicas:
        replica.candidate.elector.fence = lambda timeout: None  # type: ignore[method-assign]
    with pytest.raises(AssertionError, match="two write at once"):
        cluster.run(1.0)
