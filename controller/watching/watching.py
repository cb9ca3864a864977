"""From what informers tell to keys in the queues: whom a change concerns."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from controller.api import (
    BUILT_IN_ANNOTATION,
    DRY_RUN_ANNOTATION,
    INSTANCE_LABEL,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_USER,
    Kind,
)
from controller.harness.resource import Object, Resource, is_on
from controller.harness.statuswriter import is_ready
from controller.ownership.service import OUR_ANNOTATIONS, Service, service_of
from controller.watching.cache import Cache
from controller.watching.indexes import ATTRIBUTE, TARGET, indexes, on_other_target, targets_of
from controller.watching.ownwrites import OwnWrites

PRIORITY_CHANGED = 0  # somebody changed something and waits for it
PRIORITY_WAITED = -50  # changed while lldap was down: before what nobody changed
PRIORITY_LISTED = -100  # start-up lists, resyncs, and what nobody waits for

Enqueue = Callable[[str, str, int], None]  # kind, namespace/name, priority

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _View:
    """What of an object decides the fate of others."""

    held: frozenset[str] = _NONE  # in lldap, until it is released
    claims: frozenset[str] = _NONE  # by its label; nothing in dry-run
    living: frozenset[str] = _NONE  # the same, while it is not being deleted
    names: frozenset[str] = _NONE  # attributes that it uses, while it is not being deleted
    identity: tuple[object, ...] = ()  # what its claims stand for now


_NOTHING = _View()


class KindHandler:
    """Handler of one kind's informer: enqueues the object, its rivals and its dependents.

    | what happens to an object | who is looked at again |
    |---|---|
    | somebody changes its spec, instance label or one of our annotations, or deletes it | itself |
    | somebody else writes its status or its finalizers | itself, at low priority |
    | our own write comes back; nothing that counts changed | nobody |
    | it goes, is being deleted or released, or claims a target no more | its rivals for that |
    | it comes, goes, or its account (schema: Ready) becomes another | who refers to it |
    | it is Ready for the first time after it claimed another target | who refers to that |
    | it no longer names an attribute | the attribute's schema, which may wait for that |

    One thread. `enqueue` is for what a person did. `wake` is for what the operator did: who has
    not had a turn yet, of the thousands of a start, is not to overtake the others for it. `gone`
    is told the uid of an object that is not there any more, `left` the kind and key of one that
    another instance has from now on.
    """

    def __init__(
        self,
        kind: Kind,
        instance: str,
        *,
        cache: Cache,
        own_writes: OwnWrites,
        enqueue: Enqueue,
        wake: Enqueue,
        gone: Callable[[str], None],
        left: Callable[[str, str], None],
    ) -> None:
        self._kind = kind
        self._instance = instance
        self._cache = cache
        self._own_writes = own_writes
        self._enqueue = enqueue
        self._wake = wake
        self._gone = gone
        self._left = left
        self._functions = indexes(kind, instance)
        self._targets = targets_of(kind)
        self._moving: set[str] = set()  # uids of objects that claim what lldap may not have yet

    def on_add(self, obj: Object, initial: bool) -> None:
        """See informers.Handler. At the start all come by themselves."""
        if self._is_foreign(obj):
            return
        priority = PRIORITY_LISTED if initial else PRIORITY_CHANGED
        self._enqueue(self._kind.kind, _key(obj), priority)
        if (obj.get("status") or {}).get("uuid") and not is_ready(obj):
            self._moving.add(obj["metadata"]["uid"])  # changed while nobody was there
        if not initial:
            self._tell_affected(self._enqueue, _key(obj), _NOTHING, self._view(obj))

    def on_update(self, old: Object, new: Object) -> None:
        """See informers.Handler."""
        asks = _asked(old) != _asked(new)
        if asks and self._is_foreign(new):
            self._left(self._kind.kind, _key(new))
        priority = self._priority(old, new, asks=asks)
        if priority is not None and not self._is_foreign(new):
            self._enqueue(self._kind.kind, _key(new), priority)
        if asks or self._shows_others(old) != self._shows_others(new):
            tell = self._enqueue if asks else self._wake
            self._tell_affected(tell, _key(new), self._view(old), self._view(new))
        if asks and list(self._targets(old)) != list(self._targets(new)):
            self._moving.add(new["metadata"]["uid"])
        elif new["metadata"]["uid"] in self._moving and is_ready(new):
            self._tell_arrived(new)

    def _tell_arrived(self, obj: Object) -> None:
        """Who refers to a renamed group was woken by the new name, which lldap has only now."""
        self._moving.discard(obj["metadata"]["uid"])
        for claim in self._view(obj).claims:
            for other in self._dependents(claim):
                self._enqueue(other.kind, other.key, PRIORITY_CHANGED)

    def on_delete(self, obj: Object, final_state_unknown: bool) -> None:
        """See informers.Handler. Nothing in lldap is deleted on this word."""
        del final_state_unknown
        self._gone(obj["metadata"]["uid"])
        self._moving.discard(obj["metadata"]["uid"])
        if self._is_foreign(obj):
            return
        self._enqueue(self._kind.kind, _key(obj), PRIORITY_LISTED)
        self._tell_affected(self._enqueue, _key(obj), self._view(obj, gone=True), _NOTHING)

    def _is_foreign(self, obj: Object) -> bool:
        return service_of(obj, self._instance) is Service.FOREIGN

    def _priority(self, old: Object, new: Object, *, asks: bool) -> int | None:
        """How soon the object itself is looked at; None: it need not be.

        A list may show a person's change and our own later write as one: so the change counts
        even if the version is ours.
        """
        echo = self._own_writes.is_echo(new)
        if asks:
            return PRIORITY_CHANGED
        if echo or _written(old) == _written(new):
            return None
        return PRIORITY_LISTED

    def _view(self, obj: Object, *, gone: bool = False) -> _View:
        """What others see of it; `gone`: all that has been there until now."""
        targets = frozenset(self._functions[TARGET](obj))
        claims = _NONE if is_on(_annotation(obj, DRY_RUN_ANNOTATION)) else targets
        held = _NONE if self._is_foreign(obj) else frozenset(self._targets(obj))
        names = (
            frozenset(self._functions[ATTRIBUTE](obj)) if ATTRIBUTE in self._functions else _NONE
        )
        lives = gone or "deletionTimestamp" not in obj["metadata"]
        return _View(
            held=held,
            claims=claims,
            living=claims if lives else _NONE,
            names=names if lives else _NONE,
            identity=self._identity(obj),
        )

    def _identity(self, obj: Object) -> tuple[object, ...]:
        if self._kind is LLDAP_ATTRIBUTE_SCHEMA:
            return (is_ready(obj),)
        uuid = (obj.get("status") or {}).get("uuid")
        return (uuid, _annotation(obj, BUILT_IN_ANNOTATION))

    def _shows_others(self, obj: Object) -> tuple[object, ...]:
        """What a view is made of beside `_asked`: most echoes change neither, and end there."""
        return (*self._identity(obj), (obj.get("status") or {}).get("instance"))

    def _tell_affected(self, tell: Enqueue, key: str, old: _View, new: _View) -> None:
        if old == new:
            return
        for other in self._affected(old, new):
            if (other.kind, other.key) != (self._kind.kind, key):
                tell(other.kind, other.key, PRIORITY_CHANGED)

    def _affected(self, old: _View, new: _View) -> Iterable[Resource]:
        let_go = (old.held - new.held) | (old.claims - new.claims) | (old.living - new.living)
        for claim in let_go:
            yield from self._rivals(claim)
        met = old.claims ^ new.claims
        if old.identity != new.identity:
            met |= old.claims | new.claims
        for claim in met:
            yield from self._dependents(claim)
        for name in old.names - new.names:
            yield from self._cache.rivals(LLDAP_ATTRIBUTE_SCHEMA, name)

    def _rivals(self, claim: str) -> Iterable[Resource]:
        yield from self._cache.rivals(self._kind, claim)
        if self._kind is LLDAP_ATTRIBUTE_SCHEMA:  # one type a name, for users and groups
            yield from self._cache.rivals(self._kind, on_other_target(claim))

    def _dependents(self, claim: str) -> Iterable[Resource]:
        """Objects of other kinds that refer to what is claimed."""
        if self._kind is LLDAP_USER:
            return self._cache.memberships_of_user(claim)
        if self._kind is LLDAP_GROUP:
            return self._cache.memberships_of_group(claim)
        if self._kind is LLDAP_ATTRIBUTE_SCHEMA:
            return self._cache.naming(claim)
        return ()


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


def _annotation(obj: Object, name: str) -> str | None:
    value: str | None = (obj["metadata"].get("annotations") or {}).get(name)
    return value


def _asked(obj: Object) -> tuple[object, ...]:
    """What people ask of us with an object."""
    metadata = obj["metadata"]
    label = (metadata.get("labels") or {}).get(INSTANCE_LABEL)
    annotations = [_annotation(obj, name) for name in OUR_ANNOTATIONS]
    return (metadata.get("generation"), label, "deletionTimestamp" in metadata, *annotations)


def _written(obj: Object) -> tuple[object, ...]:
    """What operators write to an object."""
    return (obj["metadata"].get("finalizers"), obj.get("status"))
