"""Keys that are ready to be taken, in the order in which they are."""

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Ready(Generic[K]):
    """The highest priority first, first in first out within a priority.

    No lock of its own. Every call is O(1) in the number of keys; a key that left is not
    referenced any more.
    """

    def __init__(self) -> None:
        # A FIFO for each priority that has keys. OrderedDict, because it takes from the front and
        # from the middle in O(1): a plain dict scans its holes, a deque cannot let go of a
        # key whose priority is raised.
        self._fifos: dict[int, OrderedDict[K, None]] = {}
        self._priorities: list[int] = []  # the keys of _fifos, ascending

    def push(self, key: K, priority: int) -> None:
        """Put `key`, which must not be here yet, at the end of its priority."""
        fifo = self._fifos.get(priority)
        if fifo is None:
            fifo = self._fifos[priority] = OrderedDict()
            insort(self._priorities, priority)
        fifo[key] = None

    def pop(self) -> tuple[K, int]:
        """Take the next key and its priority; IndexError when there is none."""
        priority = self._priorities[-1]
        fifo = self._fifos[priority]
        key, _ = fifo.popitem(last=False)
        if not fifo:
            self._priorities.pop()
            del self._fifos[priority]
        return key, priority

    def remove(self, key: K, priority: int) -> None:
        """Take `key` out of `priority`; KeyError when it is not there."""
        fifo = self._fifos[priority]
        del fifo[key]
        if not fifo:
            del self._priorities[bisect_left(self._priorities, priority)]
            del self._fifos[priority]

    def head(self) -> int | None:
        """The priority of the next key."""
        return self._priorities[-1] if self._priorities else None

    def sizes(self) -> dict[int, int]:
        """How many keys each priority has; priorities without keys are absent."""
        return {priority: len(fifo) for priority, fifo in self._fifos.items()}

    def __len__(self) -> int:
        return sum(map(len, self._fifos.values()))

    def __bool__(self) -> bool:
        return bool(self._priorities)
