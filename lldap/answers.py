"""What lldap answers, made into `lldap.models`.

Objects are made while the text is parsed, each as soon as its closing brace is read. A directory
of 50,000 users so never exists as dicts: those take four times the memory and, because the
garbage collector walks through them, five times as long. GraphQL answers have the fields in the
order in which the document asks for them, so that the keys tell what an object is; an object with
other keys stays a dict, and is then no answer to whoever expects a model.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lldap.models import (
    AttributeSchema,
    AttributeType,
    CompactAttributes,
    Directory,
    Group,
    GroupWithMembers,
    Schema,
    User,
    short,
)
from lldap.names import attribute_key

WRONG_SHAPE = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading an answer of another shape raises."""

_Pairs = list[tuple[str, Any]]
_Value = str | tuple[str, ...]  # the one value of an attribute, or its values
_Column = tuple[str, _Value]  # an attribute's name and value
_Known = dict[_Value, Any]  # texts by themselves


def read(body: bytes) -> object:
    """The JSON `body` with models in it. Raises WRONG_SHAPE."""
    return _Reader(digests=False).read(body)


def read_in_bulk(body: bytes) -> object:
    """The same, with digests for long values."""
    return _Reader(digests=True).read(body)


def directory(data: Mapping[str, Any], lists: Iterable[str]) -> Directory:
    """The answer to `documents.directory`; `lists` are its lists of users. Raises WRONG_SHAPE."""
    users: list[User] = []
    members: dict[int, list[str]] = defaultdict(list)
    for name in lists:
        for user, group_ids in _tuples(data[name]):
            users.append(user)
            for (group_id,) in _tuples(group_ids):
                members[_number(group_id)].append(user.id)
    groups = [group.with_members(members[group.id]) for group in data["groups"]]
    return Directory(users, groups, schema(data["schema"]))


def ids(raw: list[Any]) -> list[str]:
    """The ids of users. Raises WRONG_SHAPE."""
    return [_text(user_id) for (user_id,) in _tuples(raw)]


def group_names(raw: list[Any]) -> dict[int, str]:
    """The groups of a user: ids and names. Raises WRONG_SHAPE."""
    return dict(_tuples(raw))


def schema(raw: Mapping[str, Any]) -> Schema:
    """The attributes that users and groups may have. Raises WRONG_SHAPE."""
    return Schema(
        _by_name(raw["userSchema"]["attributes"]), _by_name(raw["groupSchema"]["attributes"])
    )


def _by_name(attributes: list[AttributeSchema]) -> dict[str, AttributeSchema]:
    found: dict[str, AttributeSchema] = {}
    for attribute in attributes:
        before = found.get(attribute.name)
        # lldap lets people add an attribute with the name of a built-in one: the built-in counts.
        if before is None or not before.is_hardcoded:
            found[attribute.name] = attribute
    return found


class _Reader:
    """Reads one answer; what is the same in many accounts is kept once."""

    def __init__(self, *, digests: bool) -> None:
        self._digests = digests
        self._shapes: dict[tuple[str, ...], tuple[str, ...]] = {}

    def read(self, body: bytes) -> object:
        return json.loads(body, object_pairs_hook=self._object)

    def _object(self, pairs: _Pairs) -> object:
        # Attributes and ids are nearly all objects of a directory: they come first.
        if len(pairs) == 2:
            (first, name), (second, value) = pairs
            if first == "name" and second == "value":
                return self._attribute(name, value)
        elif len(pairs) == 1 and pairs[0][0] == "id":
            return (pairs[0][1],)
        make = _MAKERS.get(tuple([key for key, _ in pairs]))
        return dict(pairs) if make is None else make(self, [value for _, value in pairs])

    def _attribute(self, name: str, value: object) -> _Column:
        if type(value) is not list:
            raise TypeError
        texts = [self._value(text) for text in value]
        return name, (texts[0] if len(texts) == 1 else tuple(texts))

    def _value(self, raw: object) -> str:
        text = _text(raw)
        return short(text) if self._digests else text

    def id_and_name(self, values: list[object]) -> tuple[int, str]:
        return _number(values[0]), _text(values[1])

    def user(self, values: list[Any]) -> User:
        known: _Known = {}
        texts = [*map(_text, values[:6]), _date(values[6])]
        user_id, email, display_name, first_name, last_name, uuid, creation_date = [
            known.setdefault(text, text) for text in texts
        ]
        return User(
            user_id,
            email,
            display_name,
            first_name,
            last_name,
            uuid,
            creation_date,
            self._attributes(values[7], known),
        )

    def user_with_groups(self, values: list[Any]) -> tuple[User, list[Any]]:
        return self.user(values), values[8]

    def group(self, values: list[Any]) -> Group:
        display_name, uuid = map(_text, values[1:3])
        attributes = self._attributes(values[4], {})
        return Group(_number(values[0]), display_name, uuid, _date(values[3]), attributes)

    def group_with_members(self, values: list[Any]) -> GroupWithMembers:
        return self.group(values).with_members(ids(values[5]))

    def attribute_schema(self, values: list[Any]) -> AttributeSchema:
        name, attribute_type, *flags = values
        return AttributeSchema(
            sys.intern(attribute_key(_text(name))),
            AttributeType(attribute_type),
            *[_flag(value) for value in flags],
        )

    def _attributes(self, columns: list[_Column], known: _Known) -> CompactAttributes:
        """`known` are texts that the account has already: attributes repeat its fields."""
        names = tuple([name for name, _ in _tuples(columns)])
        shape = self._shapes.get(names) or self._new_shape(names)
        return CompactAttributes(shape, tuple([known.get(value, value) for _, value in columns]))

    def _new_shape(self, names: tuple[str, ...]) -> tuple[str, ...]:
        shape = tuple(sys.intern(attribute_key(_text(name))) for name in names)
        self._shapes[names] = shape
        return shape


def _tuples(raw: list[Any]) -> list[Any]:
    """`raw`, which must be a list of what was an object: JSON's own arrays are lists."""
    if type(raw) is not list or not _TUPLE.issuperset(map(type, raw)):
        raise TypeError
    return raw


def _text(raw: object) -> str:
    if type(raw) is not str:
        raise TypeError
    return raw


def _date(raw: object) -> str:
    """A date as all others are printed: this one field ends in Z, and dates are compared."""
    text = _text(raw)
    return f"{text[:-1]}+00:00" if text.endswith("Z") else text


def _number(raw: object) -> int:
    if type(raw) is not int:
        raise TypeError
    return raw


def _flag(raw: object) -> bool:
    if type(raw) is not bool:
        raise TypeError
    return raw


_TUPLE = frozenset({tuple})
_USER = (
    "id",
    "email",
    "displayName",
    "firstName",
    "lastName",
    "uuid",
    "creationDate",
    "attributes",
)
_GROUP = ("id", "displayName", "uuid", "creationDate", "attributes")
_ATTRIBUTE_SCHEMA = (
    "name",
    "attributeType",
    "isList",
    "isVisible",
    "isEditable",
    "isHardcoded",
    "isReadonly",
)
_MAKERS: dict[tuple[str, ...], Callable[[_Reader, list[Any]], object]] = {
    ("id", "displayName"): _Reader.id_and_name,
    _USER: _Reader.user,
    (*_USER, "groups"): _Reader.user_with_groups,
    _GROUP: _Reader.group,
    (*_GROUP, "users"): _Reader.group_with_members,
    _ATTRIBUTE_SCHEMA: _Reader.attribute_schema,
}
