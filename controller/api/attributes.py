"""Names of attributes, and the `attributes` field that users and groups share."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from controller.api.fields import Array, Field, Object, Rule, String
from controller.api.names import MARK_ATTRIBUTE

# Names as lldap stores them: in lower case. Seen on lldap 0.6.3.
USER_READ_ONLY: Final = (
    "creation_date",
    "modified_date",
    "password_modified_date",
    "user_id",
    "uuid",
)
USER_FIELDS: Final = ("display_name", "first_name", "last_name", "mail")
USER_BUILT_IN: Final = frozenset({"avatar", *USER_READ_ONLY, *USER_FIELDS})

GROUP_READ_ONLY: Final = ("creation_date", "group_id", "modified_date", "uuid")
GROUP_FIELDS: Final = ("display_name",)
GROUP_BUILT_IN: Final = frozenset({*GROUP_READ_ONLY, *GROUP_FIELDS})

# What lldap lets a custom attribute be called; of its built-in ones only avatar, mail and uuid fit.
NAME: Final = String(min_length=1, max_length=64, pattern="^[a-zA-Z0-9-]+$")

MAX_ATTRIBUTES: Final = 64


def cel_list(names: Iterable[str]) -> str:
    """Return the names as a list in CEL."""
    return "[" + ", ".join(f"'{name}'" for name in sorted(names)) + "]"


def _not_in(names: tuple[str, ...], message: str) -> Rule:
    return Rule(
        field="name",
        expression=f"!(self.name.lowerAscii() in {cel_list(names)})",
        holds=lambda entry: entry["name"].lower() not in names,
        message=message,
    )


def _names_differ(spec: Mapping[str, Any]) -> bool:
    names = [entry["name"].lower() for entry in spec.get("attributes", ())]
    return len(set(names)) == len(names)


NAMES_DIFFER: Final = Rule(
    field="attributes",
    expression=(
        "!has(self.attributes) || self.attributes.all(a, "
        "self.attributes.exists_one(b, b.name.lowerAscii() == a.name.lowerAscii()))"
    ),
    holds=_names_differ,
    message=(
        "lldap's attribute names do not differ by letter case alone: "
        "keep one entry for each attribute"
    ),
)


def attributes(
    *, fields: tuple[str, ...], instead: str, read_only: tuple[str, ...], description: str
) -> Field:
    """Return the field `attributes` of a kind whose own `fields` are set by `instead`."""
    rules = (
        _not_in(fields, f"set {instead} instead of an attribute named {' or '.join(fields)}"),
        _not_in(read_only, f"lldap itself sets {', '.join(read_only)}: remove the entry"),
        _not_in((MARK_ATTRIBUTE,), f"{MARK_ATTRIBUTE} is the operator's mark: remove the entry"),
    )
    entry = Object(fields=(_ENTRY_NAME, _ENTRY_VALUE), rules=rules)
    return Field(
        name="attributes",
        type=Array(items=entry, key="name", max_items=MAX_ATTRIBUTES),
        nullable=True,
        description=description,
    )


_ENTRY_NAME = Field(
    name="name",
    type=NAME,
    required=True,
    description="Name of the attribute. Letter case does not matter: lldap keeps it in lower case.",
)
_ENTRY_VALUE = Field(
    name="value",
    type=Array(items=String()),
    required=True,
    description=(
        "Its values as text: exactly one unless the attribute is a list. Integers in decimal, "
        "DateTime as RFC 3339, JpegPhoto as base64 of a JPEG."
    ),
)
