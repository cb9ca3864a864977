"""All that the reconcilers of one lldap share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from controller.api import LLDAP_GROUP, LLDAP_USER, Kind
from controller.clock import Clock
from controller.configuration.rules import Rules
from controller.events.events import EventReason, Events
from controller.harness.brake import Brake
from controller.harness.conditions import bounded
from controller.harness.gate import Gate
from controller.harness.guard import UninstallGuard
from controller.harness.locks import KeyedLocks
from controller.harness.reasoned import fail
from controller.harness.reasons import Reason
from controller.harness.resource import Resource
from controller.harness.statuswriter import StatusWriter
from controller.kube import Kube
from controller.metrics.lldap import LldapMetrics
from controller.metrics.objects import ObjectMetrics
from controller.ownership.ownership import Ownership, Target
from controller.ownership.seal import Sealer
from controller.ownership.servers import Servers
from controller.ownership.unrecorded import Unrecorded
from controller.reconcilers.attributes import AttributeDependencies
from controller.watching.cache import Cache
from lldap import Client, Group, Mirror, NotFound, User
from lldap.names import BUILT_IN_GROUPS, group_key
from lldap.passwords import Passwords

SHOWN_NAME_BYTES = 128  # of a group's name in a message, which has to say more than that


@dataclass(frozen=True, kw_only=True)
class Instance:
    """The parts, made once a process. Every part may be used from any thread."""

    rules: Rules
    client: Client
    mirror: Mirror
    passwords: Passwords
    gate: Gate
    locks: KeyedLocks
    cache: Cache
    kube: Kube
    status: StatusWriter
    ownership: Ownership
    dependencies: AttributeDependencies
    sealer: Sealer
    brake: Brake
    guard: UninstallGuard
    servers: Servers
    unrecorded: Unrecorded
    events: Events
    metrics: ObjectMetrics
    lldap_metrics: LldapMetrics
    clock: Clock
    prepare: Callable[[], None]
    """Makes sure that lldap has the mark attribute; before any other write."""
    refresh: Callable[[], None]
    """Reads all of lldap into the mirror, now."""
    email_freed: Callable[[str], None]
    """Told an e-mail address that an account of lldap had and has no more."""
    group_name_freed: Callable[[str], None]
    """Told the name that a group of lldap had before it was renamed."""
    found_gone: Callable[[Kind, str, Resource], None]
    """Told the name of a user or group that lldap has no more, and whose pass found that out."""

    # --- reading one target again --------------------------------------------------------

    def read_user(self, user_id: str, reader: Resource) -> User | None:
        """The account as it is now; the mirror learns of it and its groups.

        The caller holds its lock. `reader`: whose pass it is.
        """
        try:
            user, groups = self.client.user_with_groups(user_id)
        except NotFound:
            self.drop_user(user_id, reader)
            return None
        known = self.mirror.user(user_id)
        if any(not self._is_shown(*group) for group in groups.items()):
            self.refresh()  # a group is new or renamed: by its name it may hand out rights
        self.mirror.put_user(user)
        self.mirror.set_groups(user.id, groups)
        if known is not None and known.email != user.email:
            self.email_freed(known.email)
        return user

    def drop_user(self, user_id: str, reader: Resource) -> None:
        """The account is gone: the mirror learns of it, and who wants its name or address."""
        known = self.mirror.user(user_id)
        self.mirror.drop_user(user_id)
        if known is not None:
            self.email_freed(known.email)
            self.found_gone(LLDAP_USER, user_id, reader)

    def _is_shown(self, group_id: int, name: str) -> bool:
        group = self.mirror.group(group_id)
        return group is not None and group.display_name == name

    def read_group(self, group_id: int, reader: Resource) -> Group | None:
        """The group as it is now; the mirror learns of it.

        The caller holds its lock. `reader`: whose pass it is.
        """
        known = self.mirror.group(group_id)
        try:
            group = self.client.group(group_id)
        except NotFound:
            self.drop_group(group_id, reader)
            return None
        self.mirror.put_group(group)
        if known is not None and group_key(known.display_name) != group_key(group.display_name):
            self.group_name_freed(known.display_name)
        return group

    def drop_group(self, group_id: int, reader: Resource) -> None:
        """The group is gone: the mirror learns of it, and who wants its name."""
        known = self.mirror.group(group_id)
        self.mirror.drop_group(group_id)
        if known is not None:
            self.found_gone(LLDAP_GROUP, group_key(known.display_name), reader)

    # --- targets ---------------------------------------------------------------------------

    def user_target(self, user: User) -> Target:
        """The account as far as ownership goes."""
        rights = "is in a built-in group of lldap" if self.is_privileged(user) else ""
        return Target(f"user {user.id}", user.uuid, user.attributes, rights)

    def group_target(self, group: Group) -> Target:
        """The group as far as ownership goes."""
        rights = "has members" if self.mirror.has_members(group.id) else ""
        words = f"group {bounded(group.display_name, SHOWN_NAME_BYTES)}"
        return Target(words, group.uuid, group.attributes, rights)

    def is_privileged(self, user: User) -> bool:
        """Whether the account is in a built-in group: services bind with the read-only ones."""
        return any(group_key(name) in BUILT_IN_GROUPS for name in self.group_names(user))

    def group_names(self, user: User) -> Iterator[str]:
        """Names of the groups that the account is in, as last read."""
        for group_id in self.mirror.groups_of(user.id):
            group = self.mirror.group(group_id)
            if group is not None:
                yield group.display_name

    def refuse_own_account(self, user_id: str) -> None:
        """The operator's own account is in no object's hands."""
        if user_id == self.rules.own_user:
            raise fail(
                Reason.PROTECTED_ACCOUNT,
                f"{user_id} is the operator's own account in lldap, which no object manages: "
                "use another account",
            )

    def refuse_privileged(self, resource: Resource, user: User) -> None:
        """A privileged account is written only from the virtual groups' namespace."""
        if self.rules.may_write_privileged(resource.namespace) or not self.is_privileged(user):
            return
        raise fail(
            Reason.PROTECTED_ACCOUNT,
            f"user {user.id} is in a built-in group of lldap and is changed only from the "
            f"namespace {self.rules.virtual_group_namespace}: move the object there, or take the "
            "account out of the group",
        )

    # --- what a rule keeps -----------------------------------------------------------------

    def leave(self, kind: Kind, resource: Resource, reason: Reason, what: str, why: str) -> None:
        """Say that the object goes and that `what` of lldap stays untouched, and count it.

        No rule may keep an object from going; so people have to learn what it leaves behind.
        """
        self.metrics.left_behind(kind.kind, reason)
        self.events.warning(
            resource, EventReason.LEFT_ALONE, f"{what} stays in lldap as it is: {why}"
        )

    @contextmanager
    def writing(
        self,
        kind: Kind,
        resource: Resource,
        exclusive: list[tuple[str, str]],
        shared: list[tuple[str, str]] | None = None,
    ) -> Iterator[None]:
        """From the last read to the confirmation: the gate is open, the targets are locked."""
        self.gate.check((kind.kind, resource.key))
        with self.locks.hold(exclusive, shared or ()):
            self.prepare()
            yield


def user_lock(user_id: str) -> tuple[str, str]:
    """The lock of an account."""
    return ("user", user_id)


def group_lock(group_id: int) -> tuple[str, str]:
    """The lock of a group."""
    return ("group", str(group_id))


def group_name_lock(name: str) -> tuple[str, str]:
    """The lock of a group's name, taken or given."""
    return ("groupname", group_key(name))


def attribute_lock(target: str, name: str) -> tuple[str, str]:
    """The lock of an attribute: shared by who sets values, exclusive for who deletes it."""
    return ("attribute", f"{target}/{name}")
