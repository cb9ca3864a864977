"""What handlers are told, and how a new list becomes that."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from informers.objects import Object, key_of, same_identity, unchanged


class Handler(Protocol):
    """Told what happened to the objects of an informer.

    Calls to one handler come one after the other, those about one object in their true order. The
    store is already at least as new as what is told: in `on_delete` it no longer has the object
    (or has its successor). Handlers only enqueue keys: what they are too slow for piles up.
    Objects are shared: read-only.
    """

    def on_add(self, obj: Object, initial: bool) -> None:
        """An object is there; `initial`: it was when the handler, or the informer, began."""
        ...

    def on_update(self, old: Object, new: Object) -> None:
        """An object changed; both have the same uid."""
        ...

    def on_delete(self, obj: Object, final_state_unknown: bool) -> None:
        """An object is gone; `final_state_unknown`: nobody saw it go, `obj` may be stale."""
        ...


@dataclass(slots=True, eq=False)
class Added:
    """Told as `on_add`."""

    obj: Object
    initial: bool

    def tell(self, handler: Handler) -> None:
        """Call the handler."""
        handler.on_add(self.obj, self.initial)


@dataclass(slots=True, eq=False)
class Updated:
    """Told as `on_update`."""

    old: Object
    obj: Object

    def tell(self, handler: Handler) -> None:
        """Call the handler."""
        handler.on_update(self.old, self.obj)


@dataclass(slots=True, eq=False)
class Deleted:
    """Told as `on_delete`; client-go's DeletedFinalStateUnknown is one with the flag set."""

    obj: Object
    final_state_unknown: bool

    def tell(self, handler: Handler) -> None:
        """Call the handler."""
        handler.on_delete(self.obj, self.final_state_unknown)


Notification = Added | Updated | Deleted


def notifications(old: Object | None, new: Object, *, initial: bool = False) -> list[Notification]:
    """What `new` in the place of `old` means; nothing if it is the same.

    Another uid under the same name: the old object was deleted unseen, and the name taken again.
    """
    if old is None:
        return [Added(new, initial)]
    if unchanged(old, new):
        return []
    if same_identity(old, new):
        return [Updated(old, new)]
    return [Deleted(old, True), Added(new, initial)]


def deletion(old: Object, last: Object) -> Deleted:
    """A DELETED event with `last` for what we knew as `old`."""
    if same_identity(old, last):
        return Deleted(last, False)
    return Deleted(old, True)


def replacement(
    known: Mapping[str, Object], fresh: dict[str, Object], *, initial: bool
) -> list[Notification]:
    """What a whole list `fresh` in the place of `known` means: first all that is gone.

    Of objects that did not change, `fresh` gets the known ones: the copies can be let go.
    """
    gone: list[Notification] = [Deleted(known[key], True) for key in known.keys() - fresh.keys()]
    changed: list[Notification] = []
    for key, obj in fresh.items():
        old = known.get(key)
        found = notifications(old, obj, initial=initial)
        if not found and old is not None:
            fresh[key] = old
        changed += found
    return gone + changed


def by_key(objects: list[Object]) -> dict[str, Object]:
    """The objects of a list by key."""
    return {key_of(obj): obj for obj in objects}
