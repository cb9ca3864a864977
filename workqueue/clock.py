"""The time that a queue is given."""

import threading
from typing import Protocol


class Clock(Protocol):
    """Where a queue gets its time from; this package never reads the system's clock itself.

    Any thread may call it. A queue reads it while it holds its own lock, so a clock must not
    call back into the queue.
    """

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean something."""

    def wait(self, condition: threading.Condition, timeout: float | None) -> None:
        """Wait on `condition`, which the caller holds, for at most `timeout` seconds.

        None waits until notified. It may return early: the caller looks again at what it
        waits for.
        """
