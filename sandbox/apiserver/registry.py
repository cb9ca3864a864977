"""Creates and changes objects: the way of every write into the store."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from sandbox.apiserver import errors, metadata, validation
from sandbox.apiserver.admission import Admission, Policies
from sandbox.apiserver.authorization import User
from sandbox.apiserver.managedfields import FieldManager, Managed, Manager, decode
from sandbox.apiserver.objects import Object, is_deleting, key_of, meta, with_metadata
from sandbox.apiserver.options import WriteOptions
from sandbox.apiserver.resources import Resource
from sandbox.apiserver.store import Store
from sandbox.apiserver.strategy import Strategy

MAX_OBJECT = 1_572_864  # what etcd takes in one request
SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
NAMESPACES = "namespaces"
CRDS = "customresourcedefinitions.apiextensions.k8s.io"


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime:
        """The time of day, with a zone."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One write: what, by whom, and what it is warned of."""

    resource: Resource
    strategy: Strategy
    namespace: str
    name: str
    subresource: str
    user: User
    options: WriteOptions
    size: int = 0  # of the body
    warnings: list[str] = field(default_factory=list)

    def named(self, name: str) -> Call:
        """Return the call for the object of that name."""
        return replace(self, name=name)


Change = Callable[[Object], Object]  # what a write makes of the live object


