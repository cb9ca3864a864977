"""Events that wait to be sent: the oldest first, and how many there are of an object."""

from collections import Counter
from collections.abc import Iterator

from controller.events.eventseries import SeriesKey


class Unsent:
    """An ordered set of keys of series. The recorder's lock guards it."""

    def __init__(self) -> None:
        self._keys: dict[SeriesKey, None] = {}  # oldest first
        self._of: Counter[str] = Counter()  # by uid

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: SeriesKey) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[SeriesKey]:
        return iter(self._keys)

    def add(self, key: SeriesKey) -> None:
        """Put it at the end; it is not there yet."""
        self._keys[key] = None
        self._of[key[0]] += 1

    def remove(self, key: SeriesKey) -> None:
        """Take it out. KeyError: it is not there."""
        del self._keys[key]
        self._of[key[0]] -= 1
        if not self._of[key[0]]:
            del self._of[key[0]]

    def least_needed(self, key: SeriesKey) -> SeriesKey:
        """What is to go so that `key` can stay: its own object's oldest, else the oldest of all.

        Only of an object with several it has to be looked for: most have one.
        """
        alone = self._of[key[0]] == 1
        return next(each for each in self._keys if alone or each[0] == key[0])
