"""Keyed locks: one writer a target of lldap.

MariaDB answers concurrent changes of one group with deadlocks, and a diff is only worth
something while nobody else changes its target. So all calls that may change a target, from the
last read to the confirmation, are made under its key.
"""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

Key = tuple[str, str]


class _Lock:
    """Shared or exclusive hold on one key. Guarded by the condition of its KeyedLocks."""

    __slots__ = ("exclusive", "queued", "shared", "users")

    def __init__(self) -> None:
        self.exclusive = False
        self.queued = 0  # who waits for an exclusive hold: new shared ones let it go first
        self.shared = 0
        self.users = 0  # holders and waiters: the entry goes when nobody uses it


class KeyedLocks:
    """Locks that exist as long as somebody uses them. Any thread; not reentrant.

    Keys are taken in sorted order, so that two callers never wait for each other. Shared
    holders of a key exclude exclusive ones only.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()  # guards _locks and all entries in it
        self._locks: dict[Key, _Lock] = {}

    @contextmanager
    def hold(self, exclusive: Iterable[Key], shared: Iterable[Key] = ()) -> Iterator[None]:
        """Hold all keys; a key asked for in both ways is held exclusively."""
        wanted = dict.fromkeys(shared, False) | dict.fromkeys(exclusive, True)
        taken: list[Key] = []
        try:
            for key in sorted(wanted):
                self._acquire(key, exclusive=wanted[key])
                taken.append(key)
            yield
        finally:
            self._release(taken, wanted)

    def _acquire(self, key: Key, *, exclusive: bool) -> None:
        with self._condition:
            lock = self._locks.setdefault(key, _Lock())
            lock.users += 1
            if exclusive:
                self._acquire_exclusive_locked(lock)
            else:
                while lock.exclusive or lock.queued:
                    self._condition.wait()
                lock.shared += 1

    def _acquire_exclusive_locked(self, lock: _Lock) -> None:
        lock.queued += 1
        while lock.exclusive or lock.shared:
            self._condition.wait()
        lock.queued -= 1
        lock.exclusive = True

    def _release(self, taken: list[Key], wanted: dict[Key, bool]) -> None:
        with self._condition:
            for key in taken:
                lock = self._locks[key]
                if wanted[key]:
                    lock.exclusive = False
                else:
                    lock.shared -= 1
                lock.users -= 1
                if lock.users == 0:
                    del self._locks[key]
            self._condition.notify_all()

    def __len__(self) -> int:
        with self._condition:
            return len(self._locks)