class Registry:
    """Any thread. A write that another one overtook is computed anew, as on the real server."""

    def __init__(
        self, store: Store, policies: Policies, clock: Clock, source: random.Random
    ) -> None:
        self._store = store
        self._policies = policies
        self._clock = clock
        self._random = source
        self._watchers: dict[str, Callable[[Object | None, Object | None], None]] = {}

    def on_written(
        self, storage: str, watcher: Callable[[Object | None, Object | None], None]
    ) -> None:
        """`watcher` is told the old and the new state after each write to a resource."""
        self._watchers[storage] = watcher

    def timestamp(self) -> str:
        """Return the time in whole seconds."""
        return self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def stored(self, call: Call) -> Object:
        """Return the object of a call as it is stored. Raises StatusError 404."""
        found = self._store.get(call.resource.storage, key_of(call.namespace, call.name))
        if found is None:
            raise errors.not_found(call.resource, call.name)
        return found

    def exists(self, call: Call) -> bool:
        """Whether the object of a call is there."""
        key = key_of(call.namespace, call.name)
        return self._store.get(call.resource.storage, key) is not None

    def field_manager(self, call: Call, operation: str) -> FieldManager:
        """Return who writes, for the ownership of fields."""
        return FieldManager(
            call.resource.schema,
            Manager(operation, call.options.manager, call.resource.api_version, call.subresource),
            self.timestamp(),
            call.resource.has_status,
        )

    def create(self, call: Call, obj: Object, *, applied: bool = False) -> Object:
        """Store a new object; `applied`: its managedFields were written by an apply."""
        self._check_parents(call)
        obj = self._fill_in(call, obj)
        obj = call.strategy.prepare(obj, None)
        if not applied:
            manager = self.field_manager(call, "Update")
            managed = decode(meta(obj).get("managedFields"))
            obj = manager.update(blank(call.resource), obj, managed)
        self._check(call, call.strategy.validate(call.resource, obj, None), obj, None)
        self._admit(call, "CREATE", obj, None)
        return self._insert(call, obj)

    def _check_parents(self, call: Call) -> None:
        """Nothing comes into what is not there or is being deleted."""
        crd = self._store.get(CRDS, call.resource.qualified) if call.resource.custom else None
        if crd is not None and is_deleting(crd):
            message = "create not allowed while custom resource definition is terminating"
            raise errors.forbidden(call.resource, call.name, message)
        if not call.resource.namespaced:
            return
        namespace = self._store.get(NAMESPACES, call.namespace)
        if namespace is None:
            details = {"name": call.namespace, "kind": NAMESPACES}
            message = f'namespaces "{call.namespace}" not found'
            raise errors.StatusError(404, "NotFound", message, details)
        if is_deleting(namespace):
            raise errors.terminating(call.resource, call.name, call.namespace)

    def _fill_in(self, call: Call, obj: Object) -> Object:
        given = meta(obj)
        name = given.get("name", "")
        if not name and given.get("generateName"):
            suffix = "".join(self._random.choices(SUFFIX_LETTERS, k=5))
            name = given["generateName"] + suffix
        obj = with_metadata(
            obj,
            name=name or None,
            namespace=call.namespace or None,
            uid=str(uuid.UUID(int=self._random.getrandbits(128), version=4)),
            creationTimestamp=self.timestamp(),
            generation=1 if call.resource.has_generation else None,
            deletionTimestamp=None,
            deletionGracePeriodSeconds=None,
        )
        if call.resource.has_status:
            obj.pop("status", None)
        return obj

    def _insert(self, call: Call, obj: Object) -> Object:
        name = meta(obj)["name"]
        storage, key = call.resource.storage, key_of(call.namespace, name)
        if meta(obj).get("resourceVersion", "0") != "0" and not call.options.dry_run:
            message = "resourceVersion should not be set on objects to be created"
            raise errors.StatusError(500, "", message)
        there = self._store.get(storage, key)
        stored = None
        if there is None:
            if call.options.dry_run:
                return obj
            stored = self._write(storage, key, None, call.strategy.save(call.resource, obj))
        if stored is None:
            deleting = there is not None and is_deleting(there)
            raise errors.already_exists(call.resource, name, deleting=deleting)
        return call.strategy.load(call.resource, stored)

    def _write(
        self, storage: str, key: str, old: Object | None, new: Object | None
    ) -> Object | None:
        stored = self._store.write(storage, key, old, new)
        if stored is not None and storage in self._watchers:
            self._watchers[storage](old, None if new is None else stored)
        return stored

    def update(
        self, call: Call, change: Change, *, put: bool = False, applied: bool = False
    ) -> Object:
        """Replace the live object by what `change` makes of it; nothing is written if it is equal.

        `put`: a whole object was sent; `applied`: `change` wrote managedFields by itself.
        """
        while True:
            stored = self.stored(call)
            live = call.strategy.load(call.resource, stored)
            new = self._settle(call, live, change(live), put=put, applied=applied)
            if new == live or call.options.dry_run:
                return new
            written = self.replace(call, stored, new)
            if written is not None:
                return written

    def _settle(self, call: Call, live: Object, new: Object, *, put: bool, applied: bool) -> Object:
        """Return the object as it would be stored. Raises StatusError."""
        self._check_versions(call, live, new, put=put)
        if call.subresource == "status":
            new = _only_status(live, new)
        elif call.resource.has_status:
            new = _with_status_of(live, new)
        new = _keep_system_fields(live, new)
        if call.subresource != "finalize":  # the one write that changes a namespace's finalizers
            new = call.strategy.prepare(new, live)
        if not applied:
            managed = _managed(call, live, new)
            new = self.field_manager(call, "Update").update(live, new, managed)
        if call.subresource == "status":
            causes = validation.validate_status(call.resource.schema, new, live)
        else:
            causes = call.strategy.validate(call.resource, new, live)
        self._check(call, causes, new, live)
        new = _with_generation(call.resource, live, new)
        self._admit(call, "UPDATE", new, live)
        return new

    def _check_versions(self, call: Call, live: Object, new: Object, *, put: bool) -> None:
        resource, sent = call.resource, meta(new)
        uid = meta(live)["uid"]
        if put and sent.get("uid", uid) != uid:
            root = "" if call.options.dry_run else "/registry"
            key = f"{root}/{resource.group}/{resource.plural}/{key_of(call.namespace, call.name)}"
            message = (
                f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
                f"AdditionalErrorMsg: Precondition failed: UID in precondition: {sent['uid']}, "
                f"UID in object meta: {uid}"
            )
            raise errors.conflict(resource, call.name, message)
        version = sent.get("resourceVersion", "")
        if not version and put and not call.strategy.allows_blind_update:
            cause = errors.Cause(
                "FieldValueInvalid",
                "Invalid value: 0: must be specified for an update",
                "metadata.resourceVersion",
            )
            raise errors.invalid(resource.plural, resource.group, call.name, [cause])
        if version and version != meta(live)["resourceVersion"]:
            raise errors.modified(resource, call.name)

    def _check(
        self, call: Call, causes: list[errors.Cause], new: Object, old: Object | None
    ) -> None:
        if causes:
            raise call.strategy.invalid(call.resource, meta(new).get("name", ""), causes)
        call.warnings.extend(metadata.finalizer_warnings(new, old))
        if call.size > MAX_OBJECT:
            raise errors.StatusError(500, "", "etcdserver: request is too large")

    def _admit(self, call: Call, operation: str, new: Object, old: Object | None) -> None:
        admission = Admission(
            operation=operation,
            resource=call.resource,
            subresource=call.subresource,
            namespace=call.namespace,
            name=meta(new).get("name", ""),
            user=call.user,
            new=new,
            old=old,
            dry_run=call.options.dry_run,
        )
        call.warnings.extend(self._policies.admit(admission))

    def replace(self, call: Call, stored: Object, new: Object) -> Object | None:
        """Write `new` in the place of `stored`; None if another write came in between.

        An object that is being deleted goes when nothing holds it any more.
        """
        storage, key = call.resource.storage, key_of(call.namespace, call.name)
        if is_deleting(new) and not finalizers(new):
            gone = self._write(storage, key, stored, None)
            return None if gone is None else new
        written = self._write(storage, key, stored, call.strategy.save(call.resource, new))
        return None if written is None else call.strategy.load(call.resource, written)


