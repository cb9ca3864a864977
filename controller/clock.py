"""The clock that the controller is given: monotonic time, wall time, waiting."""

import datetime
import threading
import time
from typing import Protocol

# Linux: time that also counts while the machine is suspended. A leader that slept through its
# lease with the lid closed must not wake up believing that no time has passed.
_MONOTONIC_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock(Protocol):
    """Time as an argument, so that a test can move it."""

    def monotonic(self) -> float:
        """Seconds from some fixed moment; never jumps."""
        ...

    def now(self) -> datetime.datetime:
        """The wall clock in UTC, for people and for the wire; may jump."""
        ...

    def wait(self, condition: threading.Condition, timeout: float | None) -> None:
        """Wait on `condition`, which the caller holds, until notified or `timeout` seconds passed.

        May return early: the caller looks again at what it waits for.
        """
        ...


class SystemClock:
    """The machine's clock. Any thread."""

    __slots__ = ()

    def monotonic(self) -> float:
        """Seconds from some fixed moment, time in suspend included where the system can."""
        return time.clock_gettime(_MONOTONIC_CLOCK)

    def now(self) -> datetime.datetime:
        """The wall clock in UTC."""
        return datetime.datetime.now(datetime.UTC)

    def wait(self, condition: threading.Condition, timeout: float | None) -> None:
        """Wait on `condition`, which the caller holds; None waits for a notification."""
        if timeout is None:
            condition.wait()
        elif timeout > 0:
            condition.wait(min(timeout, threading.TIMEOUT_MAX))
