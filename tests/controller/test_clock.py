import datetime
import threading
import time

import pytest

from controller.clock import SystemClock


def test_the_monotonic_clock_goes_on() -> None:
    clock = SystemClock()
    first = clock.monotonic()

    assert 0.0 <= clock.monotonic() - first < 5.0


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="only Linux tells")
def test_the_monotonic_clock_counts_time_in_suspend() -> None:
    difference = SystemClock().monotonic() - time.clock_gettime(time.CLOCK_BOOTTIME)

    assert abs(difference) < 5.0


def test_the_wall_clock_is_in_utc() -> None:
    assert SystemClock().now().tzinfo is datetime.UTC


@pytest.mark.parametrize("timeout", [0.0, -1.0, 0.001])
def test_a_wait_ends_when_its_time_is_over(timeout: float) -> None:
    condition = threading.Condition()
    with condition:
        SystemClock().wait(condition, timeout)


@pytest.mark.parametrize("timeout", [None, 1e300])
def test_a_wait_ends_when_it_is_notified(timeout: float | None) -> None:
    condition = threading.Condition()
    ready = threading.Event()

    def wait() -> None:
        with condition:
            ready.set()
            SystemClock().wait(condition, timeout)

    thread = threading.Thread(target=wait)
    thread.start()
    assert ready.wait(5.0)
    with condition:
        condition.notify_all()
    thread.join(5.0)
    assert not thread.is_alive()
