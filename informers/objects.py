"""Kubernetes objects as plain JSON: their type, key, identity and version."""

from typing import Any

Object = dict[str, Any]
"""A parsed JSON object. Objects from a store are shared: read-only by contract."""


Objects = list[Object]


def object_key(namespace: str | None, name: str) -> str:
    """`namespace/name`, or `name` alone for what lives in no namespace."""
    return f"{namespace}/{name}" if namespace else name


def key_of(obj: Object) -> str:
    """The key under which a store keeps `obj`."""
    metadata = obj["metadata"]
    return object_key(metadata.get("namespace"), metadata["name"])


def resource_version_of(obj: Object) -> str:
    """`metadata.resourceVersion` if it can be sent back to the server, else ``""``.

    Null must not become the text "None", and "0" would ask for any old state.
    """
    metadata = obj.get("metadata")
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    return version if isinstance(version, str) and version != "0" else ""


def is_object(obj: object) -> bool:
    """Whether `obj` can be stored: it has a name and is not a Status in an object's place."""
    if not isinstance(obj, dict) or obj.get("kind") == "Status":
        return False
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        return False
    name = metadata.get("name")
    namespace = metadata.get("namespace")
    return (
        isinstance(name, str) and name != "" and (namespace is None or isinstance(namespace, str))
    )


def unchanged(old: Object, new: Object) -> bool:
    """Whether two states of one key are one and the same.

    The resourceVersion alone does not say it: when a CRD gets a new default, all its objects are
    listed with the new field at their old version; and after a backup was restored, versions come
    again for other states.
    """
    same_version = old["metadata"].get("resourceVersion") == new["metadata"].get("resourceVersion")
    return same_version and old == new


def same_identity(old: Object, new: Object) -> bool:
    """Whether two states of one key belong to one object, not to one deleted and one made anew."""
    return bool(old["metadata"].get("uid") == new["metadata"].get("uid"))
