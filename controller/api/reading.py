"""Reads a spec by its description, for objects that an older or missing CRD let through."""

import functools
import re
from collections.abc import Mapping
from typing import Any

from controller.api.fields import Array, Boolean, Integer, Object, String, Type


class InvalidSpec(Exception):  # noqa: N818  it names the state of the object, as reasons do
    """A spec that the operator does not act on: `field` is its path, `reason` what is wrong.

    The text quotes names and limits, never a value.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


def read_object(kind: Object, value: object, path: str) -> dict[str, Any]:
    """Return `value` without nulls and with defaults filled in; InvalidSpec if it breaks a limit.

    Fields that are not described are dropped: a newer version may have put them there.
    """
    if not isinstance(value, Mapping):
        raise InvalidSpec(path, "must be an object")
    found = {}
    for field in kind.fields:
        given = value.get(field.name)
        if given is not None:
            found[field.name] = _read(field.type, given, f"{path}.{field.name}")
        elif field.default is not None:
            found[field.name] = field.default
        elif field.required:
            raise InvalidSpec(f"{path}.{field.name}", "is required")
    for rule in kind.rules:
        if not rule.holds(found):
            raise InvalidSpec(f"{path}.{rule.field}", rule.message)
    return found


def _read(kind: Type, value: object, path: str) -> object:
    match kind:
        case String():
            return _string(kind, value, path)
        case Boolean():
            return _boolean(value, path)
        case Integer():
            return _integer(kind, value, path)
        case Array():
            return _array(kind, value, path)
        case Object():
            return read_object(kind, value, path)


def _string(kind: String, value: object, path: str) -> str:
    if not isinstance(value, str):
        raise InvalidSpec(path, "must be text")
    if kind.enum and value not in kind.enum:
        raise InvalidSpec(path, f"must be one of {', '.join(kind.enum)}")
    if len(value) < kind.min_length:
        raise InvalidSpec(path, f"must have at least {kind.min_length} characters")
    if kind.max_length is not None and len(value) > kind.max_length:
        raise InvalidSpec(path, f"must have at most {kind.max_length} characters")
    if kind.pattern and not _matches(kind.pattern, value):
        raise InvalidSpec(path, f"must match {kind.pattern}")
    return value


def _matches(pattern: str, value: str) -> bool:
    """Match as RE2 does: its `$` is the end of the text, Python's lets a newline follow."""
    return _compiled(pattern).fullmatch(value) is not None


@functools.cache  # there are only the patterns of the kinds
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.removesuffix("$"), re.ASCII)


def _boolean(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidSpec(path, "must be true or false")
    return value


def _integer(kind: Integer, value: object, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidSpec(path, "must be a whole number")
    end = 2 ** (int(kind.format.removeprefix("int")) - 1)
    lowest = -end if kind.minimum is None else kind.minimum
    if not lowest <= value < end:
        raise InvalidSpec(path, f"must be from {lowest} to {end - 1}")
    return value


def _array(kind: Array, value: object, path: str) -> list[object]:
    if not isinstance(value, list):
        raise InvalidSpec(path, "must be a list")
    if kind.max_items is not None and len(value) > kind.max_items:
        raise InvalidSpec(path, f"must have at most {kind.max_items} entries")
    return [_read(kind.items, item, f"{path}[{index}]") for index, item in enumerate(value)]
