"""Server-side apply: what the body must be before fields are merged."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.apiserver.decoding import load_yaml
from sandbox.apiserver.errors import StatusError, bad_request, quote
from sandbox.apiserver.objects import Object, Value
from sandbox.apiserver.resources import Resource
from sandbox.apiserver.schema import Node, prune
from sandbox.apiserver.validation import TYPES, type_name

EXPECTED = {
    "object": "map",
    "array": "list",
    "string": "string",
    "boolean": "boolean",
    "integer": "numeric (int or float)",
    "number": "numeric (int or float)",
}


def read_applied(resource: Resource, body: bytes) -> Object:
    """Return the object of an apply. Raises StatusError."""
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
    return applied


def _check_type(resource: Resource, applied: Object) -> None:
    api_version, kind = applied.get("apiVersion") or "", applied.get("kind") or ""
    if (api_version, kind) != (resource.api_version, resource.kind):
        shown = api_version if "/" in api_version else f"/{api_version}"
        raise bad_request(f"invalid object type: {shown}, Kind={kind}")


def typed(resource: Resource, applied: Object) -> Object:
    """Return the object with values of the schema's types.

    Raises StatusError 500 without a reason: it does not count as the client's fault.
    """
    problems = list(_problems(resource.schema, applied, ""))
    if not problems:
        found: Object = prune(resource.schema, applied, "", lambda _: None)
        return found
    told = problems[0] if len(problems) == 1 else "\n  ".join(("errors:", *problems))
    metadata = applied["metadata"]
    gvk = f"{resource.api_version}, Kind={resource.kind}"
    if not resource.group:
        gvk = f"/{gvk}"
    about = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}; {gvk}"
    raise StatusError(500, "", f"failed to create typed patch object ({about}): {told}")


def _problems(node: Node, value: Value, path: str) -> Iterator[str]:
    """What the typed object cannot hold."""
    if isinstance(value, dict) and node.type == "object" and not node.open:
        for key, each in value.items():
            below = node.child(key)
            if below is None:
                yield f"{path}.{key}: field not declared in schema"
            else:
                yield from _problems(below, each, f"{path}.{key}")
    elif value is not None and node.type and not _fits(node.type, value):
        yield f"{path}: expected {EXPECTED[node.type]}, got {_shown(node.type, value)}"
    elif isinstance(value, list) and node.items is not None:
        if node.list_type == "map":
            yield from _key_problems(node, value, path)
        for i, each in enumerate(value):
            yield from _problems(node.items, each, f"{path}[{i}]")


def _fits(kind: str, value: Value) -> bool:
    """Whether a value can be of a type; here any number can be any other."""
    if isinstance(value, bool) or kind == "boolean":
        return isinstance(value, bool) and kind == "boolean"
    return isinstance(value, TYPES["number" if kind == "integer" else kind])


def _shown(kind: str, value: Value) -> str:
    if kind in {"integer", "number"}:
        return type_name(value)
    return f"&value.valueUnstructured{{Value:{quote(value)}}}"


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
