"""Where the time comes from."""

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """Time as this package needs it. Any thread."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""

    def wait(self, condition: threading.Condition, timeout: float | None) -> None:
        """Wait on `condition`, held by the caller, until notified or `timeout` seconds passed."""


class SystemClock:
    """The machine's own clock. Any thread."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()

    def wait(self, condition: threading.Condition, timeout: float | None) -> None:
        """Wait on `condition`, held by the caller, until notified or `timeout` seconds passed."""
        condition.wait(timeout)


class Deadline:
    """The point in time at which something has to be over. One thread."""

    __slots__ = ("_clock", "_end")

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end = clock.monotonic() + seconds

    def left(self) -> float:
        """Seconds until then; below 0 when it is over."""
        return self._end - self._clock.monotonic()
