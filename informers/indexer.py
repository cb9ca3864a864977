"""A store that also finds objects by what they hold."""

from collections.abc import Callable, Iterable, Mapping

from informers.objects import Object, Objects
from informers.store import Store

IndexFunc = Callable[[Object], Iterable[str]]
"""The values under which an object is found. Pure and fast: it runs under the store's lock.

It must not raise: an error of it is a fault of the program and ends the reflector's step.
"""


class Indexer(Store):
    """A Store with named indexes, always in step with the objects. Any thread."""

    def __init__(self, indexers: Mapping[str, IndexFunc] | None = None) -> None:
        super().__init__()
        self._indexes = {name: _Index(of) for name, of in (indexers or {}).items()}

    def by_index(self, name: str, value: str) -> Objects:
        """The objects for which index `name` gives `value`, in no order.

        KeyError: there is no such index.
        """
        with self._lock:
            return [self._objects[key] for key in self._indexes[name].keys(value)]

    def keys_by_index(self, name: str, value: str) -> list[str]:
        """The keys of `by_index`."""
        with self._lock:
            return list(self._indexes[name].keys(value))

    def index_values(self, name: str) -> list[str]:
        """The values under which index `name` finds anything. KeyError: there is no such index."""
        with self._lock:
            return self._indexes[name].values()

    def _set_locked(self, key: str, obj: Object) -> None:
        old = self._objects.get(key)
        if old is obj:
            return
        for index in self._indexes.values():
            index.move(key, old, obj)
        self._objects[key] = obj

    def _delete_locked(self, key: str) -> None:
        old = self._objects.pop(key, None)
        if old is not None:
            for index in self._indexes.values():
                index.move(key, old, None)


class _Index:
    """Value to keys. Most values have one key: it is kept bare, a set costs 200 bytes."""

    __slots__ = ("_keys", "_of")

    def __init__(self, of: IndexFunc) -> None:
        self._of = of
        self._keys: dict[str, str | set[str]] = {}

    def keys(self, value: str) -> Iterable[str]:
        """The keys that have `value`."""
        found = self._keys.get(value, ())
        return (found,) if isinstance(found, str) else found

    def values(self) -> list[str]:
        """The values that any key has."""
        return list(self._keys)

    def move(self, key: str, old: Object | None, new: Object | None) -> None:
        """`key` held `old` and holds `new`."""
        before = tuple(self._of(old)) if old is not None else ()
        after = tuple(self._of(new)) if new is not None else ()
        if before == after:  # so it is with most events: not worth a set
            return
        for value in {*before}.difference(after):
            self._remove(value, key)
        for value in {*after}.difference(before):
            self._add(value, key)

    def _add(self, value: str, key: str) -> None:
        found = self._keys.setdefault(value, key)
        if isinstance(found, set):
            found.add(key)
        elif found != key:
            self._keys[value] = {found, key}

    def _remove(self, value: str, key: str) -> None:
        found = self._keys[value]
        if isinstance(found, set):
            found.discard(key)
        if found in (key, set()):
            del self._keys[value]
