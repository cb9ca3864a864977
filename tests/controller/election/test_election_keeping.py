"""Renewing, and noticing that it is over."""

import datetime
import threading
import time
from collections.abc import Callable

import pytest

from controller.election.leadership import NotLeader
from controller.loop import FOREVER, Loop
from tests.controller.election.candidates import TIMES, Candidate, lead, run
from tests.controller.election.leases import (
    LeaseServer,
    Object,
    OtherClock,
    after,
    hangs,
    refuses,
    slow,
)
from tests.support.clock import FakeClock


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


def test_H01_a_leader_whose_renewal_hangs_in_a_thread_gives_up_all_the_same(
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


def test_liveness_fails_only_for_a_leader_whose_lease_is_over(
    a: Candidate, clock: FakeClock
) -> None:
    assert a.elector.check() is None
    lead(a)
    clock.advance(15.0)
    assert a.elector.check() is None
    clock.advance(0.1)
    assert "has not been renewed" in str(a.elector.check())


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
