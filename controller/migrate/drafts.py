"""What is to become manifests, in lldap's terms, wherever it was read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lldap import AttributeSchema, Target
from lldap.names import BUILT_IN_GROUPS

Attributes = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Password:
    """Where a user's password is to come from.

    `value` is None for one that somebody has to fill in. Without `manage` the operator does not
    touch the account's password, and the Secret waits.
    """

    manage: bool
    value: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserDraft:
    """An account. None is a field that is left alone."""

    id: str
    email: str
    display_name: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    attributes: Attributes = field(default_factory=dict)
    password: Password | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDraft:
    """A group, no built-in one."""

    name: str
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Content:
    """All of it. Users by their id as lldap keeps it, groups by their name in lower case.

    `edges` are pairs of such keys, with the group's name as it is written; those of built-in
    groups are among them. `privileged` are who is in a built-in group.
    """

    attributes: Mapping[Target, Mapping[str, AttributeSchema]]
    groups: Mapping[str, GroupDraft]
    users: Mapping[str, UserDraft]
    edges: Mapping[tuple[str, str], str]
    privileged: frozenset[str]


def privileged(edges: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Who is in a built-in group."""
    return frozenset(user for user, group in edges if group in BUILT_IN_GROUPS)
