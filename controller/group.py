"""LldapGroup: a group of lldap, its name and its attributes."""

from dataclasses import dataclass, field

from controller.api import (
    LLDAP_GROUP,
    MARK_ATTRIBUTE,
    DeletionPolicy,
    GroupSpec,
    Target,
)
from controller.attributes import Wanted, words_of
from controller.events import EventReason
from controller.instance import Instance, attribute_lock, group_lock, group_name_lock
from controller.mark import Origin
from controller.outcome import Outcome, converged
from controller.owned import (
    Goodbye,
    Owned,
    full_pass_asked,
    full_pass_served,
    own_names,
    read_spec,
    record_account,
    void_if_other_account,
)
from controller.ownership import Standing
from controller.ownership import Target as OwnedTarget
from controller.reasoned import fail
from controller.reasons import Reason
from controller.resource import Resource
from lldap import Group, LldapError, NotFound, UniqueViolation
from lldap.names import BUILT_IN_GROUPS, group_key


@dataclass(slots=True)
class _Pass:
    """One pass over one object."""

    resource: Resource
    spec: GroupSpec
    wanted: Wanted
    created: bool = False

    @property
    def claim(self) -> str:
        return group_key(self.spec.display_name)

    @property
    def managed(self) -> frozenset[str]:
        return frozenset(self.resource.status.get("managed") or ())


@dataclass(frozen=True, slots=True)
class GroupChange:
    """One updateGroup."""

    display_name: str | None = None
    insert: dict[str, tuple[str, ...]] = field(default_factory=dict)
    remove: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.display_name is not None or bool(self.insert or self.remove)

    def words(self) -> list[str]:
        """For people: names only, no values."""
        renamed = [] if self.display_name is None else [f"rename to {self.display_name}"]
        return [*renamed, *words_of(self.insert, self.remove)]


