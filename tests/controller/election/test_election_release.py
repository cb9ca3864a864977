"""Giving the Lease back."""

from controller.loop import FOREVER
from tests.controller.election.candidates import TIMES, Candidate, lead, run
from tests.controller.election.leases import (
    LeaseServer,
    after,
    hangs,
    refuses,
)
from tests.support.clock import FakeClock


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


def test_H04_a_stop_between_reading_and_renewing_still_releases(
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


def test_H04_a_conflict_on_the_release_is_tried_again_while_still_holder(
    a: Candidate, server: LeaseServer
) -> None:
    lead(a)
    server.edit(strategy="x")

    a.elector.release()

    assert server.spec["holderIdentity"] == ""


def test_H04_a_renewal_whose_answer_was_lost_does_not_keep_the_lease(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    clock.advance(2.0)
    a.client.faults.append(hangs(clock, done=True))
    a.elector.step()

    a.elector.release()

    assert server.spec["holderIdentity"] == ""


def test_H04_a_lease_whose_taking_was_not_answered_is_given_back_too(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    a.client.faults.extend([after(lambda: None), hangs(clock, done=True)])
    a.elector.step()
    assert server.spec["holderIdentity"] == "a"

    a.elector.release()

    assert server.spec["holderIdentity"] == ""
    assert a.led == []


def test_H04_a_candidate_that_was_refused_gives_nothing_back(
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


def test_H04_a_release_never_overwrites_another_holder(a: Candidate, server: LeaseServer) -> None:
    lead(a)
    server.edit(holderIdentity="b")
    server.calls.clear()

    a.elector.release()

    assert server.spec["holderIdentity"] == "b"
    assert [method for _, method in server.calls] == ["PUT", "GET"]


def test_H04_a_release_is_tried_twice_and_no_more(a: Candidate, server: LeaseServer) -> None:
    lead(a)
    server.calls.clear()
    conflict = refuses(409, "Conflict")
    a.client.faults.extend([conflict, after(lambda: None), conflict])

    a.elector.release()

    assert [method for _, method in server.calls] == ["PUT", "GET", "PUT"]
