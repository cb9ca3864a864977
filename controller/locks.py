"""Keyed locks: one writer a target of lldap.

MariaDB answers concurrent changes of one group with deadlocks, and a diff is only worth
something while nobody else changes its target. So all calls that may change a target, from the
last read to the confirmation, are made under its key.
"""

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

Key = tuple[str, str]


class _Lock:
    """Shared or exclusive hold on one key. Guarded by the condition of its KeyedLocks."""

    __slots__ = ("exclusive", "line", "shared")

    def __init__(self) -> None:
        self.exclusive = False
        self.shared = 0
        self.line: deque[object] = deque()  # who waits, in the order in which they came

    def free_for(self, who: object, *, exclusive: bool) -> bool:
        """Whether it is `who`'s turn, and the holders let it in."""
        return self.line[0] is who and not self.exclusive and not (exclusive and self.shared)

    def take(self, *, exclusive: bool) -> None:
        """One more holder."""
        if exclusive:
            self.exclusive = True
        else:
            self.shared += 1

    def give(self, *, exclusive: bool) -> None:
        """One holder less."""
        if exclusive:
            self.exclusive = False
        else:
            self.shared -= 1

    def __bool__(self) -> bool:
        """Whether anybody holds it or waits for it."""
        return self.exclusive or self.shared > 0 or bool(self.line)


class KeyedLocks:
    """Locks that exist as long as somebody uses them. Any thread; not reentrant.

    Keys are taken in sorted order, so that two callers never wait for each other. Shared
    holders of a key exclude exclusive ones only. First come, first served a key: nobody is
    overtaken for ever, neither who wants it alone nor who would share it.
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
        me = object()
        with self._condition:
            lock = self._locks.setdefault(key, _Lock())
            lock.line.append(me)
            try:
                while not lock.free_for(me, exclusive=exclusive):
                    self._condition.wait()
                lock.take(exclusive=exclusive)
            finally:
                lock.line.remove(me)
                self._let_next_look_locked(key)

    def _release(self, taken: list[Key], wanted: dict[Key, bool]) -> None:
        with self._condition:
            for key in taken:
                self._locks[key].give(exclusive=wanted[key])
                self._let_next_look_locked(key)

    def _let_next_look_locked(self, key: Key) -> None:
        lock = self._locks[key]
        if lock.line:
            self._condition.notify_all()
        elif not lock:
            del self._locks[key]

    def __len__(self) -> int:
        with self._condition:
            return len(self._locks)
