"""What a cluster's controllers do: ends namespaces and CRDs that were deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sandbox.apiserver.crd import CLEANUP, ServedResources, storage_of
from sandbox.apiserver.deletion import Deletion
from sandbox.apiserver.objects import Object, is_deleting, meta, with_metadata
from sandbox.apiserver.options import DeleteOptions
from sandbox.apiserver.registry import CRDS, NAMESPACES, Call, Registry
from sandbox.apiserver.resources import Resource
from sandbox.apiserver.store import Store

DELETE = DeleteOptions(dry_run=False, uid="", resource_version="", propagation=None)
CallTo = Callable[[Resource, str, str], Call]  # resource, namespace, name


class Lifecycle:
    """One thread at a time calls `step`, which does what is due and waits for nothing."""

    def __init__(
        self, store: Store, registry: Registry, served: ServedResources, call: CallTo
    ) -> None:
        self._store = store
        self._registry = registry
        self._deletion = Deletion(registry)
        self._served = served
        self._call = call

    def step(self) -> None:
        """Do one round."""
        for namespace in self._deleting(NAMESPACES):
            self._end_namespace(namespace)
        for crd in self._deleting(CRDS):
            self._end_crd(crd)

    def _deleting(self, storage: str) -> list[Object]:
        return [obj for obj in self._store.snapshot(storage)[0] if is_deleting(obj)]

    def _end_namespace(self, namespace: Object) -> None:
        name = meta(namespace)["name"]
        resources = {each.storage: each for each in self._served.all() if each.namespaced}
        left = sum(self._delete_all(resource, name) for resource in resources.values())
        if not left:
            resource = self._served.find("", "v1", NAMESPACES)
            assert resource is not None
            call = replace(self._call(resource, "", name), subresource="finalize")
            self._registry.update(call, lambda live: {**live, "spec": {}})

    def _end_crd(self, crd: Object) -> None:
        versions = [each for each in self._served.all() if each.qualified == storage_of(crd)]
        left = sum(self._delete_all(resource, "") for resource in versions[:1])
        if not left and CLEANUP in meta(crd).get("finalizers", ()):
            resource = self._served.find("apiextensions.k8s.io", "v1", CRDS.partition(".")[0])
            assert resource is not None
            call = self._call(resource, "", meta(crd)["name"])
            self._registry.update(call, _without_cleanup)

    def _delete_all(self, resource: Resource, namespace: str) -> int:
        """Delete all objects of a resource in a namespace ("": in all); returns how many stay."""
        left = 0
        for obj in self._store.snapshot(resource.storage)[0]:
            found = meta(obj).get("namespace", "")
            if namespace in {"", found}:
                call = self._call(resource, found, meta(obj)["name"])
                _, gone = self._deletion.delete(call, DELETE)
                left += not gone
        return left


def _without_cleanup(crd: Object) -> Object:
    left = [each for each in meta(crd)["finalizers"] if each != CLEANUP]
    return with_metadata(crd, finalizers=left or None)
