"""Field sets: which fields an object has, what two objects differ in, merged and cut by them.

The rules are those of structured-merge-diff: maps and list-maps are walked, sets are walked by
value, scalars and atomic lists and maps are leaves. A path is a tuple of the keys of FieldsV1.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from sandbox.apiserver.errors import quote
from sandbox.apiserver.objects import Value
from sandbox.apiserver.schema import Node

Path = tuple[str, ...]
FieldSet = frozenset[Path]
ABSENT: Value = object()
EMPTY: FieldSet = frozenset()


def from_fields_v1(tree: dict[str, Value], path: Path = ()) -> Iterator[Path]:
    """The paths of a FieldsV1."""
    for key, below in tree.items():
        if key == ".":
            yield path
        elif below:
            yield from from_fields_v1(below, (*path, key))
        else:
            yield (*path, key)


def to_fields_v1(paths: Iterable[Path]) -> dict[str, Value]:
    """The FieldsV1 of paths: `.` marks a member that has members below it."""
    tree: dict[str, Value] = {}
    ordered = sorted(paths)
    for path, following in pairwise([*ordered, ()]):
        place = tree
        for element in path:
            place = place.setdefault(element, {})
        if following[: len(path)] == path:
            place["."] = {}
    return tree


def render(path: Path) -> str:
    """A path as conflicts show it."""
    return "".join(_render(element) for element in path)


def _render(element: str) -> str:
    kind, text = element[:2], element[2:]
    if kind == "f:":
        return f".{text}"
    if kind == "v:":
        return f"[={text}]"
    keys = ",".join(f"{key}={quote(value)}" for key, value in json.loads(text).items())
    return f"[{keys}]"


def display_order(paths: Iterable[Path]) -> list[Path]:
    """At each level first the leaves, then what has something below."""
    return sorted(paths, key=lambda path: [*((1, part) for part in path[:-1]), (0, path[-1])])


def is_map(node: Node | None, value: Value) -> bool:
    """Whether a value is walked as a map."""
    walked = node is not None and node.type == "object" and not node.atomic and not node.open
    return walked and isinstance(value, dict)


def is_list(node: Node | None, value: Value) -> bool:
    """Whether a value is walked as a list."""
    return node is not None and node.list_type != "atomic" and isinstance(value, list)


def list_items(node: Node, value: list[Value]) -> Iterator[tuple[str, Value]]:
    """The items of a walked list by their element; what has no key is left out."""
    for item in value:
        if node.list_type == "set":
            yield f"v:{quote(item)}", item
        else:
            key = node.key_of(item)
            if key is not None:
                named = dict(sorted(zip(node.list_keys, key, strict=True)))
                yield f"k:{quote(named)}", item


def _parts(node: Node | None, value: Value) -> list[tuple[str, Value]] | None:
    """What is below a value, each with its element, or None if it is a leaf."""
    if node is not None and is_map(node, value):
        return [(f"f:{key}", each) for key, each in value.items()]
    if node is not None and is_list(node, value):
        return list(list_items(node, value))
    return None


def _children(node: Node | None, value: Value) -> dict[str, Value] | None:
    """What is below a value by element, or None if it is a leaf."""
    parts = _parts(node, value)
    return None if parts is None else dict(parts)


def _below(node: Node, element: str) -> Node | None:
    return node.child(element[2:]) if element.startswith("f:") else node.items


def field_set(node: Node | None, value: Value, path: Path = ()) -> Iterator[Path]:
    """The fields of an applied object: its leaves, its list items and the keys of its maps."""
    children = _children(node, value)
    if children is None or node is None:
        yield path
        return
    if not children and isinstance(value, dict) and path:
        yield path
    for element, each in children.items():
        below = (*path, element)
        if not element.startswith("f:") or element[2:] not in node.properties:
            yield below
        yield from field_set(_below(node, element), each, below)


@dataclass(slots=True)
class Comparison:
    """The fields in which one object differs from another."""

    added: set[Path] = field(default_factory=set)
    modified: set[Path] = field(default_factory=set)
    removed: set[Path] = field(default_factory=set)

    def walk(self, node: Node | None, old: Value, new: Value, path: Path = ()) -> None:
        """Compare what two objects hold at `path`."""
        if old is new:
            return
        before, after = _compared(node, old), _compared(node, new)
        walked = node is not None and (before or after)
        if (
            not walked
            or (before is None and not _nothing(old))
            or (after is None and not _nothing(new))
        ):
            self._leaf(old, new, path)
            return
        assert node is not None
        before, after = before or {}, after or {}
        for element in (*before, *(each for each in after if each not in before)):
            was, now = before.get(element, ABSENT), after.get(element, ABSENT)
            self.walk(_below(node, element), was, now, (*path, element))
        if old is ABSENT:
            self.added.add(path)
        elif new is ABSENT:
            self.removed.add(path)

    def _leaf(self, old: Value, new: Value, path: Path) -> None:
        if old is ABSENT:
            self.added.add(path)
        elif new is ABSENT:
            self.removed.add(path)
        elif old != new:
            self.modified.add(path)


def _compared(node: Node | None, value: Value) -> dict[str, Value] | None:
    """What is below a value; an item of a set counts as often as it is there."""
    if node is not None and node.list_type == "set" and is_list(node, value):
        return dict(Counter(element for element, _ in list_items(node, value)))
    return _children(node, value)


def _nothing(value: Value) -> bool:
    return value is ABSENT or value is None


def compare(node: Node, old: Value, new: Value) -> Comparison:
    """Return in which fields `new` differs from `old`."""
    found = Comparison()
    found.walk(node, old, new)
    return found


def merge(node: Node | None, live: Value, applied: Value) -> Value:
    """Lay an applied object over the live one."""
    if node is None or not (is_map(node, live) or is_list(node, live)):
        return applied
    if applied is None:
        return live or None
    if isinstance(live, dict) and isinstance(applied, dict):
        laid = {key: merge(node.child(key), live.get(key), each) for key, each in applied.items()}
        return {**live, **laid}
    if isinstance(live, list) and isinstance(applied, list):
        return _merge_items(node, live, applied)
    return applied


def _merge_items(node: Node, live: list[Value], applied: list[Value]) -> list[Value]:
    """Applied items keep their order; the others stay before what they stood before."""
    known, laid = dict(list_items(node, live)), dict(list_items(node, applied))
    merged: list[Value] = []
    waiting = list(laid)
    for element, item in list_items(node, live):
        if element not in laid:
            merged.append(item)
        while element in waiting:
            following = waiting.pop(0)
            merged.append(merge(node.items, known.get(following), laid[following]))
    return [*merged, *(laid[element] for element in waiting)]


def cut(node: Node | None, value: Value, paths: FieldSet) -> Value:
    """Return `value` without the fields of `paths`; a map or list that got empty is null."""
    parts = _parts(node, value)
    if not paths or not parts or node is None:
        return value if not paths or parts is None else None
    kept = []
    for element, each in parts:
        if (element,) not in paths:
            inner = frozenset(path[1:] for path in paths if path[0] == element)
            kept.append((element, cut(_below(node, element), each, inner)))
    if not kept:
        return None
    if isinstance(value, dict):
        return {element[2:]: each for element, each in kept}
    return [each for _, each in kept]


def with_named_fields(root: Node, paths: Iterable[Path]) -> FieldSet:
    """`paths` and every field named by the schema that stands above one of them."""
    found = set(paths)
    for path in tuple(found):
        node: Node | None = root
        for depth, element in enumerate(path[:-1], 1):
            if node is None:
                break
            if element.startswith("f:") and element[2:] in node.properties:
                found.add(path[:depth])
            node = _below(node, element)
    return frozenset(found)
