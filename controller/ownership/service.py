"""Whose operator serves an object: the label says it, and status.instance remembers it."""

import enum
from typing import Final

from controller.api import (
    BUILT_IN_ANNOTATION,
    DRY_RUN_ANNOTATION,
    INSTANCE_LABEL,
    PAUSED_ANNOTATION,
    RECONCILE_AT_ANNOTATION,
)
from controller.harness.resource import Object, Resource
from informers import Transform

OUR_ANNOTATIONS: Final = (
    BUILT_IN_ANNOTATION,
    DRY_RUN_ANNOTATION,
    PAUSED_ANNOTATION,
    RECONCILE_AT_ANNOTATION,
)

_BALLAST: Final = frozenset({"managedFields", "annotations"})


class Service(enum.Enum):
    """What this operator is to an object."""

    SERVED = enum.auto()  # ours by label, and nobody else's by record
    HELD = enum.auto()  # ours by label, but another instance has not let go of it
    TO_RELEASE = enum.auto()  # we served it, and the label names us no more
    FOREIGN = enum.auto()  # none of our business


def service(resource: Resource, instance: str) -> Service:
    """Decide by label and record alone."""
    return service_of(resource.raw, instance)


def service_of(obj: Object, instance: str) -> Service:
    """The same of an object as it came."""
    label = (obj["metadata"].get("labels") or {}).get(INSTANCE_LABEL)
    recorded = (obj.get("status") or {}).get("instance")
    if label == instance:
        return Service.SERVED if recorded in (None, "", instance) else Service.HELD
    return Service.TO_RELEASE if recorded == instance else Service.FOREIGN


def stub_foreign(instance: str) -> Transform:
    """A transform that keeps what this operator reads.

    Of other instances' objects only what shows that they are. Of its own not who manages which
    field and no annotations but the operator's: kubectl keeps a copy of the whole object in one.
    """

    def transform(obj: Object) -> Object:
        if service_of(obj, instance) is Service.FOREIGN:
            return _stub(obj)
        obj["metadata"] = _without_ballast(obj["metadata"])
        return obj

    return transform


def _without_ballast(metadata: Object) -> Object:
    """A new dict: one from which fields are taken keeps their room."""
    kept = {k: v for k, v in metadata.items() if k not in _BALLAST}
    annotations = metadata.get("annotations") or {}
    ours = {name: annotations[name] for name in OUR_ANNOTATIONS if name in annotations}
    return {**kept, "annotations": ours} if ours else kept


def _stub(obj: Object) -> Object:
    metadata = obj["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    stub = {name: metadata[name] for name in kept if name in metadata}
    labels = metadata.get("labels") or {}
    if INSTANCE_LABEL in labels:
        stub["labels"] = {INSTANCE_LABEL: labels[INSTANCE_LABEL]}
    return {"kind": obj.get("kind"), "metadata": stub}


def metadata_only(obj: Object) -> Object:
    """A transform for Secrets: who and which version. Annotations can hold the values."""
    metadata = obj["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion")
    return {"metadata": {name: metadata[name] for name in kept if name in metadata}}
