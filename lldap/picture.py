"""What a mirror shows: users, groups, edges and schema with their indexes. No lock of its own."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from lldap.models import (
    Attributes,
    AttributeSchema,
    Directory,
    Group,
    GroupWithMembers,
    Schema,
    Target,
    User,
    digested,
    without,
)
from lldap.names import email_key, group_key

Index = Callable[[Attributes], str | None]

_Id = TypeVar("_Id")

_NO_IDS: tuple[int, ...] = ()


class Picture:
    """A directory that can be changed. The caller holds the lock of whoever owns it.

    An edge is kept in the `members` of its group, whether the user is known or not; an edge of a
    group that is not known is not kept. They are no part of the group: it is given out, and each
    new edge would copy those that there are.
    """

    def __init__(self, index: Index, schema: Schema | None = None) -> None:
        schema = schema or Schema()
        self._index = index
        self.users: dict[str, User] = {}
        self.groups: dict[int, Group] = {}
        self.members: dict[int, set[str]] = {}  # of each of the groups
        self.schemas = {target: dict(schema.of(target)) for target in Target}
        self.group_ids_by_name: dict[str, int] = {}
        self.user_ids_by_email: dict[str, str] = {}
        self.user_ids_by_index: dict[str, tuple[str, ...]] = {}
        self.group_ids_by_index: dict[str, tuple[int, ...]] = {}
        self.group_ids_by_user: dict[str, tuple[int, ...]] = {}

    @classmethod
    def of(cls, directory: Directory, index: Index) -> "Picture":
        """The picture of `directory`."""
        picture = cls(index, directory.schema)
        for user in directory.users:
            picture._show_user(user)
        edges: dict[str, list[int]] = defaultdict(list)
        for group in directory.groups:
            picture._show_group(group, group.attributes)
            picture.members[group.id] = set(group.members)
            for user_id in group.members:
                edges[user_id].append(group.id)
        picture.group_ids_by_user = {user_id: tuple(ids) for user_id, ids in edges.items()}
        return picture

    def put_user(self, user: User) -> None:
        """Show `user`; its edges stay."""
        self._show_user(replace(user, attributes=digested(user.attributes)))

    def drop_user(self, user_id: str) -> None:
        """Show no such user and no edge of it."""
        for group_id in self.group_ids_by_user.get(user_id, _NO_IDS):
            self.remove_edge(user_id, group_id)
        self._forget_user(user_id)

    def put_group(self, group: GroupWithMembers) -> None:
        """Show `group` with just its members."""
        old = self.members.get(group.id, set())
        self._show_group(group, digested(group.attributes))
        self.members[group.id] = set(group.members)
        for user_id in group.members - old:
            self._add_group_id(user_id, group.id)
        for user_id in old - group.members:
            self._remove_group_id(user_id, group.id)

    def drop_group(self, group_id: int) -> None:
        """Show no such group and no edge of it."""
        self._forget_group(group_id)
        for user_id in self.members.pop(group_id, ()):
            self._remove_group_id(user_id, group_id)

    def has_edge(self, user_id: str, group_id: int) -> bool:
        """Whether the user is shown as a member."""
        return user_id in self.members.get(group_id, ())

    def add_edge(self, user_id: str, group_id: int) -> None:
        """Show the user as a member."""
        members = self.members.get(group_id)
        if members is not None and user_id not in members:
            members.add(user_id)
            self._add_group_id(user_id, group_id)

    def remove_edge(self, user_id: str, group_id: int) -> None:
        """Show the user as no member."""
        members = self.members.get(group_id)
        if members is not None and user_id in members:
            members.remove(user_id)
            self._remove_group_id(user_id, group_id)

    def put_attribute(self, target: Target, attribute: AttributeSchema) -> None:
        """Show the attribute in the schema."""
        self.schemas[target][attribute.name] = attribute

    def drop_attribute(self, target: Target, name: str) -> None:
        """Show no such attribute; values stay (`wipe_attribute`)."""
        self.schemas[target].pop(name, None)

    def wipe_attribute(self, target: Target, name: str) -> None:
        """Show no value of the attribute."""
        if target is Target.USER:
            for user in [user for user in self.users.values() if name in user.attributes]:
                self._show_user(replace(user, attributes=without(user.attributes, name)))
        else:
            for group in [group for group in self.groups.values() if name in group.attributes]:
                self._show_group(group, without(group.attributes, name))

    def _show_user(self, user: User) -> None:
        self._forget_user(user.id)
        self.users[user.id] = user
        self.user_ids_by_email[email_key(user.email)] = user.id
        _add(self.user_ids_by_index, self._index(user.attributes), user.id)

    def _show_group(self, group: Group, attributes: Attributes) -> None:
        group = Group(group.id, group.display_name, group.uuid, group.creation_date, attributes)
        self._forget_group(group.id)
        self.groups[group.id] = group
        self.group_ids_by_name[group_key(group.display_name)] = group.id
        _add(self.group_ids_by_index, self._index(group.attributes), group.id)

    def _forget_user(self, user_id: str) -> None:
        user = self.users.pop(user_id, None)
        if user is None:
            return
        key = email_key(user.email)
        if self.user_ids_by_email.get(key) == user_id:  # it may be another's by now
            del self.user_ids_by_email[key]
        _remove(self.user_ids_by_index, self._index(user.attributes), user_id)

    def _forget_group(self, group_id: int) -> None:
        group = self.groups.pop(group_id, None)
        if group is None:
            return
        key = group_key(group.display_name)
        if self.group_ids_by_name.get(key) == group_id:  # it may be another's by now
            del self.group_ids_by_name[key]
        _remove(self.group_ids_by_index, self._index(group.attributes), group_id)

    def _add_group_id(self, user_id: str, group_id: int) -> None:
        ids = self.group_ids_by_user.get(user_id, _NO_IDS)
        self.group_ids_by_user[user_id] = (*ids, group_id)

    def _remove_group_id(self, user_id: str, group_id: int) -> None:
        ids = self.group_ids_by_user.get(user_id, _NO_IDS)
        left = tuple([other for other in ids if other != group_id])
        if left:
            self.group_ids_by_user[user_id] = left
        else:
            self.group_ids_by_user.pop(user_id, None)


def _add(ids: dict[str, tuple[_Id, ...]], value: str | None, found: _Id) -> None:
    if value is not None:
        ids[value] = (*ids.get(value, ()), found)


def _remove(ids: dict[str, tuple[_Id, ...]], value: str | None, lost: _Id) -> None:
    if value is None:
        return
    left = tuple([other for other in ids.get(value, ()) if other != lost])
    if left:
        ids[value] = left
    else:
        ids.pop(value, None)
