"""Deletes objects: preconditions, finalizers, and what is left until they are off."""

from __future__ import annotations

from sandbox.apiserver import errors
from sandbox.apiserver.objects import Object, Value, is_deleting, meta, with_metadata
from sandbox.apiserver.options import DeleteOptions
from sandbox.apiserver.registry import NAMESPACES, Call, Registry, finalizers
from sandbox.apiserver.resources import Resource


class Deletion:
    """Any thread."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def delete(self, call: Call, options: DeleteOptions) -> tuple[Object, bool]:
        """Return the object, and whether it is gone; else finalizers hold it."""
        while True:
            stored = self._registry.stored(call)
            live = call.strategy.load(call.resource, stored)
            _check_preconditions(call.resource, live, options)
            doomed = self._doom(call, live, options)
            if doomed == live:
                return live, False
            held = bool(finalizers(doomed))
            if options.dry_run:
                return (doomed if held else live), not held
            done = self._registry.replace(call, stored, doomed)
            if done is not None:
                return (done if held else live), not held

    def _doom(self, call: Call, live: Object, options: DeleteOptions) -> Object:
        """Return the object as it is while finalizers hold it."""
        held = options.finalizers(meta(live).get("finalizers", ()))
        if is_deleting(live):
            return with_metadata(live, finalizers=held)
        fields: dict[str, Value] = {
            "deletionTimestamp": self._registry.timestamp(),
            "finalizers": held or None,
        }
        if call.resource.has_generation:
            fields["generation"] = meta(live)["generation"] + 1
        if call.resource.storage == NAMESPACES:
            return {**with_metadata(live, **fields), "status": {"phase": "Terminating"}}
        fields["finalizers"] = [*held, *call.strategy.deletion_finalizers] or None
        return with_metadata(live, **fields, deletionGracePeriodSeconds=0)


def _check_preconditions(resource: Resource, live: Object, options: DeleteOptions) -> None:
    name, uid, version = (meta(live)[key] for key in ("name", "uid", "resourceVersion"))
    if options.uid not in {"", uid}:
        message = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record "
            f"({uid}). The object might have been deleted and then recreated"
        )
        raise errors.conflict(resource, name, message, kind=True)
    if options.resource_version not in {"", version}:
        message = (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match "
            f"the ResourceVersion in record ({version}). The object might have been modified"
        )
        raise errors.conflict(resource, name, message, kind=True)
