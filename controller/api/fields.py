"""What a field of a kind is: its type, its limits, what it means and which rules hold for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

# Not FieldValueDuplicate: with it the API server leaves the message out.
Reason = Literal["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class String:
    """Text. Lengths count code points, as the API server does.

    A pattern begins with `^`, ends with `$` and means the same in Go (RE2) and in Python with
    `re.ASCII`.
    """

    min_length: int = 0
    max_length: int | None = None
    pattern: str = ""
    enum: tuple[str, ...] = ()
    format: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer:
    """A whole number of `format` int32 or int64."""

    format: Literal["int32", "int64"]
    minimum: int | None = None


@dataclass(frozen=True, slots=True)
class Boolean:
    """True or false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """A list: atomic (replaced as a whole) or, with `key`, a map of objects by that field."""

    items: "Type"
    key: str = ""
    max_items: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """Named fields, and the rules between them."""

    fields: tuple["Field", ...]
    rules: tuple["Rule", ...] = ()


Type = String | Integer | Boolean | Array | Object


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of an Object.

    `nullable` is for optional fields without default or enum: without it server-side apply
    refuses an explicit null, with it null is stored and means the same as leaving it out.
    `immutable` says what to do instead of a change; empty: it may change. Only a required or
    defaulted field may be immutable: another could be removed and then set.
    """

    name: str
    type: Type
    description: str
    required: bool = False
    nullable: bool = False
    default: str | bool | None = None
    immutable: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule that the types cannot say, once in CEL for the API server and once in Python.

    Both see the object that the rule stands at. `holds` gets it without nulls and with
    defaults filled in, its types and limits checked. `field` is the one that errors name.
    """

    field: str
    expression: str
    holds: Callable[[Mapping[str, Any]], bool]
    message: str
    reason: Reason = "FieldValueInvalid"
