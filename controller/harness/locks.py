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


class _Waiter:
    """Stands in the line of one key."""

    __slots__ = ("admitted", "exclusive")

    def __init__(self, *, exclusive: bool) -> None:
        self.exclusive = exclusive
        self.admitted = threading.Event()


class _Lock:
    """Shared or exclusive hold on one key. Guarded by the lock of its KeyedLocks."""

    __slots__ = ("exclusive", "line", "shared")

    def __init__(self) -> None:
        self.exclusive = False
        self.shared = 0
        self.line: deque[_Waiter] = deque()  # in the order in which they came

    def take(self, *, exclusive: bool) -> bool:
        """One more holder, if those who hold it let it in."""
        if self.exclusive or (exclusive and self.shared):
            return False
        if exclusive:
            self.exclusive = True
        else:
            self.shared += 1
        return True

    def give(self, *, exclusive: bool) -> None:
        """One holder less."""
        if exclusive:
            self.exclusive = False
        else:
            self.shared -= 1

    def admit(self) -> None:
        """Let in who is next, as many as may hold it together."""
        while self.line and self.take(exclusive=self.line[0].exclusive):
            self.line.popleft().admitted.set()

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
        self._guard = threading.Lock()  # guards _locks and all entries in it
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
            for key in taken:
                self._release(key, exclusive=wanted[key])

    def _acquire(self, key: Key, *, exclusive: bool) -> None:
        with self._guard:
            lock = self._locks.setdefault(key, _Lock())
            if not lock.line and lock.take(exclusive=exclusive):
                return
            me = _Waiter(exclusive=exclusive)
            lock.line.append(me)
        try:
            me.admitted.wait()
        except BaseException:
            self._give_up(key, me)
            raise

    def _give_up(self, key: Key, waiter: _Waiter) -> None:
        """An exception that somebody set on the thread: the next one must not wait for it."""
        with self._guard:
            admitted = waiter.admitted.is_set()
            if not admitted:
                self._locks[key].line.remove(waiter)
                self._let_next_in_locked(key)
        if admitted:
            self._release(key, exclusive=waiter.exclusive)

    def _release(self, key: Key, *, exclusive: bool) -> None:
        with self._guard:
            self._locks[key].give(exclusive=exclusive)
            self._let_next_in_locked(key)

    def _let_next_in_locked(self, key: Key) -> None:
        lock = self._locks[key]
        lock.admit()
        if not lock:
            del self._locks[key]

    def __len__(self) -> int:
        with self._guard:
            return len(self._locks)
