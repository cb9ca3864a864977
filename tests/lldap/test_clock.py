"""The machine's clock and deadlines."""

import threading

from lldap import SystemClock
from lldap.clock import Deadline
from tests.support.clock import FakeClock


def test_a_wait_ends_when_its_time_has_passed() -> None:
    clock, condition = SystemClock(), threading.Condition()
    began = clock.monotonic()
    with condition:
        clock.wait(condition, 0.02)
    assert 0.01 < clock.monotonic() - began < 5.0


def test_a_deadline_says_what_is_left() -> None:
    clock = FakeClock()
    deadline = Deadline(clock, 2.0)
    clock.advance(1.5)
    assert deadline.left() == 0.5
    clock.advance(1.0)
    assert deadline.left() == -0.5
