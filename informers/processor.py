"""The one place where a store changes and handlers are told of it."""

import threading
from collections.abc import Iterable, Sequence

from informers.events import Added, Notification, by_key, deletion, notifications, replacement
from informers.indexer import Indexer
from informers.listener import Registration
from informers.objects import Object, key_of, unchanged
from informers.transform import Transform, compacted


class Processor:
    """Applies to `store` what reflectors bring, and queues what it means for every handler.

    `namespaces` are those that have a reflector of their own, or "" for one reflector of all.
    Any thread.
    """

    def __init__(self, store: Indexer, transform: Transform, namespaces: Iterable[str]) -> None:
        self._store = store
        self._transform = transform
        # Guards _registrations, _unlisted and _stopped. Whoever changes the store holds it until
        # the notifications are queued: so their order is that of the changes, and a handler that
        # is added meanwhile misses none and is told none twice.
        self._lock = threading.Lock()
        self._registrations: list[Registration] = []
        self._unlisted = set(namespaces)
        self._stopped = False

    @property
    def registrations(self) -> tuple[Registration, ...]:
        """All that were added."""
        with self._lock:
            return tuple(self._registrations)

    def has_synced(self) -> bool:
        """Whether every namespace has been listed."""
        with self._lock:
            return not self._unlisted

    def add(self, registration: Registration) -> None:
        """Queue all that the store has, then all that comes. RuntimeError after `stop`."""
        with self._lock:
            if self._stopped:
                raise RuntimeError(f"{registration.name} has been stopped")
            self._registrations.append(registration)
            registration.enqueue_locked([Added(obj, True) for obj in self._store.list()])
            if not self._unlisted:
                registration.synced_locked()

    def stop(self) -> None:
        """Queue nothing more, and drop what is queued."""
        with self._lock:
            self._stopped = True
            for registration in self._registrations:
                registration.stop()

    def receive(self, objects: list[Object]) -> list[Object]:
        """What is kept of one page of a list, which is emptied.

        Of an object that is known as it is listed it is the known one: most of a list that comes
        again is of those. Nobody else changes what this reflector lists.
        """
        listed = by_key([self._transform(obj) for obj in objects])
        objects.clear()
        known = {
            key: old
            for key, obj in listed.items()
            if (old := self._store.get(key)) is not None and unchanged(old, obj)
        }
        news = [key for key in listed if key not in known]
        return [*known.values(), *compacted([listed.pop(key) for key in news])]

    def replace(self, namespace: str, objects: list[Object]) -> None:
        """`objects`, all of them received, are what there is in `namespace`; "" is everywhere."""
        fresh = by_key(objects)
        objects.clear()
        prefix = f"{namespace}/" if namespace else ""
        with self._lock:
            initial = namespace in self._unlisted
            found = replacement(self._store.snapshot(prefix), fresh, initial=initial)
            self._store.replace(fresh, prefix)
            woken = self._queue_locked(found)
            self._unlisted.discard(namespace)
            if not self._unlisted:
                for registration in self._registrations:
                    registration.synced_locked()
        _wake(woken)

    def upsert(self, obj: Object) -> None:
        """Added or modified: which of the two, the store decides."""
        obj = self._transform(obj)
        key = key_of(obj)
        with self._lock:
            found = notifications(self._store.get(key), obj)
            if not found:
                return
            self._store.set(key, obj)
            woken = self._queue_locked(found)
        _wake(woken)

    def delete(self, obj: Object) -> None:
        """Deleted; nobody is told of what nobody knew."""
        obj = self._transform(obj)
        key = key_of(obj)
        with self._lock:
            old = self._store.get(key)
            if old is None:
                return
            self._store.delete(key)
            woken = self._queue_locked([deletion(old, obj)])
        _wake(woken)

    def _queue_locked(self, found: Sequence[Notification]) -> list[Registration]:
        return [each for each in self._registrations if each.enqueue_locked(found)]


def _wake(registrations: Sequence[Registration]) -> None:
    for registration in registrations:
        registration.wake()


class Scope:
    """The target of one reflector: one namespace of a processor, or all of it ("")."""

    __slots__ = ("_namespace", "_processor")

    def __init__(self, processor: Processor, namespace: str) -> None:
        self._processor = processor
        self._namespace = namespace

    def receive(self, objects: list[Object]) -> list[Object]:
        """See ReflectorTarget."""
        return self._processor.receive(objects)

    def replace(self, objects: list[Object]) -> None:
        """See ReflectorTarget."""
        self._processor.replace(self._namespace, objects)

    def upsert(self, obj: Object) -> None:
        """See ReflectorTarget."""
        self._processor.upsert(obj)

    def delete(self, obj: Object) -> None:
        """See ReflectorTarget."""
        self._processor.delete(obj)
