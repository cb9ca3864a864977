"""The objects of one kind, by key."""

import threading
from collections.abc import Mapping

from informers.objects import Object, Objects


class Store:
    """Objects by key (see objects.key_of). Any thread.

    Keeps references, never copies: what it gives out is shared and read-only. Each write is one
    step for readers, a `replace` too.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _objects and, in an Indexer, the indexes of them
        self._objects: dict[str, Object] = {}

    def __len__(self) -> int:
        return len(self._objects)

    def get(self, key: str) -> Object | None:
        """The object, or None."""
        with self._lock:
            return self._objects.get(key)

    def keys(self) -> list[str]:
        """All keys, in no order."""
        with self._lock:
            return list(self._objects)

    def list(self) -> Objects:
        """All objects, in no order."""
        with self._lock:
            return list(self._objects.values())

    def snapshot(self, prefix: str = "") -> dict[str, Object]:
        """All objects whose key begins with `prefix`, by key."""
        with self._lock:
            return self._snapshot_locked(prefix)

    def set(self, key: str, obj: Object) -> None:
        """Put `obj` in the place of what is there."""
        with self._lock:
            self._set_locked(key, obj)

    def delete(self, key: str) -> None:
        """Remove what is there; nothing if nothing is."""
        with self._lock:
            self._delete_locked(key)

    def replace(self, objects: Mapping[str, Object], prefix: str = "") -> None:
        """Make `objects` all that there is, of the keys that begin with `prefix`."""
        with self._lock:
            for key in self._snapshot_locked(prefix).keys() - objects.keys():
                self._delete_locked(key)
            for key, obj in objects.items():
                self._set_locked(key, obj)

    def _snapshot_locked(self, prefix: str) -> dict[str, Object]:
        if not prefix:
            return self._objects.copy()
        return {key: obj for key, obj in self._objects.items() if key.startswith(prefix)}

    def _set_locked(self, key: str, obj: Object) -> None:
        self._objects[key] = obj

    def _delete_locked(self, key: str) -> None:
        self._objects.pop(key, None)
