"""A clock that only moves when a test says so."""

import datetime
import threading

START = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)


class FakeClock:
    """Stands in for the system clock: `advance` moves it and wakes whoever's time has come.

    Any thread may call it. `waiters` says how many threads wait on it, so that a test of
    threads can wait until they do instead of sleeping.
    """

    def __init__(self, start: float = 1000.0) -> None:
        self._lock = threading.Lock()  # guards _monotonic and _waiting
        self._monotonic = start
        self._origin = start
        self._waiting: list[tuple[threading.Condition, float | None]] = []

    def monotonic(self) -> float:
        with self._lock:
            return self._monotonic

    def now(self) -> datetime.datetime:
        return START + datetime.timedelta(seconds=self.monotonic() - self._origin)

    @property
    def waiters(self) -> int:
        with self._lock:
            return len(self._waiting)

    def wait(self, condition: threading.Condition, timeout: float | None) -> None:
        """Wait on `condition` (held by the caller) until notified or `timeout` seconds passed."""
        if timeout is not None and timeout <= 0:
            return
        with self._lock:
            entry = (condition, None if timeout is None else self._monotonic + timeout)
            self._waiting.append(entry)
        try:
            condition.wait()
        finally:
            with self._lock:
                self._waiting.remove(entry)

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`; wakes the waits that end by then."""
        with self._lock:
            self._monotonic += seconds
            due = {
                id(condition): condition
                for condition, deadline in self._waiting
                if deadline is not None and deadline <= self._monotonic
            }
        for condition in due.values():
            with condition:
                condition.notify_all()
