"""lldap's things, named as in its schema. All immutable: any thread."""

import enum
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

LARGE_VALUE = 512
"""Characters. Of a longer value only a digest is kept in bulk: photos would fill the memory."""


class Target(enum.Enum):
    """What an attribute belongs to."""

    USER = "USER"
    GROUP = "GROUP"


class AttributeType(enum.Enum):
    """The types of attributes, in lldap's words."""

    STRING = "STRING"
    INTEGER = "INTEGER"
    JPEG_PHOTO = "JPEG_PHOTO"
    DATE_TIME = "DATE_TIME"


class Digest(str):
    """Stands for a value longer than LARGE_VALUE; only `values.equal` looks at it.

    A type of its own, because somebody could store the text of a digest as a value.
    """

    __slots__ = ()

    @classmethod
    def of(cls, value: str) -> "Digest":
        """The digest of `value`, as lldap prints it."""
        return cls("sha256:" + hashlib.sha256(value.encode()).hexdigest())


def short(value: str) -> str:
    """The value itself, or its Digest if it is long."""
    return Digest.of(value) if len(value) > LARGE_VALUE else value


Attributes = Mapping[str, tuple[str, ...]]
"""Attribute keys to values as read back, built-in and custom ones together.

An unset attribute has no entry; a list may be empty.
"""


class CompactAttributes(Mapping[str, tuple[str, ...]]):
    """Attributes in little memory: accounts with the same attributes share one tuple of names."""

    __slots__ = ("_names", "_values")

    def __init__(self, names: tuple[str, ...], values: tuple[str | tuple[str, ...], ...]) -> None:
        """Names and their values, side by side; a bare string stands for a list of one."""
        self._names = names
        self._values = values

    def __getitem__(self, name: str) -> tuple[str, ...]:
        try:
            value = self._values[self._names.index(name)]
        except ValueError:
            raise KeyError(name) from None
        return (value,) if isinstance(value, str) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))


def digested(attributes: Attributes) -> Attributes:
    """The same, compact and with a Digest for each value longer than LARGE_VALUE."""
    return CompactAttributes(
        tuple(attributes),
        tuple([_bare(tuple([short(text) for text in value])) for value in attributes.values()]),
    )


def without(attributes: Attributes, name: str) -> Attributes:
    """The same without the attribute `name`."""
    left = {key: value for key, value in attributes.items() if key != name}
    return CompactAttributes(tuple(left), tuple([_bare(value) for value in left.values()]))


def _bare(value: tuple[str, ...]) -> str | tuple[str, ...]:
    return value[0] if len(value) == 1 else value


def single(attributes: Attributes, name: str) -> str | None:
    """The value of a single-valued attribute; None if it is unset or a list of another size."""
    value = attributes.get(name, ())
    return value[0] if len(value) == 1 else None


@dataclass(frozen=True, slots=True)
class User:
    """An account. Unset names are empty strings.

    Dates are texts as lldap prints them in attributes: equal if they are the same moment.
    """

    id: str
    email: str
    display_name: str
    first_name: str
    last_name: str
    uuid: str
    creation_date: str
    attributes: Attributes = field(default_factory=dict)

    @property
    def modified_date(self) -> str | None:
        """When it was last changed."""
        return single(self.attributes, "modified_date")

    @property
    def password_modified_date(self) -> str | None:
        """When a password was last registered, by whoever; the creation date if none ever was.

        None if this lldap does not tell.
        """
        return single(self.attributes, "password_modified_date")


@dataclass(frozen=True, slots=True)
class Group:
    """A group."""

    id: int
    display_name: str
    uuid: str
    creation_date: str
    attributes: Attributes = field(default_factory=dict)

    @property
    def modified_date(self) -> str | None:
        """When it was last changed."""
        return single(self.attributes, "modified_date")

    def with_members(self, members: Iterable[str]) -> "GroupWithMembers":
        """The same with the ids of its members."""
        return GroupWithMembers(
            self.id,
            self.display_name,
            self.uuid,
            self.creation_date,
            self.attributes,
            frozenset(members),
        )


@dataclass(frozen=True, slots=True)
class GroupWithMembers(Group):
    """A group and its `members`, which are user ids."""

    members: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class AttributeSchema:
    """What an attribute is."""

    name: str
    attribute_type: AttributeType
    is_list: bool = False
    is_visible: bool = False
    is_editable: bool = False
    is_hardcoded: bool = False
    is_readonly: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """The attributes that users and groups may have, by attribute key."""

    user: Mapping[str, AttributeSchema] = field(default_factory=dict)
    group: Mapping[str, AttributeSchema] = field(default_factory=dict)

    def of(self, target: Target) -> Mapping[str, AttributeSchema]:
        """The attributes of `target`."""
        return self.user if target is Target.USER else self.group


@dataclass(frozen=True, slots=True)
class Directory:
    """All that lldap has, from one read. Values longer than LARGE_VALUE are digests."""

    users: Sequence[User]
    groups: Sequence[GroupWithMembers]
    schema: Schema
