"""What the tests of the queues share."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workqueue import Item, Queue

DEADLINE = 10.0  # seconds that a test of threads waits for what must happen


class SystemClock:
    """The real clock, for tests whose point is real threads."""

    monotonic = staticmethod(time.monotonic)

    def wait(self, condition: threading.Condition, timeout: float | None) -> None:
        condition.wait(timeout)


def eventually(holds: Callable[[], bool]) -> None:
    """Return once `holds()`; fail when it does not within the deadline."""
    end = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < end, "did not come true in time"
        time.sleep(0.0005)


def take_all(queue: Queue[str]) -> list[Item[str]]:
    """Take what is ready, without giving it back."""
    return list(iter(queue.try_get, None))


def run_all(queue: Queue[str]) -> list[str]:
    """Let a worker work until nothing is ready; the keys in the order of their runs."""
    ran = []
    while (item := queue.try_get()) is not None:
        ran.append(item.key)
        queue.done(item.key)
    return ran


class Crew:
    """Threads that are joined, and whose exceptions fail the test."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._errors: list[BaseException] = []

    def start(self, work: Callable[[], object]) -> None:
        thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self, work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again by join, in the test's thread
            self._errors.append(error)

    def join(self, seconds: float = DEADLINE) -> None:
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        stuck = sum(thread.is_alive() for thread in self._threads)
        assert not stuck, f"{stuck} threads did not end within {seconds} s"
        if self._errors:
            raise self._errors[0]


@contextmanager
def frequent_switches() -> Iterator[None]:
    """Have the interpreter switch threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
