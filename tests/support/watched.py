"""Stores and handlers without informers: what a change in the store puts into the queues."""

import copy
from typing import Any

from controller.api import (
    INSTANCE_LABEL,
    KINDS,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    Kind,
)
from controller.harness.resource import Object
from controller.ownership.service import metadata_only, stub_foreign
from controller.watching.cache import Cache
from controller.watching.indexes import indexes
from controller.watching.ownwrites import OwnWrites
from controller.watching.watching import KindHandler, SecretHandler
from informers import Indexer, Lister

INSTANCE = "default"


class Watched:
    """The objects as informers have them. Each change is told at once, as they tell it."""

    def __init__(self) -> None:
        self.enqueued: dict[tuple[str, str], int] = {}
        self.quietly: set[str] = set()  # who was told so that it need not overtake anybody
        self.gone: list[str] = []
        self.left: list[tuple[str, str]] = []
        self.own_writes = OwnWrites()
        self._stores = {kind.kind: Indexer(indexes(kind, INSTANCE)) for kind in KINDS}
        self._secrets = Indexer()
        listers = {name: Lister(store) for name, store in self._stores.items()}
        self.cache = Cache(listers, Lister(self._secrets))
        self._transform = stub_foreign(INSTANCE)
        self._versions = 0
        self._handlers = {
            kind.kind: KindHandler(
                kind,
                INSTANCE,
                cache=self.cache,
                own_writes=self.own_writes,
                enqueue=self._enqueue,
                wake=self._wake,
                gone=self.gone.append,
                left=lambda kind, key: self.left.append((kind, key)),
            )
            for kind in KINDS
        }
        self._secret_handler = SecretHandler(self.cache, self._enqueue)

    def _enqueue(self, kind: str, key: str, priority: int) -> None:
        short = kind.removeprefix("Lldap")
        self.enqueued[short, key] = max(priority, self.enqueued.get((short, key), -1000))

    def _wake(self, kind: str, key: str, priority: int) -> None:
        self.quietly.add(key)
        self._enqueue(kind, key, priority)

    def told(self) -> dict[tuple[str, str], int]:
        """Who was enqueued since the last call, and at which priority."""
        told, self.enqueued = self.enqueued, {}
        return told

    def woken(self) -> set[str]:
        """The same as `Kind namespace/name`."""
        return {f"{kind} {key}" for kind, key in self.told()}

    def version(self) -> str:
        self._versions += 1
        return str(self._versions)

    # --- what happens to objects ---------------------------------------------------------------

    def put(self, kind: Kind, obj: Object, *, initial: bool = False, echo: bool = False) -> Object:
        """Added, or modified if it is there; `echo`: by ourselves."""
        obj["metadata"]["resourceVersion"] = self.version()
        if echo:
            self.own_writes.note(obj)
        stored = self._transform(copy.deepcopy(obj))
        store, handler = self._stores[kind.kind], self._handlers[kind.kind]
        key = f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"
        old = store.get(key)
        store.set(key, stored)
        if old is None:
            handler.on_add(stored, initial)
        else:
            handler.on_update(old, stored)
        return obj

    def change(self, kind: Kind, obj: Object, *, echo: bool = False, **parts: Any) -> Object:
        """A copy with other `spec`, `status` or `metadata` (merged; None takes away)."""
        changed = copy.deepcopy(obj)
        for part, values in parts.items():
            target = changed.setdefault(part, {})
            for name, value in values.items():
                if value is None:
                    target.pop(name, None)
                else:
                    target[name] = value
            if part == "spec":
                changed["metadata"]["generation"] += 1
        return self.put(kind, changed, echo=echo)

    def delete(self, kind: Kind, obj: Object) -> None:
        metadata = obj["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}"
        store = self._stores[kind.kind]
        stored = store.get(key)
        assert stored is not None
        store.delete(key)
        self._handlers[kind.kind].on_delete(stored, False)

    def secret(self, name: str, namespace: str = "a", *, initial: bool = False) -> None:
        metadata = {"namespace": namespace, "name": name, "uid": "s"}
        stored = metadata_only({"metadata": {**metadata, "resourceVersion": self.version()}})
        key = f"{namespace}/{name}"
        old = self._secrets.get(key)
        self._secrets.set(key, stored)
        if old is None:
            self._secret_handler.on_add(stored, initial)
        else:
            self._secret_handler.on_update(old, stored)

    def delete_secret(self, name: str, namespace: str = "a") -> None:
        stored = self._secrets.get(f"{namespace}/{name}")
        assert stored is not None
        self._secrets.delete(f"{namespace}/{name}")
        self._secret_handler.on_delete(stored, False)

    # --- objects -------------------------------------------------------------------------------

    def user(self, name: str, namespace: str = "a", **spec: Any) -> Object:
        whole = {"username": name, "email": f"{name}@example.org", **spec}
        return self.put(LLDAP_USER, new(LLDAP_USER, name, namespace, whole))

    def group(self, name: str, namespace: str = "a", **spec: Any) -> Object:
        return self.put(
            LLDAP_GROUP, new(LLDAP_GROUP, name.lower(), namespace, {"displayName": name, **spec})
        )

    def membership(self, user: str, group: str, namespace: str = "a", name: str = "") -> Object:
        spec = {"userName": user, "groupName": group}
        key = name or f"{user}-{group}".lower()
        return self.put(LLDAP_MEMBERSHIP, new(LLDAP_MEMBERSHIP, key, namespace, spec))

    def schema(self, name: str, target: str = "User", namespace: str = "a") -> Object:
        spec = {"attributeName": name, "attributeType": "String", "target": target}
        key = f"{target}-{name}".lower()
        return self.put(LLDAP_ATTRIBUTE_SCHEMA, new(LLDAP_ATTRIBUTE_SCHEMA, key, namespace, spec))


def new(kind: Kind, name: str, namespace: str, spec: Object) -> Object:
    """An object as the API server gives it after its creation."""
    return {
        "kind": kind.kind,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"{kind.kind}-{namespace}-{name}",
            "generation": 1,
            "labels": {INSTANCE_LABEL: INSTANCE},
            "creationTimestamp": "2030-01-01T00:00:00Z",
        },
        "spec": spec,
    }


def ready(value: str = "True", generation: int = 1) -> list[Object]:
    """The conditions of an object that is ready, or not."""
    return [{"type": "Ready", "status": value, "observedGeneration": generation}]
