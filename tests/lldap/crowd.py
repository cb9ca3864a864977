"""Threads that do the same at the same time."""

import threading
import time
from collections.abc import Callable

from lldap import LldapError

DEADLINE = 20.0  # seconds


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until `condition` holds; fails after the deadline."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.002)


class Crowd:
    """`size` threads that call together; `results` has what each got, its error included."""

    def __init__(self, size: int, call: Callable[[], object]) -> None:
        self.results: list[object] = []
        self._barrier = threading.Barrier(size)
        self._call = call
        self._threads = [threading.Thread(target=self._run) for _ in range(size)]

    def _run(self) -> None:
        self._barrier.wait(DEADLINE)
        try:
            result = self._call()
        except LldapError as error:
            result = error
        self.results.append(result)

    def run(self) -> list[object]:
        for thread in self._threads:
            thread.start()
        for thread in self._threads:
            thread.join(DEADLINE)
        return self.results
