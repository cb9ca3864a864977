"""The drift resync: when it is due, what it does, what an lldap that is down makes of it."""

import math
import random

import pytest

from controller.harness.gate import Gate
from controller.harness.reasoned import ReasonedError, fail
from controller.watching.resync import JITTER, WAIT_SECONDS, Resync
from lldap import BadAnswer, ConnectionFailed, NotAdmin
from tests.support.clock import FakeClock

PERIOD = 600.0


class Bed:
    def __init__(self, period: float = PERIOD, seed: int = 1) -> None:
        self.clock = FakeClock()
        self.done: list[str] = []
        self.error: Exception | None = None
        rng = random.Random(seed)
        self.gate = Gate(
            lambda: None,
            lambda: None,
            explain=self._explain,
            opened=lambda _keys: None,
            clock=self.clock,
            random=rng,
        )
        self.gate.step()
        self.resync = Resync(
            self._refresh,
            lambda: self.done.append("compare"),
            self.gate,
            period=period,
            clock=self.clock,
            random=rng,
        )

    def _explain(self, error: Exception) -> ReasonedError:
        return fail("LldapUnavailable", type(error).__name__)

    def _refresh(self) -> None:
        self.done.append("refresh")
        if self.error is not None:
            raise self.error


@pytest.fixture
def bed() -> Bed:
    return Bed()


def test_it_reads_and_then_compares_when_it_is_due_and_not_before(bed: Bed) -> None:
    due = bed.resync.step()
    assert bed.done == []
    bed.clock.advance(due - 1)
    assert bed.resync.step() == pytest.approx(1)
    bed.clock.advance(1)
    bed.resync.step()
    assert bed.done == ["refresh", "compare"]


def test_after_one_it_says_when_the_next_is_due(bed: Bed) -> None:
    bed.clock.advance(bed.resync.step())
    due = bed.resync.step()
    assert due == pytest.approx(PERIOD, rel=JITTER)
    assert bed.resync.step() == pytest.approx(due)


def test_G07_two_operators_do_not_read_in_step() -> None:
    """Each period is jittered anew, so that those who began together drift apart."""
    moments = []
    for seed in range(50):
        bed = Bed(seed=seed)
        moments.append(bed.resync.step())
    assert min(moments) >= PERIOD * (1 - JITTER)
    assert max(moments) <= PERIOD * (1 + JITTER)
    assert max(moments) - min(moments) > PERIOD * JITTER


def test_zero_switches_it_off() -> None:
    bed = Bed(period=0)
    assert bed.resync.step() == math.inf
    bed.clock.advance(10**6)
    assert bed.resync.step() == math.inf
    assert bed.done == []


def test_it_waits_while_the_gate_is_closed_and_comes_soon_after(bed: Bed) -> None:
    bed.clock.advance(bed.resync.step())
    bed.gate.close(fail("LldapUnavailable", "down"))
    assert bed.resync.step() == WAIT_SECONDS
    assert bed.done == []
    bed.gate.step()
    bed.resync.step()
    assert bed.done == ["refresh", "compare"]


@pytest.mark.parametrize(
    "error",
    [
        ConnectionFailed("refused"),
        BadAnswer("half an answer"),
        NotAdmin("not in lldap_admin"),
        KeyError("a fault of the program"),
    ],
)
def test_a_read_that_fails_closes_the_gate_and_compares_nothing(bed: Bed, error: Exception) -> None:
    bed.clock.advance(bed.resync.step())
    bed.error = error
    assert bed.resync.step() == WAIT_SECONDS
    assert not bed.gate.is_open
    assert bed.done == ["refresh"]
    bed.error = None
    bed.gate.step()
    bed.resync.step()
    assert bed.done == ["refresh", "refresh", "compare"]
