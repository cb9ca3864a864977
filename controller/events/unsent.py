"""Events that wait to be sent: the oldest first, and of which object."""

from collections.abc import Iterator

from controller.events.eventseries import SeriesKey


class Unsent:
    """An ordered set of keys of series. The recorder's lock guards it.

    Everything but going through it takes the same time however many there are.
    """

    def __init__(self) -> None:
        self._keys: dict[SeriesKey, None] = {}  # oldest first
        self._by_uid: dict[str, dict[SeriesKey, None]] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: SeriesKey) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[SeriesKey]:
        return iter(self._keys)

    def add(self, key: SeriesKey) -> None:
        """Put it at the end."""
        self._keys[key] = None
        self._by_uid.setdefault(key[0], {})[key] = None

    def remove(self, key: SeriesKey) -> None:
        """Take it out. KeyError: it is not there."""
        del self._keys[key]
        own = self._by_uid[key[0]]
        del own[key]
        if not own:
            del self._by_uid[key[0]]

    def least_needed(self, key: SeriesKey) -> SeriesKey:
        """What is to go so that `key` can stay: its own object's oldest, else the oldest of all."""
        oldest = next(iter(self._by_uid[key[0]]))
        return oldest if oldest != key else next(iter(self._keys))
