"""JSON patch, JSON merge patch and strategic merge patch."""

from __future__ import annotations

import copy

from sandbox.apiserver.objects import Object, Value

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class PatchError(ValueError):
    """A JSON patch that does not fit: a failed test, a missing path, an unknown operation."""


def merge_patch(target: Value, patch: Value) -> Value:
    """RFC 7386. Strategic merge patch is the same for kinds without lists to merge."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def json_patch(target: Value, operations: list[Value]) -> Value:
    """RFC 6902. Raises PatchError."""
    document = copy.deepcopy(target)
    for operation in operations:
        try:
            document = _operate(document, operation)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise PatchError("the patch does not fit") from error
    return document


def _operate(document: Value, operation: Object) -> Value:
    name = operation["op"]
    path = _parse_pointer(operation["path"])
    if name == "test":
        if _get(document, path) != operation.get("value"):
            raise PatchError("test failed")
    elif name in {"add", "replace"}:
        return _put(document, path, operation["value"], insert=name == "add")
    elif name == "remove":
        _remove(document, path)
    elif name in {"move", "copy"}:
        source = _parse_pointer(operation["from"])
        value = copy.deepcopy(_get(document, source))
        if name == "move":
            _remove(document, source)
        return _put(document, path, value, insert=True)
    else:
        raise PatchError("unknown operation")
    return document


def _parse_pointer(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise PatchError("a pointer begins with a slash")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _index(key: str, limit: int) -> int:
    index = int(key)
    if not key.isdigit() or index >= limit:
        raise IndexError(key)
    return index


def _get(place: Value, path: list[str]) -> Value:
    """What is at a path. A field that is missing at its end is null, as the server has it."""
    for depth, key in enumerate(path, 1):
        if isinstance(place, list):
            place = place[_index(key, len(place))]
        else:
            place = place.get(key) if depth == len(path) else place[key]
    return place


def _put(document: Value, path: list[str], value: Value, *, insert: bool) -> Value:
    if not path:
        return value
    place, key = _get(document, path[:-1]), path[-1]
    if isinstance(place, list):
        if not insert:
            place[_index(key, len(place))] = value
        elif key == "-":
            place.append(value)
        else:
            place.insert(_index(key, len(place) + 1), value)
    else:
        place[key] = value
    return document


def _remove(document: Value, path: list[str]) -> None:
    place, key = _get(document, path[:-1]), path[-1]
    del place[_index(key, len(place)) if isinstance(place, list) else key]