def finalizers(obj: Object) -> list[str]:
    """What holds an object that is being deleted; a namespace has one in its spec too."""
    held = list(meta(obj).get("finalizers") or ())
    if obj.get("kind") == "Namespace":
        held += obj["spec"].get("finalizers", ())
    return held


def blank(resource: Resource) -> Object:
    """What a new object is compared with: the fields that a built-in kind always sends."""
    if resource.custom:
        return {"metadata": {}}
    always: Object = {
        key: node.default
        for key, node in resource.schema.properties.items()
        if node.has_default and (isinstance(node.default, dict) or not node.default)
    }
    return {**always, "metadata": {}}


def _managed(call: Call, live: Object, new: Object) -> Managed:
    """The ownership that a change starts from: what was sent, if it says anything."""
    sent = meta(new).get("managedFields")
    if not call.subresource and sent:
        return {} if sent == [{}] else decode(sent) or decode(meta(live).get("managedFields"))
    return decode(meta(live).get("managedFields"))


def _only_status(live: Object, new: Object) -> Object:
    """What /status can change: status, and who owns it."""
    changed = with_metadata(live, managedFields=meta(new).get("managedFields"))
    changed.pop("status", None)
    if "status" in new:
        changed["status"] = new["status"]
    return changed


def _with_status_of(live: Object, new: Object) -> Object:
    changed = {key: value for key, value in new.items() if key != "status"}
    return {**changed, "status": live["status"]} if "status" in live else changed


def _keep_system_fields(live: Object, new: Object) -> Object:
    """What a body cannot change, whatever it says or leaves out."""
    kept = {name: meta(live).get(name) for name in metadata.SYSTEM_FIELDS}
    sent = {name: meta(new)[name] for name in metadata.SYSTEM_FIELDS if meta(new).get(name)}
    fixed = (
        "generation",
        "creationTimestamp",
        "resourceVersion",
        "namespace",
        "name",
        "generateName",
    )
    return with_metadata(new, **{**kept, **sent, **{name: meta(live).get(name) for name in fixed}})


def _with_generation(resource: Resource, live: Object, new: Object) -> Object:
    if not resource.has_generation or not _differs(live, new):
        return new
    return with_metadata(new, generation=meta(live)["generation"] + 1)


def _differs(live: Object, new: Object) -> bool:
    """Whether more than metadata and status changed."""
    keys = (live.keys() | new.keys()) - {"metadata", "status"}
    return any(live.get(key) != new.get(key) for key in keys)
