"""One candidate against a scripted server."""

import datetime
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from controller.clock import Clock
from controller.election import LeaderElector, new_identity
from controller.leadership import NoElection, NotLeader, Term, Times
from controller.lease import LeaseLock
from controller.loop import FOREVER, Loop
from tests.controller.leases import (
    NAME,
    NAMESPACE,
    LeaseClientStub,
    LeaseServer,
    Object,
    OtherClock,
    after,
    hangs,
    refuses,
    slow,
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


def lead(candidate: Candidate) -> None:
    candidate.elector.step()
    assert candidate.elector.term is not None


def run(clock: FakeClock, candidate: Candidate, seconds: float) -> None:
    """Let the candidate step for `seconds` as its loop would."""
    end = clock.monotonic() + seconds
    while clock.monotonic() < end:
        wait = candidate.elector.step()
        clock.advance(min(wait, end - clock.monotonic()) if wait else 0.001)


def test_the_first_candidate_creates_the_lease(a: Candidate, server: LeaseServer) -> None:
    assert a.elector.step() == 2.0

    assert server.spec == {
        "holderIdentity": "a",
        "leaseDurationSeconds": 15,
        "acquireTime": "2030-01-01T00:00:00.000000Z",
        "renewTime": "2030-01-01T00:00:00.000000Z",
        "leaseTransitions": 0,
    }
    assert a.led == [a.elector.term]
    assert a.status == [False, True]


def test_renewing_is_one_put_that_changes_only_the_time(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    server.calls.clear()
    clock.advance(2.0)

    assert a.elector.step() == 2.0

    assert server.calls == [("a", "PUT")]
    assert server.spec["renewTime"].startswith("2030-01-01T00:00:02")
    assert server.spec["acquireTime"] == "2030-01-01T00:00:00.000000Z"
    assert server.spec["leaseTransitions"] == 0
    assert a.slow_paths == 0


@pytest.mark.parametrize("year", [1999, 2030, 2099])
def test_the_times_in_the_record_are_not_compared_with_the_clock(
    a: Candidate, server: LeaseServer, clock: FakeClock, year: int
) -> None:
    stamp = f"{year}-01-01T00:00:00.000000Z"
    server.put_in(
        {
            "holderIdentity": "b",
            "leaseDurationSeconds": 15,
            "acquireTime": stamp,
            "renewTime": stamp,
            "leaseTransitions": 6,
        }
    )
    started = clock.monotonic()

    run(clock, a, 14.9)
    assert a.elector.term is None
    run(clock, a, 10.0)

    assert a.led[0].acquired_at - started >= 15.0
    assert server.spec["leaseTransitions"] == 7


def test_a_candidate_waits_as_long_as_the_record_says(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    server.put_in({"holderIdentity": "b", "leaseDurationSeconds": 60})

    run(clock, a, 59.0)
    assert a.led == []
    run(clock, a, 6.0)
    assert len(a.led) == 1


def test_a_record_that_changes_is_alive(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    server.put_in({"holderIdentity": "b", "leaseDurationSeconds": 15, "renewTime": "0"})
    for i in range(20):
        run(clock, a, 10.0)
        server.edit(renewTime=str(i + 1))

    assert a.led == []


def test_a_label_that_others_set_is_no_sign_of_life(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    server.put_in({"holderIdentity": "b", "leaseDurationSeconds": 15})
    for i in range(3):
        assert server.lease is not None
        server.lease["metadata"]["labels"] = {"touched": str(i)}
        server.edit()
        run(clock, a, 6.0)

    assert len(a.led) == 1


def test_of_two_racing_candidates_one_wins(
    a: Candidate, b: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    a.client.faults.extend([after(lambda: None), after(b.elector.step)])

    a.elector.step()

    assert b.elector.term is not None
    assert a.elector.term is None
    assert server.spec["holderIdentity"] == "b"


def test_of_two_racing_for_a_dead_leaders_lease_one_wins(
    a: Candidate, b: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    server.put_in({"holderIdentity": "dead", "leaseDurationSeconds": 15})
    a.elector.step()
    b.elector.step()
    clock.advance(15.0)
    a.client.faults.extend([after(lambda: None), after(b.elector.step)])

    a.elector.step()

    assert (a.elector.term is None, b.elector.term is None) == (True, False)


@pytest.mark.parametrize(
    "spec",
    [
        None,
        {},
        "text",
        {"holderIdentity": None},
        {"holderIdentity": ""},
        {"holderIdentity": "", "leaseDurationSeconds": 15},
        {"holderIdentity": 7, "leaseDurationSeconds": "15", "leaseTransitions": -3},
    ],
)
def test_a_broken_lease_is_taken_but_not_believed_to_be_released(
    a: Candidate, server: LeaseServer, spec: object
) -> None:
    server.put_in(spec)

    lead(a)

    assert not a.led[0].found_released
    assert server.spec["holderIdentity"] == "a"
    assert server.spec["leaseTransitions"] == 1


def test_a_holder_without_a_duration_is_given_our_own(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    server.put_in({"holderIdentity": "b"})

    run(clock, a, 14.9)
    assert a.led == []
    run(clock, a, 5.0)
    assert len(a.led) == 1


@pytest.mark.parametrize("deleted", [True, False], ids=["deleted", "emptied"])
def test_a_lease_that_vanishes_is_no_sign_that_its_holder_stopped(
    a: Candidate, server: LeaseServer, clock: FakeClock, deleted: bool
) -> None:
    server.put_in({"holderIdentity": "b", "leaseDurationSeconds": 15})
    a.elector.step()
    if deleted:
        server.lease = None
    else:
        server.edit(holderIdentity="")

    clock.advance(14.9)
    a.elector.step()
    assert a.led == []

    clock.advance(0.1)
    a.elector.step()
    assert len(a.led) == 1


def test_who_was_seen_to_give_the_lease_back_is_not_waited_for(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    server.put_in({"holderIdentity": "b", "leaseDurationSeconds": 15})
    a.elector.step()
    server.edit(holderIdentity="", leaseDurationSeconds=1)
    a.client.faults.extend([after(lambda: None), refuses(500)])
    a.elector.step()
    server.lease = None

    a.elector.step()

    assert len(a.led) == 1


def test_what_others_put_into_the_lease_stays(a: Candidate, server: LeaseServer) -> None:
    server.put_in({"holderIdentity": "", "preferredHolder": "x"})
    assert server.lease is not None
    server.lease["metadata"]["labels"] = {"team": "a"}

    lead(a)

    assert server.spec["preferredHolder"] == "x"
    assert server.lease["metadata"]["labels"] == {"team": "a"}


def test_a_leader_that_did_not_find_a_release_lets_old_calls_run_out(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    term = a.led[0]
    assert term.may_work_at == term.acquired_at + TIMES.call

    run(clock, a, 7.9)
    with pytest.raises(NotLeader, match="before this one"):
        a.elector.fence(1.0)

    run(clock, a, 0.2)
    a.elector.fence(1.0)


def test_a_leader_that_found_a_release_works_at_once(
    a: Candidate, b: Candidate, clock: FakeClock
) -> None:
    lead(a)
    a.elector.release()

    lead(b)

    assert b.led[0].found_released
    assert b.may_write
    assert b.elector.term is not None
    assert b.elector.term.may_work_at == clock.monotonic()


@pytest.mark.parametrize(
    ("age", "timeout", "may"),
    [(0.0, 14.0, True), (0.0, 14.1, False), (6.0, 8.0, True), (6.1, 8.0, False), (14.0, 0, True)],
)
def test_the_fence_lets_no_call_outlive_the_lease(
    server: LeaseServer, clock: FakeClock, age: float, timeout: float, may: bool
) -> None:
    a = Candidate(server, clock)
    server.put_in({"holderIdentity": "", "leaseDurationSeconds": 1})
    lead(a)
    clock.advance(age)

    if may:
        a.elector.fence(timeout)
    else:
        with pytest.raises(NotLeader, match="may be over"):
            a.elector.fence(timeout)


def test_the_fence_counts_from_before_the_renewal_was_sent(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    server.put_in({"holderIdentity": "", "leaseDurationSeconds": 1})
    lead(a)
    clock.advance(2.0)
    a.client.faults.append(slow(clock, 4.0))

    a.elector.step()

    a.elector.fence(10.0)
    with pytest.raises(NotLeader):
        a.elector.fence(10.1)


def test_a_candidate_may_not_write(a: Candidate) -> None:
    with pytest.raises(NotLeader, match=NAME):
        a.elector.fence(0.0)


def test_failed_renewals_are_tried_again_every_retry_period_until_the_deadline(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    began = clock.monotonic()
    server.calls.clear()
    a.client.broken = refuses(500, "InternalError")

    run(clock, a, 9.9)
    assert len(server.calls) == 5
    assert a.lost == []
    assert a.elector.term is not None
    run(clock, a, 0.2)

    assert len(a.lost) == 1
    assert clock.monotonic() - began == pytest.approx(10.1)
    assert a.status == [False, True, False]
    assert a.elector.step() == FOREVER
    assert a.elector.watch() == FOREVER
    assert len(a.lost) == 1


def test_a_renewal_that_succeeds_before_the_deadline_keeps_the_lease(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    for _ in range(5):
        a.client.broken = refuses(503)
        run(clock, a, 7.5)
        a.client.broken = None
        run(clock, a, 4.0)

    assert a.lost == []
    assert a.may_write


def test_a_call_that_hangs_is_cut_off_well_before_the_deadline(
    a: Candidate, clock: FakeClock
) -> None:
    lead(a)
    a.client.timeouts.clear()
    clock.advance(2.0)
    a.client.broken = hangs(clock)

    run(clock, a, 20.0)

    assert a.client.timeouts == [5.0, 1.0]
    assert len(a.lost) == 1


def test_the_watch_gives_up_while_a_renewal_hangs(a: Candidate, clock: FakeClock) -> None:
    lead(a)
    waits: list[float] = []

    def while_it_hangs() -> None:
        waits.append(a.elector.watch())
        clock.advance(waits[-1])
        waits.append(a.elector.watch())

    clock.advance(2.0)
    a.client.faults.append(after(while_it_hangs))
    assert a.elector.step() == FOREVER

    assert waits == [8.0, FOREVER]
    assert len(a.lost) == 1
    assert a.elector.term is None, "an answer that comes late does not bring the term back"


def test_h01_a_leader_whose_renewal_hangs_in_a_thread_gives_up_all_the_same(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    inside, answered = threading.Event(), threading.Event()
    server.put_in({"holderIdentity": "", "leaseDurationSeconds": 1})
    lead(a)
    a.elector.fence(TIMES.call)

    def hang(do: Callable[[], Object], timeout: float) -> Object:
        inside.set()
        assert answered.wait(5.0)
        return do()

    a.client.broken = hang
    loops = [Loop("election", a.elector.step, clock=clock)]
    loops.append(Loop("election-watch", a.elector.watch, clock=clock))
    for loop in loops:
        loop.start()
    assert inside.wait(5.0)
    end = time.monotonic() + 5.0
    while clock.waiters < 1:  # the watch; the other thread hangs
        assert time.monotonic() < end
        time.sleep(0.001)
    clock.advance(TIMES.renew - 0.1)
    assert a.lost == []
    clock.advance(0.1)

    assert a.heard.wait(5.0)
    assert not a.may_write
    answered.set()
    for loop in loops:
        loop.stop()
        assert loop.join(5.0)
        assert loop.error is None
    assert a.elector.term is None, "the answer comes too late"
    assert len(a.lost) == 1


def test_an_answer_after_the_deadline_does_not_make_a_leader(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    a.client.faults.extend([after(lambda: None), slow(clock, 60.0)])

    a.elector.step()

    assert a.led == []
    assert a.elector.term is None


def test_a_renewal_answered_after_the_deadline_is_a_loss(a: Candidate, clock: FakeClock) -> None:
    lead(a)
    clock.advance(2.0)
    a.client.faults.append(slow(clock, 60.0))

    assert a.elector.step() == FOREVER

    assert len(a.lost) == 1


def test_another_holder_is_a_loss_at_once(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    clock.advance(2.0)
    server.edit(holderIdentity="b")

    a.elector.step()

    assert a.lost == ["b holds it"]
    assert not a.may_write
    assert server.spec["holderIdentity"] == "b"


def test_an_edit_by_others_costs_a_read_and_not_the_lease(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    server.calls.clear()
    server.edit(strategy="x")
    clock.advance(2.0)

    a.elector.step()

    assert [method for _, method in server.calls] == ["PUT", "GET", "PUT"]
    assert a.lost == []
    assert a.slow_paths == 1
    assert server.spec["renewTime"].startswith("2030-01-01T00:00:02")


@pytest.mark.parametrize("deleted", [True, False], ids=["deleted", "emptied"])
def test_a_leader_puts_a_lease_back_that_somebody_removed(
    a: Candidate, server: LeaseServer, clock: FakeClock, deleted: bool
) -> None:
    lead(a)
    if deleted:
        server.lease = None
    else:
        server.edit(holderIdentity="")
    clock.advance(2.0)

    a.elector.step()

    assert server.spec["holderIdentity"] == "a"
    assert a.lost == []
    assert a.elector.term is not None
    assert a.elector.term.renewed_at == clock.monotonic()


def test_a_renewal_with_an_unknown_outcome_is_read_before_the_next(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    clock.advance(2.0)
    a.client.faults.append(hangs(clock, done=True))
    a.elector.step()
    server.calls.clear()

    a.elector.step()

    assert [method for _, method in server.calls] == ["GET", "PUT"]
    assert a.lost == []
    assert server.spec["leaseTransitions"] == 0


def test_taking_with_an_unknown_outcome_is_seen_at_the_next_look(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    server.put_in({"holderIdentity": "", "leaseDurationSeconds": 1, "leaseTransitions": 3})
    a.client.faults.extend([after(lambda: None), hangs(clock, done=True)])
    a.elector.step()
    assert a.led == []
    assert server.spec["holderIdentity"] == "a"

    a.elector.step()

    assert len(a.led) == 1
    assert not a.led[0].found_released, "nobody knows any more: the careful way"
    assert server.spec["leaseTransitions"] == 4


def test_an_answer_that_shows_another_record_is_no_renewal(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    clock.advance(2.0)
    a.client.faults.append(lambda do, timeout: server.get())  # some cache in between

    a.elector.step()

    assert a.elector.term is not None
    assert a.elector.term.renewed_at == clock.monotonic() - 2.0


def test_a_wall_clock_that_stands_still_still_changes_the_record(
    server: LeaseServer, clock: FakeClock
) -> None:
    a = Candidate(server, OtherClock(clock, frozen=True), "a")
    lead(a)
    seen = {server.spec["renewTime"]}
    for _ in range(3):
        clock.advance(2.0)
        a.elector.step()
        seen.add(server.spec["renewTime"])

    assert len(seen) == 4


def test_a_wall_clock_that_jumps_changes_nothing(server: LeaseServer, clock: FakeClock) -> None:
    wall = OtherClock(clock)
    a = Candidate(server, wall, "a")
    b = Candidate(server, clock, "b")
    lead(a)
    for hours in (-48, 48, 0, -1):
        wall.skew = datetime.timedelta(hours=hours)
        for _ in range(10):
            clock.advance(2.0)
            a.elector.step()
            b.elector.step()

    assert a.lost == []
    assert b.led == []
    assert a.may_write


def test_release_writes_an_empty_holder_for_one_second(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    clock.advance(1.0)

    a.elector.release()

    assert server.spec == {
        "holderIdentity": "",
        "leaseDurationSeconds": 1,
        "acquireTime": "2030-01-01T00:00:01.000000Z",
        "renewTime": "2030-01-01T00:00:01.000000Z",
        "leaseTransitions": 0,
    }
    assert a.status == [False, True, False]
    assert a.lost == []
    assert a.elector.step() == FOREVER


def test_nobody_passes_the_fence_while_the_lease_is_being_released(
    a: Candidate, clock: FakeClock
) -> None:
    lead(a)
    clock.advance(9.0)
    seen: list[bool] = []
    a.client.faults.append(after(lambda: seen.append(a.may_write)))

    a.elector.release()

    assert seen == [False]


def test_releasing_what_is_not_ours_sends_nothing(
    a: Candidate, b: Candidate, server: LeaseServer
) -> None:
    lead(b)
    server.calls.clear()

    a.elector.release()

    assert server.calls == []
    assert a.elector.step() == FOREVER
    assert server.spec["holderIdentity"] == "b"


def test_a_release_that_fails_does_not_raise(a: Candidate, server: LeaseServer) -> None:
    lead(a)
    a.client.broken = refuses(500)

    a.elector.release()

    assert server.spec["holderIdentity"] == "a"
    assert a.elector.term is None


def test_a_step_during_the_release_does_not_take_the_lease_again(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    clock.advance(2.0)
    a.client.faults.extend([refuses(409, "Conflict"), after(a.elector.release)])

    a.elector.step()

    assert server.spec["holderIdentity"] == ""
    assert a.elector.term is None


def test_h04_a_stop_between_reading_and_renewing_still_releases(
    a: Candidate, b: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    clock.advance(2.0)
    # The read of the slow path was answered; the stop comes before its update is sent.
    a.client.faults.extend([refuses(409, "Conflict"), after(lambda: None)])
    a.client.faults.append(after(a.elector.release))
    a.elector.step()
    stopped = clock.monotonic()

    run(clock, b, 1.9)

    assert b.led
    assert b.led[0].may_work_at - stopped < 2.0


def test_h04_a_conflict_on_the_release_is_tried_again_while_still_holder(
    a: Candidate, server: LeaseServer
) -> None:
    lead(a)
    server.edit(strategy="x")

    a.elector.release()

    assert server.spec["holderIdentity"] == ""


def test_h04_a_renewal_whose_answer_was_lost_does_not_keep_the_lease(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    clock.advance(2.0)
    a.client.faults.append(hangs(clock, done=True))
    a.elector.step()

    a.elector.release()

    assert server.spec["holderIdentity"] == ""


def test_h04_a_lease_whose_taking_was_not_answered_is_given_back_too(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    a.client.faults.extend([after(lambda: None), hangs(clock, done=True)])
    a.elector.step()
    assert server.spec["holderIdentity"] == "a"

    a.elector.release()

    assert server.spec["holderIdentity"] == ""
    assert a.led == []


def test_h04_a_candidate_that_was_refused_gives_nothing_back(
    a: Candidate, b: Candidate, server: LeaseServer
) -> None:
    a.client.faults.extend([after(lambda: None), after(b.elector.step)])
    a.elector.step()
    server.calls.clear()

    a.elector.release()

    assert server.calls == []


def test_a_lease_that_was_lost_is_not_given_back(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    clock.advance(TIMES.renew)
    a.elector.watch()
    server.calls.clear()

    a.elector.release()

    assert server.calls == [], "its work may not have ended"


def test_h04_a_release_never_overwrites_another_holder(a: Candidate, server: LeaseServer) -> None:
    lead(a)
    server.edit(holderIdentity="b")
    server.calls.clear()

    a.elector.release()

    assert server.spec["holderIdentity"] == "b"
    assert [method for _, method in server.calls] == ["PUT", "GET"]


def test_h04_a_release_is_tried_twice_and_no_more(a: Candidate, server: LeaseServer) -> None:
    lead(a)
    server.calls.clear()
    conflict = refuses(409, "Conflict")
    a.client.faults.extend([conflict, after(lambda: None), conflict])

    a.elector.release()

    assert [method for _, method in server.calls] == ["PUT", "GET", "PUT"]


def test_h07_two_processes_of_one_host_are_two() -> None:
    assert new_identity("pod-0") != new_identity("pod-0")
    assert new_identity("pod-0").startswith("pod-0_")


def test_h07_a_restarted_pod_waits_for_the_lease_of_its_namesake(
    server: LeaseServer, clock: FakeClock
) -> None:
    old = Candidate(server, clock, new_identity("pod-0"))
    lead(old)
    new = Candidate(server, clock, new_identity("pod-0"))

    run(clock, new, 14.0)

    assert new.led == []


def test_h08_a_candidate_asks_once_in_a_retry_period_with_jitter(
    a: Candidate, b: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    server.calls.clear()
    waits = [b.elector.step() for _ in range(200)]

    assert server.calls == [("b", "GET")] * 200
    assert all(2.0 <= wait < 4.4 for wait in waits)
    assert max(waits) > 4.2
    assert min(waits) < 2.2


def test_h08_a_candidate_survives_a_server_that_fails(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    a.client.broken = refuses(500)
    waits = [a.elector.step() for _ in range(20)]
    a.client.broken = None

    assert all(2.0 <= wait < 4.4 for wait in waits)
    assert len(server.calls) == 20
    lead(a)


def test_h08_a_candidate_that_is_stopped_asks_no_more(a: Candidate, server: LeaseServer) -> None:
    a.elector.release()

    assert a.elector.step() == FOREVER
    assert server.calls == []


def test_liveness_fails_only_for_a_leader_whose_lease_is_over(
    a: Candidate, clock: FakeClock
) -> None:
    assert a.elector.check() is None
    lead(a)
    clock.advance(15.0)
    assert a.elector.check() is None
    clock.advance(0.1)
    assert "has not been renewed" in str(a.elector.check())


def test_without_an_election_the_one_process_leads_from_its_first_step(clock: FakeClock) -> None:
    led: list[Term] = []
    election = NoElection(clock=clock, on_leading=led.append)
    with pytest.raises(NotLeader):
        election.fence(1.0)

    assert election.step() == FOREVER
    election.step()

    election.fence(1000.0)
    assert led == [election.term]
    assert election.check() is None
    assert election.watch() == FOREVER


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_an_answer_without_a_version_is_not_understood(
    a: Candidate, server: LeaseServer, clock: FakeClock, method: str
) -> None:
    if method == "PUT":
        lead(a)
        clock.advance(2.0)
    a.client.faults.append(lambda do, timeout: {"metadata": {}, "spec": {}})

    a.elector.step()

    assert len(a.led) == (method == "PUT")
    assert a.lost == []
