"""A picture of lldap that is cheap to look at."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from lldap.changes import Changes
from lldap.clock import Clock
from lldap.errors import NotAdmin
from lldap.models import AttributeSchema, Directory, Group, GroupWithMembers, Schema, Target, User
from lldap.names import LLDAP_ADMIN, attribute_key, email_key, group_key, user_key
from lldap.picture import Index, Picture

SLOW_READ_SECONDS = 2.0
"""A read in pages costs lldap about this much for some thousand users, a whole one ever more."""


class DirectoryReader(Protocol):
    """Reads all that lldap has, as `operations.Client` does."""

    def read_directory(self, known: Iterable[str] = ()) -> Directory:
        """Read everything; `known` are ids of users that are probably there."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What one refresh did.

    What is named here was changed by us while lldap was read: the mirror shows our own version of
    it, and what the read said about it was left out.
    """

    generation: int
    users: frozenset[str]
    groups: frozenset[int]
    edges: frozenset[tuple[str, int]]
    attributes: frozenset[tuple[Target, str]]


class Mirror:
    """What was read from lldap plus our own confirmed changes. Any thread; no I/O but in `refresh`.

    - Lookups take ids and names in any letter case, as lldap does, and do not depend on how much
      there is. What they return is immutable.
    - It only nominates: somebody else may have changed lldap since it was read. Read a target by
      itself before changing or deleting it.
    - Call the methods of changes after lldap has confirmed a change, under the lock of its target,
      in the order of the confirmations. Whoever re-reads a target puts what was read, too.
    - A refresh never takes back a change that was confirmed after its read began.
    - Values longer than `models.LARGE_VALUE` are shown as digests.
    """

    def __init__(self, own_user: str, index: Index, *, clock: Clock) -> None:
        """`own_user` is the operator's account.

        `index` gives the value under which `users_by_index` and `groups_by_index` find an account
        or a group; None: they do not.
        """
        self._own_user = user_key(own_user)
        self._index = index
        self._clock = clock
        # Guards all below, and what _picture and the changes in _reads hold. _reads has one
        # entry for each read under way; reads are numbered as they begin, and _shown is the
        # number of the one that _picture was made of.
        self._lock = threading.Lock()
        self._picture = Picture(index)
        self._reads: list[Changes] = []
        self._begun = 0
        self._shown = 0
        self._shown_since: float | None = None
        self._generation = 0
        self._slow = False

    # What was read

    @property
    def generation(self) -> int:
        """How often a read was taken over; 0 before the first."""
        with self._lock:
            return self._generation

    @property
    def loaded(self) -> bool:
        """Whether anything was read at all."""
        return self.generation > 0

    @property
    def age(self) -> float | None:
        """Seconds since the read that is shown began; None before the first."""
        with self._lock:
            since = self._shown_since
        return None if since is None else self._clock.monotonic() - since

    def refresh(self, reader: DirectoryReader, expected: Iterable[str] = ()) -> Refreshed:
        """Read lldap and show what was read, with what was changed since kept.

        `expected` are ids of users that are probably there, beyond those shown already. The
        reader is told ids, which help it to be quicker, at the first read and once one took
        longer than SLOW_READ_SECONDS.

        Raises what the read raises, and NotAdmin if lldap's lists do not show the operator's own
        account in lldap_admin: another account is not shown everything, so that such a read is
        worth nothing. What is shown then stays.
        """
        began = self._clock.monotonic()
        with self._reading() as (number, changes):
            try:
                directory = reader.read_directory(self._known(expected))
            finally:
                self._notice_slowness(began)
            self._require_admin(directory)
            fresh = Picture.of(directory, self._index)
            return self._take_over(number, began, fresh, changes)

    @contextmanager
    def _reading(self) -> Iterator[tuple[int, Changes]]:
        changes = Changes()
        with self._lock:
            self._begun += 1
            number = self._begun
            self._reads.append(changes)
        try:
            yield number, changes
        finally:
            with self._lock:
                self._reads = [other for other in self._reads if other is not changes]

    def _known(self, expected: Iterable[str]) -> list[str]:
        with self._lock:
            helps = self._slow or not self._shown
            return [*self._picture.users, *expected] if helps else []

    def _notice_slowness(self, began: float) -> None:
        if self._clock.monotonic() - began > SLOW_READ_SECONDS:
            with self._lock:
                self._slow = True

    def _require_admin(self, directory: Directory) -> None:
        for group in directory.groups:
            if group_key(group.display_name) == LLDAP_ADMIN and self._own_user in group.members:
                return
        raise NotAdmin(f"{self._own_user} is not in {LLDAP_ADMIN}")

    def _take_over(self, number: int, began: float, fresh: Picture, changes: Changes) -> Refreshed:
        with self._lock:
            old = self._picture  # freed after the lock is
            if number > self._shown:  # else a read that began later is shown already
                changes.carry_over(old, fresh)
                self._picture = fresh
                self._shown = number
                self._shown_since = began
                self._generation += 1
            return Refreshed(
                self._generation,
                frozenset(changes.users),
                frozenset(changes.groups),
                frozenset(changes.edges),
                frozenset(changes.attributes),
            )

    # Lookups

    @property
    def server_uuid(self) -> str | None:
        """The uuid of lldap_admin, which tells one lldap from another; None before a read."""
        group = self.group_by_name(LLDAP_ADMIN)
        return None if group is None else group.uuid

    def users(self) -> tuple[User, ...]:
        """All users."""
        with self._lock:
            return tuple(self._picture.users.values())

    def groups(self) -> tuple[Group, ...]:
        """All groups."""
        with self._lock:
            return tuple(self._picture.groups.values())

    def schema(self) -> Schema:
        """All attributes."""
        with self._lock:
            schemas = self._picture.schemas
            return Schema(dict(schemas[Target.USER]), dict(schemas[Target.GROUP]))

    def user(self, user_id: str) -> User | None:
        """The user of that id."""
        with self._lock:
            return self._picture.users.get(user_key(user_id))

    def group(self, group_id: int) -> Group | None:
        """The group of that id."""
        with self._lock:
            return self._picture.groups.get(group_id)

    def group_by_name(self, display_name: str) -> Group | None:
        """The group of that name."""
        key = group_key(display_name)
        with self._lock:
            found = self._picture.group_ids_by_name.get(key)
            return None if found is None else self._picture.groups[found]

    def email_owner(self, email: str) -> str | None:
        """The id of the user with that e-mail."""
        key = email_key(email)
        with self._lock:
            return self._picture.user_ids_by_email.get(key)

    def groups_of(self, user_id: str) -> frozenset[int]:
        """The ids of the groups that the user is in."""
        key = user_key(user_id)
        with self._lock:
            return frozenset(self._picture.group_ids_by_user.get(key, ()))

    def member(self, user_id: str, group_id: int) -> bool:
        """Whether the user is in the group."""
        key = user_key(user_id)
        with self._lock:
            return self._picture.has_edge(key, group_id)

    def has_members(self, group_id: int) -> bool:
        """Whether anybody is in the group."""
        with self._lock:
            return bool(self._picture.members.get(group_id))

    def attribute(self, target: Target, name: str) -> AttributeSchema | None:
        """The attribute of that name."""
        key = attribute_key(name)
        with self._lock:
            return self._picture.schemas[target].get(key)

    def users_by_index(self, value: str) -> tuple[User, ...]:
        """The users for which the index has that value."""
        with self._lock:
            picture = self._picture
            return tuple(picture.users[found] for found in picture.user_ids_by_index.get(value, ()))

    def groups_by_index(self, value: str) -> tuple[Group, ...]:
        """The groups for which the index has that value."""
        with self._lock:
            picture = self._picture
            ids = picture.group_ids_by_index.get(value, ())
            return tuple(picture.groups[found] for found in ids)

    def holders(self, target: Target, name: str) -> list[str]:
        """Names of the users or groups that have a value of the attribute."""
        key = attribute_key(name)
        if target is Target.USER:
            return [user.id for user in self.users() if key in user.attributes]
        return [group.display_name for group in self.groups() if key in group.attributes]

    # Our own changes, after lldap has confirmed them

    def put_user(self, user: User) -> None:
        """The user is as given; its groups are as before."""
        with self._lock:
            self._picture.put_user(user)
            for changes in self._reads:
                changes.users.add(user.id)

    def drop_user(self, user_id: str) -> None:
        """There is no such user, and nobody of that id in any group."""
        key = user_key(user_id)
        with self._lock:
            self._picture.drop_user(key)
            for changes in self._reads:
                changes.drop_user(key)

    def set_groups(self, user_id: str, group_ids: Iterable[int]) -> None:
        """The user is in these groups and in no other."""
        wanted = frozenset(group_ids)
        shown = self.groups_of(user_id)
        for group_id in wanted - shown:
            self.add_edge(user_id, group_id)
        for group_id in shown - wanted:
            self.remove_edge(user_id, group_id)

    def put_group(self, group: GroupWithMembers) -> None:
        """The group is as given, its members too."""
        with self._lock:
            self._picture.put_group(group)
            for changes in self._reads:
                changes.set_group(group.id)

    def drop_group(self, group_id: int) -> None:
        """There is no such group."""
        with self._lock:
            self._picture.drop_group(group_id)
            for changes in self._reads:
                changes.set_group(group_id)

    def add_edge(self, user_id: str, group_id: int) -> None:
        """The user is in the group. Not shown while the group is not."""
        key = user_key(user_id)
        with self._lock:
            self._picture.add_edge(key, group_id)
            for changes in self._reads:
                changes.edges[key, group_id] = True

    def remove_edge(self, user_id: str, group_id: int) -> None:
        """The user is not in the group."""
        key = user_key(user_id)
        with self._lock:
            self._picture.remove_edge(key, group_id)
            for changes in self._reads:
                changes.edges[key, group_id] = False

    def put_attribute(self, target: Target, attribute: AttributeSchema) -> None:
        """The attribute is in the schema."""
        key = attribute_key(attribute.name)
        with self._lock:
            self._picture.put_attribute(target, replace(attribute, name=key))
            for changes in self._reads:
                changes.attributes.add((target, key))

    def drop_attribute(self, target: Target, name: str) -> None:
        """The attribute is not in the schema, and nobody has a value of it."""
        key = attribute_key(name)
        with self._lock:
            self._picture.drop_attribute(target, key)
            self._picture.wipe_attribute(target, key)
            for changes in self._reads:
                changes.attributes.add((target, key))
                changes.dropped_attributes.add((target, key))
