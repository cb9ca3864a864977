"""From what informers tell to keys in the queues: whom a change concerns."""

from collections.abc import Callable, Iterable, Mapping

from controller.api import (
    DRY_RUN_ANNOTATION,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_USER,
    Kind,
)
from controller.cache import Cache
from controller.indexes import ATTRIBUTE, TARGET, IndexFunction, indexes
from controller.ownwrites import OwnWrites
from controller.resource import Object, Resource
from controller.service import Service, service
from controller.statuswriter import is_ready

PRIORITY_CHANGED = 0  # somebody changed something and waits for it
PRIORITY_LISTED = -100  # start-up lists, resyncs, and what nobody waits for

Enqueue = Callable[[str, str, int], None]  # kind, namespace/name, priority


class KindHandler:
    """Handler of one kind's informer: enqueues the object, its rivals and its dependents.

    One thread. `dependents` gives the objects of other kinds that an object's fate decides.
    """

    def __init__(
        self,
        kind: Kind,
        instance: str,
        cache: Cache,
        own_writes: OwnWrites,
        enqueue: Enqueue,
    ) -> None:
        self._kind = kind
        self._instance = instance
        self._cache = cache
        self._own_writes = own_writes
        self._enqueue = enqueue
        self._functions = indexes(kind, instance)

    def on_add(self, obj: Object, initial: bool) -> None:
        """See informers.Handler."""
        if service(Resource(obj), self._instance) is Service.FOREIGN:
            return
        priority = PRIORITY_LISTED if initial else PRIORITY_CHANGED
        self._enqueue(self._kind.kind, _key(obj), priority)
        if not initial:
            self._enqueue_affected([obj])

    def on_update(self, old: Object, new: Object) -> None:
        """See informers.Handler."""
        echo = self._own_writes.is_echo(new)
        if not echo and service(Resource(new), self._instance) is not Service.FOREIGN:
            priority = PRIORITY_CHANGED if _changed_by_person(old, new) else PRIORITY_LISTED
            self._enqueue(self._kind.kind, _key(new), priority)
        if _fate(old) != _fate(new) or self._claims(old) != self._claims(new):
            self._enqueue_affected([old, new])

    def on_delete(self, obj: Object, final_state_unknown: bool) -> None:
        """See informers.Handler. Nothing in lldap is deleted on this word."""
        del final_state_unknown
        self._own_writes.forget(obj["metadata"]["uid"])
        self._enqueue(self._kind.kind, _key(obj), PRIORITY_LISTED)
        self._enqueue_affected([obj])

    def _claims(self, obj: Object) -> list[str]:
        return [value for function in self._functions.values() for value in function(obj)]

    def _enqueue_affected(self, states: Iterable[Object]) -> None:
        own = {_key(state) for state in states}
        for state in states:
            for target in self._functions[TARGET](state):
                for rival in self._cache.rivals(self._kind, target):
                    if rival.key not in own:
                        self._enqueue(self._kind.kind, rival.key, PRIORITY_CHANGED)
            for dependent in _dependents(self._kind, self._functions, self._cache, state):
                self._enqueue(dependent.kind, dependent.key, PRIORITY_CHANGED)


class SecretHandler:
    """Handler of the Secrets' informer: a changed Secret concerns the users that name it."""

    def __init__(self, cache: Cache, enqueue: Enqueue) -> None:
        self._cache = cache
        self._enqueue = enqueue

    def on_add(self, obj: Object, initial: bool) -> None:
        """See informers.Handler. At the start the users come by themselves."""
        if not initial:
            self._tell(obj)

    def on_update(self, old: Object, new: Object) -> None:
        """See informers.Handler."""
        del old
        self._tell(new)

    def on_delete(self, obj: Object, final_state_unknown: bool) -> None:
        """See informers.Handler."""
        del final_state_unknown
        self._tell(obj)

    def _tell(self, secret: Object) -> None:
        for user in self._cache.users_of_secret(_key(secret)):
            self._enqueue(LLDAP_USER.kind, user.key, PRIORITY_CHANGED)


def _key(obj: Object) -> str:
    metadata = obj["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def _changed_by_person(old: Object, new: Object) -> bool:
    """Whether more changed than a status."""
    names = ("generation", "labels", "annotations", "deletionTimestamp", "finalizers")
    return any(old["metadata"].get(name) != new["metadata"].get(name) for name in names)


def _fate(obj: Object) -> tuple[object, ...]:
    """What of an object others depend on."""
    metadata, status = obj["metadata"], obj.get("status") or {}
    annotations = metadata.get("annotations") or {}
    return (
        status.get("uuid"),
        status.get("instance"),
        is_ready(obj),
        "deletionTimestamp" in metadata,
        annotations.get(DRY_RUN_ANNOTATION),
    )


def _dependents(
    kind: Kind, functions: Mapping[str, IndexFunction], cache: Cache, obj: Object
) -> Iterable[Resource]:
    """Objects of other kinds that have to be looked at again when this one changes."""
    if kind is LLDAP_USER or kind is LLDAP_GROUP:
        for target in functions[TARGET](obj):
            members = (
                cache.memberships_of_user if kind is LLDAP_USER else (cache.memberships_of_group)
            )
            yield from members(target)
        for claim in functions[ATTRIBUTE](obj):  # a schema that waits until nobody names it
            yield from cache.rivals(LLDAP_ATTRIBUTE_SCHEMA, claim)
    elif kind is LLDAP_ATTRIBUTE_SCHEMA:
        for claim in functions[TARGET](obj):
            yield from cache.naming(claim)
