"""Dates of lldap in whole seconds, as MariaDB keeps them: when the second of one is over."""

import threading
from collections.abc import Callable

from lldap import Mirror

SECOND = 1.1  # with a margin for timers that are early
KEPT = 60.0  # seconds; a date that is asked for later counts as new


class WholeSeconds:
    """Tells when nothing more can happen with the same date. Any thread.

    The second of a date is over one second after this process first saw the date, whatever the
    clocks of the servers say. Where lldap keeps fractions, no two changes have the same date.
    """

    def __init__(self, mirror: Mirror, monotonic: Callable[[], float]) -> None:
        self._mirror = mirror
        self._monotonic = monotonic
        self._lock = threading.Lock()  # guards _seen
        self._seen: dict[str, tuple[str, float]] = {}  # oldest first

    def left(self, owner: str, date: str) -> float:
        """Seconds until the second of `date` is over; `owner` asks for one date at a time."""
        if "." in date or self._has_fractions():
            return 0.0
        now = self._monotonic()
        with self._lock:
            known, since = self._seen.get(owner, ("", now))
            if known != date:
                self._see_locked(owner, date, now)
                since = now
        return max(0.0, since + SECOND - now)

    def _has_fractions(self) -> bool:
        """By the groups, of which there are always three: any date may happen to have none."""
        return any("." in group.creation_date for group in self._mirror.groups())

    def _see_locked(self, owner: str, date: str, now: float) -> None:
        self._seen.pop(owner, None)
        self._seen[owner] = (date, now)
        while self._oldest_locked() < now - KEPT:
            del self._seen[next(iter(self._seen))]

    def _oldest_locked(self) -> float:
        return next(iter(self._seen.values()))[1]

    def __len__(self) -> int:
        with self._lock:
            return len(self._seen)
