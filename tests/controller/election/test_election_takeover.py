"""How long a Lease stays without a leader that works."""

from hypothesis import given
from hypothesis import strategies as st

from tests.controller.election.candidates import TIMES, Candidate, lead
from tests.controller.election.leases import LeaseServer
from tests.support.clock import FakeClock

WORST_PAUSE = 2.2 * TIMES.retry
moments = st.floats(0.0, 60.0)


def follow(clock: FakeClock, leader: Candidate, other: Candidate, seconds: float) -> float:
    """Both step in turn, as their loops would; the wait that the other one has left at the end."""
    end = clock.monotonic() + seconds
    due = {"leader": clock.monotonic(), "other": clock.monotonic()}
    while min(due.values()) < end:
        clock.advance(max(0.0, min(due.values()) - clock.monotonic()))
        for name, candidate in (("leader", leader), ("other", other)):
            if due[name] <= clock.monotonic():
                due[name] = clock.monotonic() + candidate.elector.step()
    clock.advance(max(0.0, end - clock.monotonic()))
    return due["other"] - clock.monotonic()


def wait_for(clock: FakeClock, candidate: Candidate, left: float) -> float:
    """Let it step until it leads; how long that took."""
    started = clock.monotonic()
    clock.advance(max(0.0, left))
    while candidate.elector.term is None:
        clock.advance(candidate.elector.step())
    return candidate.elector.term.acquired_at - started


@given(seconds=moments)
def test_a_leader_that_is_killed_is_followed_within_lease_and_one_pause(seconds: float) -> None:
    clock, server = FakeClock(), LeaseServer()
    leader, other = Candidate(server, clock, "a"), Candidate(server, clock, "b")
    lead(leader)
    left = follow(clock, leader, other, seconds)
    # Killed here. Its last renewal was seen at most one pause after it was made.
    assert wait_for(clock, other, left) <= TIMES.lease + WORST_PAUSE + 1e-6


@given(seconds=moments)
def test_a_lease_that_is_given_back_is_taken_within_one_pause(seconds: float) -> None:
    clock, server = FakeClock(), LeaseServer()
    leader, other = Candidate(server, clock, "a"), Candidate(server, clock, "b")
    lead(leader)
    left = follow(clock, leader, other, seconds)
    leader.elector.release()
    assert wait_for(clock, other, left) <= WORST_PAUSE + 1e-6
