"""Reads bodies: JSON, YAML or protobuf, of the right kind, without unknown fields."""

from __future__ import annotations

import json
from collections.abc import Callable

import orjson
import yaml

from sandbox.apiserver import protobuf
from sandbox.apiserver.errors import (
    Cause,
    DecodeError,
    StatusError,
    bad_request,
    invalid,
    invalid_value,
    quote,
    unsupported_media_type,
)
from sandbox.apiserver.messages import JSON, PROTOBUF, YAML
from sandbox.apiserver.objects import Object, Value
from sandbox.apiserver.resources import Resource
from sandbox.apiserver.schema import drop_nulls, fill_defaults, prune
from sandbox.apiserver.validation import MISSING, Validator

BODY_TYPES = (JSON, YAML, PROTOBUF)


class _Loader(yaml.CSafeLoader):
    """YAML as the server reads it: a time is a string."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, each) for tag, each in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def load_yaml(text: bytes) -> Value:
    """Read YAML (or JSON, which is YAML too). Raises ValueError."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 a safe loader
    except yaml.YAMLError as error:
        raise ValueError(f"error converting YAML to JSON: {error}") from None


def media_type(content_type: str) -> str:
    """Return a content type without its parameters."""
    return content_type.partition(";")[0].strip()


def read_object(resource: Resource, body: bytes, content_type: str) -> Object:
    """Return the object in the body of a create or update. Raises StatusError."""
    if media_type(content_type) == PROTOBUF and resource.custom:
        raise unsupported_media_type(BODY_TYPES)
    return _typed(resource, read_body(resource.kind, body, content_type), body)


def read_body(kind: str, body: bytes, content_type: str) -> Object:
    """Return the object in a body, of whatever kind. Raises StatusError."""
    parse = _PARSERS.get(media_type(content_type) or JSON)
    if parse is None:
        raise unsupported_media_type(BODY_TYPES)
    try:
        parsed = parse(body)
    except ValueError as error:
        raise _unrecognized(kind, f"couldn't get version/kind; {error}", body) from None
    if not isinstance(parsed, dict):
        raise _unrecognized(kind, "couldn't get version/kind; json parse error", body)
    return parsed


def _parse_json(body: bytes) -> Value:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        ended = error.pos >= len(body)
        what = "unexpected end of JSON input" if ended else "invalid character"
        raise ValueError(f"json parse error: {what}") from None


_PARSERS: dict[str, Callable[[bytes], Value]] = {
    JSON: _parse_json,
    YAML: load_yaml,
    PROTOBUF: protobuf.decode,
}


def _unrecognized(kind: str, what: str, body: bytes) -> StatusError:
    shown = body.decode(errors="replace")
    short = shown if len(shown) <= 30 else f"{shown[:30]} ..."
    return bad_request(
        f"the object provided is unrecognized (must be of type {kind}): {what} ({short})"
    )


def _typed(resource: Resource, obj: Object, body: bytes) -> Object:
    """Check apiVersion and kind; a built-in kind may leave them out."""
    defaults = (
        {} if resource.custom else {"apiVersion": resource.api_version, "kind": resource.kind}
    )
    obj = {**defaults, **obj}
    if not obj.get("kind"):
        what = f"Object 'Kind' is missing in '{body.decode(errors='replace')}'"
        raise _unrecognized(resource.kind, what, body)
    if obj.get("apiVersion") != resource.api_version:
        raise bad_request(
            f"the API version in the data ({obj.get('apiVersion', '')}) does not match "
            f"the expected API version ({resource.api_version})"
        )
    if obj["kind"] != resource.kind:
        name = (obj.get("metadata") or {}).get("name", "")
        cause = invalid_value("kind", obj["kind"], f"must be {resource.kind}")
        raise invalid(obj["kind"], resource.group, name, [cause])
    return obj


def normalize(resource: Resource, obj: Object) -> tuple[Object, list[str]]:
    """Return the object pruned and with its defaults, and the unknown fields.

    Raises DecodeError for metadata, or a built-in kind, of the wrong shape.
    """
    unknown: list[str] = []
    metadata = obj.get("metadata") or {}
    _check_shape(resource, {**obj, "metadata": metadata})
    pruned = prune(resource.schema, {**obj, "metadata": metadata}, "", unknown.append)
    kept = drop_nulls(resource.schema, pruned)
    return fill_defaults(resource.schema, kept), sorted(unknown)


def _check_shape(resource: Resource, obj: Object) -> None:
    validator = Validator("", ())
    if resource.custom:
        node = resource.schema.properties["metadata"]
        validator.check(node, drop_nulls(node, obj["metadata"]), MISSING, "metadata")
    else:
        validator.check(resource.schema, drop_nulls(resource.schema, obj), MISSING, "")
    if validator.causes:
        raise DecodeError(f"json: cannot unmarshal: {validator.causes[0].message}")


def duplicate_fields(body: bytes) -> list[str]:
    """The paths of keys that come twice in a JSON body."""
    found: list[str] = []

    def pairs(items: list[tuple[str, Value]]) -> Value:
        keys = [key for key, _ in items]
        twice = {key for key in keys if keys.count(key) > 1} if len(set(keys)) < len(keys) else ()
        return _Traced(dict(items), sorted(twice))

    def walk(value: Value, path: str) -> None:
        if isinstance(value, _Traced):
            found.extend(f"{path}{key}" for key in value.twice)
            for key, each in value.items():
                walk(each, f"{path}{key}.")
        elif isinstance(value, list):
            for i, each in enumerate(value):
                walk(each, f"{path[:-1]}[{i}].")

    walk(json.loads(body, object_pairs_hook=pairs), "")
    return found


class _Traced(dict[str, Value]):
    """A JSON object that remembers which of its keys came twice."""

    def __init__(self, items: dict[str, Value], twice: list[str]) -> None:
        super().__init__(items)
        self.twice = twice


def strict_problems(unknown: list[str], duplicates: list[str]) -> list[str]:
    """What is told of fields that do not count, in the server's order."""
    return [
        *(f"duplicate field {quote(path)}" for path in duplicates),
        *(f"unknown field {quote(path)}" for path in unknown),
    ]


def undecodable(resource: Resource, error: DecodeError) -> StatusError:
    """The answer to a whole object that cannot be decoded."""
    kind = resource.kind
    return bad_request(
        f'{kind} in version "{resource.version}" cannot be handled as a {kind}: {error}'
    )


def undecodable_patch(patched: Object, error: DecodeError) -> StatusError:
    """The answer to a patch whose result cannot be decoded: it shows the whole object."""
    shown = quote(json.dumps(patched, ensure_ascii=False, separators=(",", ":"), sort_keys=True))
    cause = Cause("FieldValueInvalid", f"Invalid value: {shown}: {error}", "patch")
    return invalid("", "", "", [cause])
