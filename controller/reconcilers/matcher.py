"""Whom a membership means: a stateless match of names, without client and without I/O.

The names are those of the plan that the project implements: candidates are small borrowed
records that the caller takes off the objects; a match needs the same namespace, the same
instance, and the name as lldap compares it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from lldap.names import group_key, user_key


@dataclass(frozen=True, slots=True)
class MembershipReference:
    """What a membership says."""

    namespace: str
    instance: str
    user_name: str
    group_name: str


@dataclass(frozen=True, slots=True)
class UserCandidate:
    """A user object that may be meant."""

    namespace: str
    instance: str
    username: str


@dataclass(frozen=True, slots=True)
class GroupCandidate:
    """A group object that may be meant."""

    namespace: str
    instance: str
    display_name: str


class MembershipValidationError(Exception):
    """A name of the membership stands for nothing."""


class UserNotFound(MembershipValidationError):  # noqa: N818 - the plan's name
    """No user object of that name."""


class GroupNotFound(MembershipValidationError):  # noqa: N818 - the plan's name
    """No group object of that name."""


def validate_membership_references(
    reference: MembershipReference,
    users: Iterable[UserCandidate],
    groups: Iterable[GroupCandidate],
) -> tuple[UserCandidate, GroupCandidate]:
    """The two that are meant; raises UserNotFound or GroupNotFound, the user's first."""
    return match_user(reference, users), match_group(reference, groups)


def match_user(reference: MembershipReference, users: Iterable[UserCandidate]) -> UserCandidate:
    """The user that is meant, or UserNotFound."""
    wanted = user_key(reference.user_name)
    found = _first(reference, users, lambda user: user_key(user.username) == wanted)
    if found is None:
        raise UserNotFound(reference.user_name)
    return found


def match_group(reference: MembershipReference, groups: Iterable[GroupCandidate]) -> GroupCandidate:
    """The group that is meant, or GroupNotFound."""
    wanted = group_key(reference.group_name)
    found = _first(reference, groups, lambda group: group_key(group.display_name) == wanted)
    if found is None:
        raise GroupNotFound(reference.group_name)
    return found


Candidate = TypeVar("Candidate", UserCandidate, GroupCandidate)


def _first(
    reference: MembershipReference,
    candidates: Iterable[Candidate],
    named: Callable[[Candidate], bool],
) -> Candidate | None:
    place = (reference.namespace, reference.instance)
    return next((c for c in candidates if (c.namespace, c.instance) == place and named(c)), None)
