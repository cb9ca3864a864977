"""Finds who changes an object that a store shares with everybody."""

import orjson

from informers import Object, Store, key_of


class MutationDetector:
    """A handler that remembers each state it was told; `check` finds those that were changed.

    Objects from a store are read-only by contract: copying each for each reader would cost more
    than all the rest. Tests hold the contract with this.
    """

    def __init__(self) -> None:
        self._seen: list[tuple[Object, bytes]] = []

    def on_add(self, obj: Object, initial: bool) -> None:
        self._seen.append((obj, orjson.dumps(obj)))

    def on_update(self, old: Object, new: Object) -> None:
        self._seen.append((new, orjson.dumps(new)))

    def on_delete(self, obj: Object, final_state_unknown: bool) -> None:
        pass

    def check(self, store: Store) -> None:
        """Raise if an object that was told, or is in `store`, is not what it was."""
        changed = {key_of(obj) for obj, then in self._seen if orjson.dumps(obj) != then}
        assert not changed, f"objects of the store were changed: {sorted(changed)}"
        told = {id(obj) for obj, _ in self._seen}
        assert all(id(obj) in told for obj in store.list())
