"""Structural schemas: what a kind's objects look like, compiled once from OpenAPI v3."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.apiserver import cel
from sandbox.apiserver.objects import Value

Unknown = Callable[[str], None]  # is told the path of every field that was pruned


@dataclass(slots=True, kw_only=True)
class Node:
    """One place of a schema. Never changed after `compile_schema` returned it; any thread."""

    type: str
    format: str
    properties: dict[str, Node]
    additional: Node | None
    items: Node | None
    required: tuple[str, ...]
    nullable: bool
    open: bool  # x-kubernetes-preserve-unknown-fields, or nothing said about the fields
    atomic: bool
    list_type: str
    list_keys: tuple[str, ...]
    has_default: bool
    default: Value
    enum: tuple[Value, ...]
    pattern: str
    matcher: re.Pattern[str] | None
    limits: dict[str, Value]
    rules: tuple[cel.Rule, ...]
    source: dict[str, Value] = field(repr=False)
    has_rules: bool  # here or below
    has_defaults: bool  # here or below

    def child(self, key: str) -> Node | None:
        """The place of a map's key, or None if the schema does not know it."""
        return self.properties.get(key, self.additional)

    def key_of(self, item: Value) -> tuple[Value, ...] | None:
        """What identifies an item of a list-map, defaults filled in; None if all keys miss."""
        if not isinstance(item, dict):
            return None
        found = tuple(item.get(key, self._default_of(key)) for key in self.list_keys)
        return None if all(part is None for part in found) else found

    def _default_of(self, key: str) -> Value:
        node = self.items.properties.get(key) if self.items else None
        return node.default if node else None


def go_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of Go's RE2, where `$` is the end of the text and classes are ASCII."""
    parts = re.split(r"(\\.|\[\^?\]?(?:\\.|[^\]\\])*\])", pattern)
    outside = [part.replace("$", r"\Z") if part[:1] not in ("\\", "[") else part for part in parts]
    return re.compile("".join(outside), re.ASCII)


LIMITS = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "maxProperties")


def compile_schema(source: dict[str, Value]) -> Node:
    """Raises ValueError for a pattern or a rule that cannot be compiled."""
    properties = {key: compile_schema(each) for key, each in source.get("properties", {}).items()}
    extra = source.get("additionalProperties")
    additional = compile_schema(extra) if isinstance(extra, dict) else None
    items = compile_schema(source["items"]) if "items" in source else None
    below = [node for node in (*properties.values(), additional, items) if node is not None]
    rules = tuple(cel.compile_rule(rule) for rule in source.get("x-kubernetes-validations", ()))
    pattern = source.get("pattern", "")
    return Node(
        type=source.get("type", ""),
        format=source.get("format", ""),
        properties=properties,
        additional=additional,
        items=items,
        required=tuple(source.get("required", ())),
        nullable=bool(source.get("nullable")),
        open=bool(source.get("x-kubernetes-preserve-unknown-fields")),
        atomic=source.get("x-kubernetes-map-type") == "atomic",
        list_type=source.get("x-kubernetes-list-type", "atomic"),
        list_keys=tuple(source.get("x-kubernetes-list-map-keys", ())),
        has_default="default" in source,
        default=source.get("default"),
        enum=tuple(source.get("enum", ())),
        pattern=pattern,
        matcher=go_pattern(pattern) if pattern else None,
        limits={key: source[key] for key in LIMITS if key in source},
        rules=rules,
        source=source,
        has_rules=bool(rules) or any(node.has_rules for node in below),
        has_defaults="default" in source or any(node.has_defaults for node in below),
    )


def join(path: str, name: str) -> str:
    """The path of a field below another; an index joins without a dot."""
    return f"{path}.{name}" if path and not name.startswith("[") else path + name


def prune(node: Node, value: Value, path: str, unknown: Unknown) -> Value:
    """Return `value` without the fields that the schema does not know; a new tree."""
    if isinstance(value, dict) and node.type == "object" and not node.open:
        return _prune_fields(node, value, path, unknown)
    if isinstance(value, list) and node.items is not None:
        items = node.items
        return [prune(items, each, f"{path}[{i}]", unknown) for i, each in enumerate(value)]
    if node.type == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _prune_fields(
    node: Node, value: dict[str, Value], path: str, unknown: Unknown
) -> dict[str, Value]:
    kept = {}
    for key, each in value.items():
        below = node.child(key)
        if below is None:
            unknown(join(path, key))
        else:
            kept[key] = prune(below, each, join(path, key), unknown)
    return kept


def drop_nulls(node: Node, value: Value) -> Value:
    """Return `value` without the nulls that count as left out; server-side apply keeps them."""
    if isinstance(value, list) and node.items is not None:
        return [drop_nulls(node.items, each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, each in value.items():
        below = node.child(key)
        if each is not None or below is None or below.nullable:
            kept[key] = each if below is None else drop_nulls(below, each)
    return kept


def fill_defaults(node: Node, value: Value) -> Value:
    """Return `value` with the defaults of the schema; what needs none is shared, not copied."""
    if not node.has_defaults:
        return value
    if isinstance(value, list) and node.items is not None:
        return [fill_defaults(node.items, each) for each in value]
    if not isinstance(value, dict):
        return value
    filled = dict(value)
    for key, below in node.properties.items():
        if below.has_default and (
            key not in filled or (filled[key] is None and not below.nullable)
        ):
            filled[key] = below.default
        if key in filled:
            filled[key] = fill_defaults(below, filled[key])
    if node.additional is not None:
        extra = filled.keys() - node.properties.keys()
        filled.update({key: fill_defaults(node.additional, filled[key]) for key in extra})
    return filled
