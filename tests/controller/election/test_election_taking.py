"""Becoming leader."""

import pytest

from controller.election.election import new_identity
from controller.election.leadership import NoElection, NotLeader, Term
from controller.loop import FOREVER
from tests.controller.election.candidates import TIMES, Candidate, lead, run
from tests.controller.election.leases import (
    NAME,
    LeaseServer,
    after,
    hangs,
    refuses,
    slow,
)
from tests.support.clock import FakeClock


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


def test_a_candidate_may_not_write(a: Candidate) -> None:
    with pytest.raises(NotLeader, match=NAME):
        a.elector.fence(0.0)


def test_an_answer_after_the_deadline_does_not_make_a_leader(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    a.client.faults.extend([after(lambda: None), slow(clock, 60.0)])

    a.elector.step()

    assert a.led == []
    assert a.elector.term is None


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


def test_H07_two_processes_of_one_host_are_two() -> None:
    assert new_identity("pod-0") != new_identity("pod-0")
    assert new_identity("pod-0").startswith("pod-0_")


def test_H07_a_restarted_pod_waits_for_the_lease_of_its_namesake(
    server: LeaseServer, clock: FakeClock
) -> None:
    old = Candidate(server, clock, new_identity("pod-0"))
    lead(old)
    new = Candidate(server, clock, new_identity("pod-0"))

    run(clock, new, 14.0)

    assert new.led == []


def test_H08_a_candidate_asks_once_in_a_retry_period_with_jitter(
    a: Candidate, b: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    lead(a)
    server.calls.clear()
    waits = [b.elector.step() for _ in range(200)]

    assert server.calls == [("b", "GET")] * 200
    assert all(2.0 <= wait < 4.4 for wait in waits)
    assert max(waits) > 4.2
    assert min(waits) < 2.2


def test_H08_a_candidate_survives_a_server_that_fails(
    a: Candidate, server: LeaseServer, clock: FakeClock
) -> None:
    a.client.broken = refuses(500)
    waits = [a.elector.step() for _ in range(20)]
    a.client.broken = None

    assert all(2.0 <= wait < 4.4 for wait in waits)
    assert len(server.calls) == 20
    lead(a)


def test_H08_a_candidate_that_is_stopped_asks_no_more(a: Candidate, server: LeaseServer) -> None:
    a.elector.release()

    assert a.elector.step() == FOREVER
    assert server.calls == []


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
