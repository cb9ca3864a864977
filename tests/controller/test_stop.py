"""Who waits for the end of the process learns of it at once."""

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from controller.stop import Stop

LONG = 60.0
TELL: dict[str, Callable[[Stop], None]] = {
    "asked to end": Stop.request,
    "the Lease is lost": lambda stop: stop.lose("another has it"),
    "something else has happened": Stop.tell,
}


@pytest.mark.parametrize("tell", TELL.values(), ids=TELL)
@pytest.mark.parametrize("before", [True, False])
def test_a_wait_ends_with_what_happens_and_with_what_has_happened(
    tell: Callable[[Stop], None], before: bool
) -> None:
    stop, began = Stop(), time.monotonic()
    timer = threading.Timer(0.0 if before else 0.05, tell, [stop])
    timer.start()
    if before:
        timer.join()
    stop.wait(LONG)
    timer.join()
    assert time.monotonic() - began < LONG / 2
    assert stop.wanted == (tell is not Stop.tell)


def test_a_wait_ends_with_its_time() -> None:
    stop = Stop()
    stop.wait(0.001)
    assert not stop.wanted


def test_a_signal_s_handler_ends_the_wait_of_its_own_thread() -> None:
    """It may run while that thread holds the lock of whatever it waits with."""
    stop, began = Stop(), time.monotonic()
    before = signal.signal(signal.SIGUSR1, lambda *_: stop.request())
    timer = threading.Timer(0.05, os.kill, [os.getpid(), signal.SIGUSR1])
    try:
        timer.start()
        while not stop.wanted:
            stop.wait(LONG)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert time.monotonic() - began < LONG / 2
