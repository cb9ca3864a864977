"""Server-side apply: what the body must be before fields are merged."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.apiserver.decoding import load_yaml
from sandbox.apiserver.errors import StatusError, bad_request, quote
from sandbox.apiserver.objects import Object, Value
from sandbox.apiserver.resources import Resource
from sandbox.apiserver.schema import Node

KEPT_BY_STATUS = ("name", "namespace", "resourceVersion")


def read_applied(resource: Resource, body: bytes, subresource: str) -> Object:
    """Return the object of an apply, cut to what the subresource can set. Raises StatusError."""
    try:
        applied = load_yaml(body)
    except ValueError as error:
        raise bad_request(f"error decoding YAML: {error}") from None
    applied = {} if applied is None else applied
    if not isinstance(applied, dict):
        raise bad_request("error decoding YAML: the body is no object")
    _check_type(resource, applied)
    applied = {**applied, "metadata": applied.get("metadata") or {}}
    if applied["metadata"].get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    for problem in _problems(resource.schema, applied, ""):
        raise _typed_error(resource, applied["metadata"], problem)
    if not resource.has_status:
        return applied
    return _cut_to_subresource(applied, subresource)


def _check_type(resource: Resource, applied: Object) -> None:
    api_version, kind = applied.get("apiVersion") or "", applied.get("kind") or ""
    if (api_version, kind) != (resource.api_version, resource.kind):
        shown = api_version if "/" in api_version else f"/{api_version}"
        raise bad_request(f"invalid object type: {shown}, Kind={kind}")


def _cut_to_subresource(applied: Object, subresource: str) -> Object:
    if not subresource:
        return {key: value for key, value in applied.items() if key != "status"}
    metadata = {
        key: applied["metadata"][key] for key in KEPT_BY_STATUS if key in applied["metadata"]
    }
    kept = {key: value for key, value in applied.items() if key in {"apiVersion", "kind", "status"}}
    return {**kept, "metadata": metadata}


def _typed_error(resource: Resource, metadata: Object, problem: str) -> StatusError:
    """A 500 without a reason: the server does not count this as the client's fault."""
    gvk = f"{resource.api_version}, Kind={resource.kind}"
    if not resource.group:
        gvk = f"/{gvk}"
    about = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}; {gvk}"
    return StatusError(500, "", f"failed to create typed patch object ({about}): {problem}")


def _problems(node: Node, value: Value, path: str) -> Iterator[str]:
    """What the typed object cannot hold."""
    if isinstance(value, dict) and node.type == "object" and not node.open:
        for key, each in value.items():
            below = node.child(key)
            if below is None:
                yield f"{path}.{key}: field not declared in schema"
            else:
                yield from _problems(below, each, f"{path}.{key}")
    elif isinstance(value, list) and node.items is not None:
        if node.list_type == "map":
            yield from _key_problems(node, value, path)
        for i, each in enumerate(value):
            yield from _problems(node.items, each, f"{path}[{i}]")


def _key_problems(node: Node, value: list[Value], path: str) -> Iterator[str]:
    seen = set()
    for i, each in enumerate(value):
        key = node.key_of(each)
        if key is None:
            listed = quote(list(node.list_keys))
            yield (
                f"{path}: element {i}: associative list with keys has an element that omits all "
                f"key fields {listed} (and doesn't have default values for any key fields)"
            )
        elif key in seen:
            shown = ",".join(
                f"{name}={quote(part)}" for name, part in zip(node.list_keys, key, strict=True)
            )
            yield f"{path}: duplicate entries for key [{shown}]"
        seen.add(key)
