"""Whose operator serves an object: the label says it, and status.instance remembers it."""

import enum

from controller.api import INSTANCE_LABEL
from controller.resource import Object, Resource
from informers import Transform


class Service(enum.Enum):
    """What this operator is to an object."""

    SERVED = enum.auto()  # ours by label, and nobody else's by record
    HELD = enum.auto()  # ours by label, but another instance has not let go of it
    TO_RELEASE = enum.auto()  # we served it, and the label names us no more
    FOREIGN = enum.auto()  # none of our business


def service(resource: Resource, instance: str) -> Service:
    """Decide by label and record alone."""
    label = resource.labels.get(INSTANCE_LABEL)
    recorded = resource.recorded.get("instance")
    if label == instance:
        return Service.SERVED if recorded in (None, "", instance) else Service.HELD
    return Service.TO_RELEASE if recorded == instance else Service.FOREIGN


def stub_foreign(instance: str) -> Transform:
    """A transform that keeps of other instances' objects only what shows that they are."""

    def transform(obj: Object) -> Object:
        metadata = {k: v for k, v in obj["metadata"].items() if k != "managedFields"}
        whole = {**obj, "metadata": metadata}
        if service(Resource(whole), instance) is not Service.FOREIGN:
            return whole
        kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        labels = metadata.get("labels") or {}
        stub = {name: metadata[name] for name in kept if name in metadata}
        if INSTANCE_LABEL in labels:
            stub["labels"] = {INSTANCE_LABEL: labels[INSTANCE_LABEL]}
        return {"kind": obj.get("kind"), "metadata": stub}

    return transform


def metadata_only(obj: Object) -> Object:
    """A transform for Secrets: who and which version. Annotations can hold the values."""
    metadata = obj["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion")
    return {"metadata": {name: metadata[name] for name in kept if name in metadata}}
