"""Read access to what an informer has cached."""

from collections.abc import Sequence

from informers.indexer import Indexer
from informers.objects import Object, Objects, object_key


class Lister:
    """Reads a store; never the server. Any thread. Objects are shared: read-only."""

    __slots__ = ("_store",)

    def __init__(self, store: Indexer) -> None:
        self._store = store

    def get(self, namespace: str | None, name: str) -> Object | None:
        """The object, or None; `namespace` is None for what lives in no namespace."""
        return self._store.get(object_key(namespace, name))

    def list(self, namespace: str | None = None) -> Objects:
        """All objects, or those of a namespace, in no order."""
        if namespace is None:
            return self._store.list()
        return list(self._store.snapshot(f"{namespace}/").values())

    def by_index(self, name: str, value: str) -> Objects:
        """The objects for which index `name` gives `value`. KeyError: there is no such index."""
        return self._store.by_index(name, value)

    def index_values(self, name: str) -> Sequence[str]:
        """The values under which index `name` finds anything. KeyError: there is no such index."""
        return self._store.index_values(name)
