"""Keys that become ready later."""

from collections.abc import Hashable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

# Superseded heap entries that are not worth a rebuild.
_SLACK = 64


@dataclass(slots=True)
class _Entry:
    due: float
    sequence: int
    priority: int


class Schedule(Generic[K]):
    """One entry a key: the earliest time and the highest priority that were asked for.

    No lock of its own. A key that left is not referenced any more, and the heap never holds
    more than twice the live entries (and a little), however often keys are rescheduled.
    """

    def __init__(self) -> None:
        self._entries: dict[K, _Entry] = {}
        # The heap holds (due, sequence), not keys, so that a superseded entry keeps no key
        # alive until its time comes; its sequence is then missing in _keys. Its top is live.
        self._keys: dict[int, K] = {}
        self._heap: list[tuple[float, int]] = []
        self._sequence = count()

    def put(self, key: K, due: float, priority: int) -> None:
        """Have `key` due at `due`, unless it is due earlier already."""
        entry = self._entries.get(key)
        if entry is not None:
            priority = entry.priority = max(entry.priority, priority)
            if entry.due <= due:
                return
            del self._keys[entry.sequence]
        sequence = next(self._sequence)
        self._entries[key] = _Entry(due, sequence, priority)
        self._keys[sequence] = key
        heappush(self._heap, (due, sequence))
        self._tidy()

    def remove(self, key: K) -> tuple[int, float] | None:
        """Forget `key` and say its priority and due time; None when it is not here."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        del self._keys[entry.sequence]
        self._tidy()
        return entry.priority, entry.due

    def pop_due(self, now: float) -> list[tuple[K, int, float]]:
        """Take (key, priority, due) of all that are due at `now`, in the order of their times."""
        taken = []
        while self._heap and self._heap[0][0] <= now:
            key = self._keys.pop(heappop(self._heap)[1])
            entry = self._entries.pop(key)
            taken.append((key, entry.priority, entry.due))
            self._tidy()
        return taken

    def next_due(self) -> float | None:
        """When the earliest key is due."""
        return self._heap[0][0] if self._heap else None

    def clear(self) -> None:
        """Forget all keys."""
        self._entries.clear()
        self._keys.clear()
        self._heap.clear()

    def _tidy(self) -> None:
        """Make the top live again and bound the superseded entries below it."""
        if len(self._heap) > 2 * len(self._keys) + _SLACK:
            self._heap = [(entry.due, entry.sequence) for entry in self._entries.values()]
            heapify(self._heap)
        while self._heap and self._heap[0][1] not in self._keys:
            heappop(self._heap)

    def __len__(self) -> int:
        return len(self._entries)