class GroupReconciler:
    """Makes groups what their objects say. Any thread, one thread an object."""

    kind = LLDAP_GROUP
    finalizer = LLDAP_GROUP.finalizer

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._owned = Owned(instance, LLDAP_GROUP)

    # --- converge --------------------------------------------------------------------------

    def converge(self, resource: Resource, instance: Instance) -> Outcome:
        """See Handler. What needs no call to lldap makes none, and takes no lock."""
        this = self._read(resource)
        group = self._find(this)
        if group is not None and self._is_settled(this, group):
            self._record(this, group)
            return self._verified(this, group)
        shared = [attribute_lock(Target.GROUP, name) for name in this.wanted.names]
        with instance.writing(LLDAP_GROUP, resource, self._locks(this, group), shared):
            return self._change(this, group)

    def _read(self, resource: Resource) -> _Pass:
        spec = read_spec(GroupSpec, resource)
        if group_key(spec.display_name) in BUILT_IN_GROUPS:
            raise fail(
                Reason.BUILT_IN_CONFLICT,
                f"{spec.display_name} is a built-in group of lldap: choose another displayName; "
                "for memberships there is its virtual object in the namespace "
                f"{self._instance.rules.virtual_group_namespace}",
            )
        wanted = self._instance.dependencies.wanted(Target.GROUP, spec.attributes)
        return _Pass(resource, spec, wanted)

    def _find(self, this: _Pass) -> Group | None:
        """The target by mark, so that a rename is one; else by name."""
        mirror = self._instance.mirror
        marked = [
            group
            for group in mirror.groups_by_index(this.resource.uid)
            if self._instance.ownership.marked_ours(
                this.resource, self._instance.group_target(group)
            )
        ]
        named = mirror.group_by_name(this.spec.display_name)
        if named in marked or not marked:
            return named
        return min(marked, key=lambda group: group.id)

    def _locks(self, this: _Pass, group: Group | None) -> list[tuple[str, str]]:
        names = [group_name_lock(this.spec.display_name)]
        if group is not None:
            names += [group_lock(group.id), group_name_lock(group.display_name)]
        return names

    def _is_settled(self, this: _Pass, group: Group) -> bool:
        target = self._instance.group_target(group)
        if not self._instance.ownership.marked_ours(this.resource, target):
            return False
        void_if_other_account(this.resource, group.uuid, self._instance.mirror.server_uuid)
        return (
            not full_pass_asked(this.resource)
            and not this.wanted.missing
            and self._declared(this) == this.managed
            and not self._difference(this, group)
        )

    def _verified(self, this: _Pass, group: Group) -> Outcome:
        this.wanted.refuse_missing(f"group {group.display_name}")
        full_pass_served(this.resource)
        return converged(Reason.VERIFIED, f"group {group.display_name} is in lldap as declared")

    def _change(self, this: _Pass, seen: Group | None) -> Outcome:
        group = self._obtain(this, seen)
        void_if_other_account(this.resource, group.uuid, self._instance.mirror.server_uuid)
        group = self._update(this, group)
        self._record(this, group)
        return self._verified(this, group)

    def _record(self, this: _Pass, group: Group) -> None:
        target = self._instance.group_target(group)
        record_account(self._instance, this.resource, group.uuid, target)
        this.resource.status["groupId"] = group.id

    # --- the group -----------------------------------------------------------------------

    def _obtain(self, this: _Pass, seen: Group | None) -> Group:
        """The group under our mark: found, created, adopted or taken back."""
        group = self._instance.read_group(seen.id) if seen is not None else None
        if group is None:
            self._owned.standing(this.resource, this.claim, None)
            group = self._create(this)
        return group if this.created else self._take(this, group)

    def _take(self, this: _Pass, group: Group) -> Group:
        target = self._instance.group_target(group)
        standing = self._owned.standing(this.resource, this.claim, target)
        if standing is Standing.OURS:
            return group
        mark = self._owned.mark_for(this.resource, target, standing)
        self._instance.client.update_group(group.id, insert=mark)
        self._owned.tell_taken(this.resource, target, standing)
        if standing is not Standing.UNMARKED:
            this.resource.status.pop("managed", None)
        return self._again(this, group)

    def _again(self, this: _Pass, group: Group) -> Group:
        now = self._instance.read_group(group.id)
        if now is None:
            raise fail(
                Reason.PENDING,
                f"group {this.spec.display_name} went away while it was changed in lldap",
            )
        return now

    def _create(self, this: _Pass) -> Group:
        """Create the group; a refusal or a lost answer is read back before anything else.

        Without `this.created` afterwards it is one that stood in the way.
        """
        this.wanted.refuse_missing(f"group {this.spec.display_name}")
        mark = self._owned.new_mark(this.resource, Origin.CREATED)
        try:
            group = self._instance.client.create_group_with_details(
                this.spec.display_name, {**this.wanted.values, **mark}
            )
        except LldapError as error:
            found = self._by_name_again(this)
            if found is None:
                raise self._not_created(this, error) from error
            target = self._instance.group_target(found)
            if not self._instance.ownership.marked_ours(this.resource, target):
                return found
            group = found
        else:
            self._instance.mirror.put_group(group)
        this.created = True
        this.resource.status["managed"] = sorted(self._declared(this))
        self._instance.events.normal(
            this.resource, EventReason.CREATED, f"group {group.display_name} was created in lldap"
        )
        return group

    def _by_name_again(self, this: _Pass) -> Group | None:
        """Lldap finds no group by its name: the list of all is asked."""
        group_id = self._instance.client.find_group_by_name(this.spec.display_name)
        return None if group_id is None else self._instance.read_group(group_id)

    def _not_created(self, this: _Pass, error: LldapError) -> Exception:
        if not isinstance(error, UniqueViolation):
            return error
        return fail(
            Reason.CONFLICT,
            f"lldap's database takes the name {this.spec.display_name} for one that it has: "
            "choose another displayName",
        )

    # --- name and attributes ---------------------------------------------------------------

    def _declared(self, this: _Pass) -> frozenset[str]:
        return frozenset({"displayName"}) | this.wanted.names

    def _difference(self, this: _Pass, group: Group) -> GroupChange:
        wanted_name = this.spec.display_name
        insert, remove = self._instance.dependencies.changes(
            Target.GROUP,
            this.wanted,
            group.attributes,
            self._managed(this, group) - {"displayName"},
        )
        renamed = wanted_name if wanted_name != group.display_name else None
        return GroupChange(renamed, insert, remove)

    def _managed(self, this: _Pass, group: Group) -> frozenset[str]:
        if "managed" in this.resource.status or this.created:
            return this.managed
        origin = self._instance.ownership.origin(this.resource, self._instance.group_target(group))
        if origin is Origin.CREATED and group.modified_date == group.creation_date:
            return own_names(group.attributes)
        return frozenset()

    def _update(self, this: _Pass, group: Group) -> Group:
        """One updateGroup with all that differs; before it, new names are recorded as ours."""
        change = self._difference(this, group)
        declared = self._declared(this) | (this.managed & frozenset(this.wanted.missing))
        if not change:
            this.resource.status["managed"] = sorted(declared)
            return group
        if change.display_name is not None:
            self._may_rename(this, group)
        managed = self._managed(this, group)
        self._owned.record_managed_first(this.resource, managed | declared, group.uuid)
        self._send(this, group, change)
        this.resource.status["managed"] = sorted(declared)
        self._instance.events.normal(
            this.resource,
            EventReason.UPDATED,
            f"group {group.display_name}: {'; '.join(change.words())}",
        )
        return self._again(this, group)

    def _may_rename(self, this: _Pass, group: Group) -> None:
        """A rename onto a claimed or existing name is a conflict, never an adoption."""
        if group_key(group.display_name) in BUILT_IN_GROUPS:
            raise fail(
                Reason.BUILT_IN_CONFLICT,
                f"group {group.display_name} is built into lldap and keeps its name",
            )
        other = self._instance.mirror.group_by_name(this.spec.display_name)
        if other is not None and other.id != group.id:
            raise fail(
                Reason.CONFLICT,
                f"group {group.display_name} keeps its name: lldap has another group "
                f"{other.display_name}. Choose another displayName, or remove that group",
            )
        self._instance.ownership.yield_to_holder(LLDAP_GROUP, this.resource, this.claim, None)

    def _send(self, this: _Pass, group: Group, change: GroupChange) -> None:
        try:
            self._instance.client.update_group(
                group.id,
                display_name=change.display_name,
                insert=change.insert,
                remove=change.remove,
            )
        except UniqueViolation as error:
            raise fail(
                Reason.CONFLICT,
                f"group {group.display_name} keeps its name: lldap's database takes "
                f"{this.spec.display_name} for another group's. Choose another displayName",
            ) from error
        except NotFound:
            self._instance.mirror.drop_group(group.id)
            raise

    # --- dry run ---------------------------------------------------------------------------

    def plan(self, resource: Resource, instance: Instance) -> list[str]:
        """See Handler."""
        this = self._read(resource)
        group = self._find(this)
        if group is None:
            this.wanted.refuse_missing(f"group {this.spec.display_name}")
            return [f"create group {this.spec.display_name}"]
        target = instance.group_target(group)
        standing = self._owned.standing(resource, this.claim, target)
        taking = [] if standing is Standing.OURS else [f"take over group {group.display_name}"]
        return [*taking, *self._difference(this, group).words()]

    # --- deletion --------------------------------------------------------------------------

    def deletion_policy(self, resource: Resource) -> DeletionPolicy:
        """See DeletionPolicyProvider: without a word, what we created goes and the rest stays."""
        return self._owned.deletion_policy(resource, self._target(resource))

    def owns(self, resource: Resource) -> bool:
        """See DryRunDeletion."""
        target = self._target(resource)
        return target is not None and self._instance.ownership.is_ours(resource, target)

    def delete(self, resource: Resource, instance: Instance) -> None:
        """See Handler: deletes, hands over, or leaves alone what is not ours."""
        with instance.writing(LLDAP_GROUP, resource, self._goodbye_locks(resource)):
            self._undo(resource, keep=False)

    def cleanup(self, resource: Resource) -> None:
        """See CleanupHandler: what stays loses our mark."""
        if self.deletion_policy(resource) is DeletionPolicy.RETAIN:
            self.let_go(resource)

    def let_go(self, resource: Resource) -> None:
        """See Reconciler."""
        with self._owned.best_effort(resource, self._goodbye_locks(resource)):
            self._undo(resource, keep=True)

    def _held(self, resource: Resource) -> Group | None:
        """What of lldap the object had: by mark, else by the sealed record."""
        mirror, ownership = self._instance.mirror, self._instance.ownership
        recorded = mirror.group_by_name(str(resource.spec.get("displayName", "")))
        candidates = [*mirror.groups_by_index(resource.uid), *([recorded] if recorded else [])]
        held = (
            g for g in candidates if ownership.is_ours(resource, self._instance.group_target(g))
        )
        return next(held, None)

    def _target(self, resource: Resource) -> OwnedTarget | None:
        group = self._held(resource)
        return None if group is None else self._instance.group_target(group)

    def _goodbye_locks(self, resource: Resource) -> list[tuple[str, str]]:
        group = self._held(resource)
        if group is None:
            return []
        return [group_lock(group.id), group_name_lock(group.display_name)]

    def _held_now(self, resource: Resource) -> Group | None:
        """Read again; also one that the mirror lacks, because its creation landed late."""
        held = self._held(resource)
        if held is not None:
            return self._instance.read_group(held.id)
        name = str(resource.spec.get("displayName", ""))
        found = self._instance.client.find_group_by_name(name)
        return None if found is None else self._instance.read_group(found)

    def _undo(self, resource: Resource, *, keep: bool) -> None:
        group = self._held_now(resource)
        if group is None or group_key(group.display_name) in BUILT_IN_GROUPS:
            return
        client, group_id = self._instance.client, group.id
        goodbye = Goodbye(
            claim=group_key(group.display_name),
            target=self._instance.group_target(group),
            writable=True,
            mark=lambda mark: client.update_group(group_id, insert=mark),
            unmark=lambda: client.update_group(group_id, remove=(MARK_ATTRIBUTE,)),
            delete=lambda: client.delete_group(group_id),
            forget=lambda: self._instance.mirror.drop_group(group_id),
            reread=lambda: self._instance.read_group(group_id),
        )
        self._owned.undo(resource, goodbye, keep=keep)
