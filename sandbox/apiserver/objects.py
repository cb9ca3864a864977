"""Objects of the API: JSON that is shared between readers and never changed in place."""

from __future__ import annotations

from typing import Any

Value = Any  # any JSON value
Object = dict[str, Value]


def meta(obj: Object) -> Object:
    """The metadata of an object."""
    found: Object = obj["metadata"]
    return found


def is_deleting(obj: Object) -> bool:
    """Whether an object waits for its finalizers only."""
    return bool(meta(obj).get("deletionTimestamp"))


def with_metadata(obj: Object, **fields: Value) -> Object:
    """Return the object with fields of its metadata set; what is None or empty is left out."""
    metadata = {**obj["metadata"], **fields}
    kept = {key: each for key, each in metadata.items() if each not in (None, {}, [])}
    return {**obj, "metadata": kept}


def key_of(namespace: str, name: str) -> str:
    """What an object is sorted and paged by: `namespace/name`, or `name` in the cluster."""
    return f"{namespace}/{name}" if namespace else name
