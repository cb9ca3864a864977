"""The gate: when it closes, who waits, when it asks, and what it says."""

import logging
import random
import threading
from collections.abc import Collection

import pytest

from controller.harness.gate import IDLE_SECONDS, PROBE_SECONDS, Gate, WorkKey
from controller.harness.reasoned import UNTIL_WOKEN, ReasonedError, fail
from controller.loop import Loop
from tests.support.clock import FakeClock

ALICE, BOB = ("LldapUser", "a/alice"), ("LldapUser", "a/bob")
DOWN = fail("LldapUnavailable", "lldap does not answer")


class Lldap:
    """What a gate asks, and what it says."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.asked: list[str] = []
        self.error: Exception | None = None
        self.woken: list[WorkKey] = []
        self.opened = 0
        self.gate = Gate(
            lambda: self._answer("probe"),
            lambda: self._answer("check"),
            explain=self._explain,
            opened=self._opened,
            clock=self.clock,
            random=random.Random(1),
        )
        self.wakes = 0
        self.gate.wake_with(self._wake)

    def _answer(self, what: str) -> None:
        self.asked.append(what)
        if self.error is not None:
            raise self.error

    def _explain(self, error: Exception) -> ReasonedError:
        if isinstance(error, ReasonedError):
            return error
        unknown = fail("LldapUnavailable", "unknown")
        unknown.__cause__ = error
        return unknown

    def _opened(self, keys: Collection[WorkKey]) -> None:
        assert self.gate.is_open
        self.opened += 1
        self.woken = sorted(keys)

    def _wake(self) -> None:
        self.wakes += 1

    def open(self) -> None:
        """Open, and long enough ago that closing is news."""
        self.error = None
        self.gate.step()
        assert self.gate.is_open
        self.clock.advance(PROBE_SECONDS[1])
        self.asked.clear()


@pytest.fixture
def lldap() -> Lldap:
    return Lldap()


def refused(gate: Gate, key: WorkKey = ALICE) -> ReasonedError:
    with pytest.raises(ReasonedError) as raised:
        gate.check(key)
    return raised.value


def test_it_is_closed_until_the_first_good_probe(lldap: Lldap) -> None:
    assert not lldap.gate.is_open
    assert refused(lldap.gate).reason == "LldapUnavailable"
    before = lldap.gate.probed
    lldap.open()
    assert (before, lldap.gate.probed) == (False, True)
    lldap.gate.check(ALICE)


def test_a_probe_that_fails_counts_as_one(lldap: Lldap) -> None:
    lldap.error = DOWN
    lldap.gate.step()
    assert lldap.gate.probed
    assert refused(lldap.gate).message == DOWN.message


def test_who_is_turned_away_waits_to_be_woken_and_for_nothing_else(lldap: Lldap) -> None:
    error = refused(lldap.gate)
    assert error.after == UNTIL_WOKEN
    assert lldap.gate.wait(BOB)
    lldap.gate.step()
    assert lldap.woken == [ALICE, BOB]
    assert not lldap.gate.wait(BOB)
    lldap.gate.close(DOWN)
    lldap.gate.step()
    assert lldap.woken == []


def test_who_is_gone_is_not_woken(lldap: Lldap) -> None:
    lldap.gate.wait(ALICE)
    lldap.gate.wait(BOB)
    lldap.gate.forget(ALICE)
    lldap.gate.forget(("LldapGroup", "never seen"))
    lldap.gate.step()
    assert lldap.woken == [BOB]


def test_the_reason_is_that_of_the_newest_probe(lldap: Lldap) -> None:
    lldap.open()
    lldap.gate.close(DOWN)
    assert refused(lldap.gate).reason == "LldapUnavailable"
    lldap.error = fail("Forbidden", "not in lldap_admin")
    lldap.gate.step()
    assert refused(lldap.gate).reason == "Forbidden"


def test_one_probe_every_one_to_five_seconds(lldap: Lldap) -> None:
    lldap.error = DOWN
    waits = []
    for _ in range(200):
        waits.append(lldap.gate.step())
        lldap.clock.advance(waits[-1])
    assert PROBE_SECONDS[0] <= min(waits) < 1.5
    assert 4.5 < max(waits) <= PROBE_SECONDS[1]
    assert lldap.asked == ["probe"] * 200


def test_it_does_nothing_while_it_is_open(lldap: Lldap) -> None:
    lldap.open()
    assert lldap.gate.step() == IDLE_SECONDS
    assert lldap.asked == []


def test_closing_wakes_the_loop_once(lldap: Lldap) -> None:
    lldap.open()
    for _ in range(50):
        lldap.gate.close(DOWN)
    assert lldap.wakes == 1
    lldap.gate.step()
    assert lldap.asked == ["probe"]


def test_a_connection_that_comes_and_goes_makes_no_storm_of_probes(lldap: Lldap) -> None:
    """The loop looks by itself soon after each probe: nobody wakes it before."""
    lldap.open()
    now, probes, due = 0.0, 0, 0.0
    while now < 300:
        wakes = lldap.wakes
        lldap.gate.close(DOWN)
        if lldap.wakes > wakes or due <= 0:
            due = lldap.gate.step()
            probes += 1
        lldap.clock.advance(0.1)
        now, due = now + 0.1, due - 0.1
    assert probes <= 300 / PROBE_SECONDS[0]
    assert len(lldap.asked) <= probes


def test_a_closing_right_after_an_opening_is_seen_without_being_woken(lldap: Lldap) -> None:
    due = lldap.gate.step()
    lldap.gate.close(DOWN)
    assert lldap.wakes == 0
    assert due <= PROBE_SECONDS[1]
    lldap.clock.advance(due)
    lldap.gate.step()
    assert lldap.gate.is_open


# --- a look at the operator's own rights ---------------------------------------------------------


def test_a_look_asks_for_the_rights_alone_and_stops_nobody(lldap: Lldap) -> None:
    lldap.open()
    lldap.gate.look()
    assert lldap.wakes == 1
    lldap.gate.check(ALICE)
    lldap.gate.step()
    assert lldap.asked == ["check"]
    assert lldap.gate.is_open
    assert lldap.opened == 1  # nothing was read anew, nothing is compared


def test_a_look_that_finds_the_rights_gone_closes(lldap: Lldap) -> None:
    lldap.open()
    lldap.gate.look()
    lldap.error = fail("Forbidden", "not in lldap_admin")
    lldap.gate.step()
    assert refused(lldap.gate).reason == "Forbidden"
    lldap.error = None
    lldap.gate.step()
    assert lldap.asked == ["check", "probe"]
    assert lldap.woken == [ALICE]


def test_looks_are_as_rare_as_probes(lldap: Lldap) -> None:
    lldap.open()
    for _ in range(100):
        lldap.gate.look()
    assert lldap.wakes == 1
    lldap.gate.step()
    for _ in range(100):
        lldap.gate.look()
    assert lldap.wakes == 1
    assert lldap.gate.step() <= PROBE_SECONDS[1]
    assert lldap.asked == ["check"] * 2


def test_a_look_at_a_closed_gate_is_what_it_does_anyway(lldap: Lldap) -> None:
    lldap.gate.look()
    lldap.gate.step()
    assert lldap.asked == ["probe"]


# --- words ---------------------------------------------------------------------------------------


def test_it_says_once_that_work_stops_and_once_that_it_goes_on(
    lldap: Lldap, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    lldap.open()
    lldap.error = DOWN
    for _ in range(20):
        lldap.gate.close(DOWN)
        lldap.gate.step()
    lldap.open()
    assert [record.getMessage() for record in caplog.records] == [
        "lldap can be worked with; objects that waited: 0",
        "work for lldap stops: LldapUnavailable: lldap does not answer",
        "lldap can be worked with; objects that waited: 0",
    ]


def test_an_error_that_nobody_expects_is_logged_whole_and_closes(
    lldap: Lldap, caplog: pytest.LogCaptureFixture
) -> None:
    lldap.error = KeyError("x")
    lldap.gate.step()
    lldap.gate.step()
    assert not lldap.gate.is_open
    traces = [record.exc_info for record in caplog.records]
    assert len(traces) == 1
    assert traces[0] is not None
    assert traces[0][1] is lldap.error


# --- in its loop ---------------------------------------------------------------------------------


def test_the_loop_opens_it_again_soon_after_it_was_closed(lldap: Lldap) -> None:
    opened = threading.Event()
    lldap.gate._opened = lambda _keys: opened.set()
    loop = Loop("gate", lldap.gate.step, clock=lldap.clock, wake=lldap.gate.wake_with)
    loop.start()
    try:
        for _ in range(3):
            assert opened.wait(10)
            opened.clear()
            lldap.gate.close(DOWN)
            for _ in range(1000):
                if lldap.clock.waiters or opened.is_set():
                    break
                threading.Event().wait(0.005)
            lldap.clock.advance(PROBE_SECONDS[1])
        assert opened.wait(10)
    finally:
        loop.stop()
        loop.join(10)
