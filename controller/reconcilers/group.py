"""LldapGroup: a group of lldap, its name and its attributes."""

from controller.api import LLDAP_GROUP, GroupSpec, Target
from controller.events.events import EventReason
from controller.harness.finalizers import StaleObject
from controller.harness.outcome import Outcome, converged
from controller.harness.reasoned import ReasonedError, fail
from controller.harness.reasons import Reason
from controller.harness.resource import Resource
from controller.instance import Instance, attribute_lock
from controller.ownership.mark import Mark, Origin
from controller.ownership.owned import (
    full_pass_asked,
    full_pass_served,
    own_names,
    read_spec,
    record_account,
    void_if_other_account,
)
from controller.ownership.ownership import Standing
from controller.reconcilers.attributelearning import AttributeLearning
from controller.reconcilers.drift import Drift
from controller.reconcilers.groupchange import NAME, GroupChange, group_change
from controller.reconcilers.groupdeletion import GroupDeletion
from controller.reconcilers.grouppass import GroupPass
from controller.reconcilers.virtualgroups import is_built_in
from lldap import Group, LldapError, NotFound, UniqueViolation
from lldap.names import group_key

GIVEN_UP_SECONDS = 10.0  # a name that its holder is about to leave: no event tells when it has


class GroupReconciler(GroupDeletion):
    """Makes groups what their objects say. Any thread, one thread an object."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self._learning = AttributeLearning(instance, Target.GROUP)

    # --- converge --------------------------------------------------------------------------

    def converge(self, resource: Resource, instance: Instance) -> Outcome:
        """See Handler. What needs no call to lldap makes none, and takes no lock."""
        this = self._read(resource)
        group = self._finder.meant(resource, this.name)
        if group is not None and self._is_settled(this, group):
            self._record(this, group)
            return self._verified(this, group)
        locks = self._finder.locks(this.name, [group] if group is not None else [])
        shared = [attribute_lock(Target.GROUP, name) for name in this.spec.attributes]
        with instance.writing(LLDAP_GROUP, resource, locks, shared):
            return self._learning.with_attributes(this, lambda: self._bring_about(this, group))

    def _read(self, resource: Resource) -> GroupPass:
        spec = read_spec(GroupSpec, resource)
        if is_built_in(spec.display_name):
            raise fail(
                Reason.BUILT_IN_CONFLICT,
                f"{spec.display_name} is a built-in group of lldap: choose another displayName; "
                "for memberships there is its virtual object in the namespace "
                f"{self._instance.rules.virtual_group_namespace}",
            )
        wanted = self._instance.dependencies.wanted(Target.GROUP, spec.attributes)
        drift = Drift(resource, self._instance.metrics)
        return GroupPass(resource, spec, wanted, drift)

    def _is_settled(self, this: GroupPass, group: Group) -> bool:
        target = self._instance.group_target(group)
        if not self._instance.ownership.marked_ours(this.resource, target):
            return False
        void_if_other_account(this.resource, group.uuid, self._instance.mirror.server_uuid)
        return (
            not full_pass_asked(this.resource)
            and not self._learning.may_have_appeared(this)
            and this.declared == this.managed
            and not self._difference(this, group)
        )

    def _verified(self, this: GroupPass, group: Group) -> Outcome:
        this.drift.repaired()
        this.wanted.refuse_missing(f"group {group.display_name}")
        full_pass_served(this.resource)
        return converged(Reason.VERIFIED, f"group {group.display_name} is in lldap as declared")

    def _bring_about(self, this: GroupPass, seen: Group | None) -> Outcome:
        group = self._obtain(this, seen)
        void_if_other_account(this.resource, group.uuid, self._instance.mirror.server_uuid)
        self._record(this, group)
        group = self._update(this, group)
        return self._verified(this, group)

    def _record(self, this: GroupPass, group: Group) -> None:
        target = self._instance.group_target(group)
        record_account(self._instance, this.resource, group.uuid, target)
        this.resource.status["groupId"] = group.id

    # --- the group -----------------------------------------------------------------------

    def _obtain(self, this: GroupPass, seen: Group | None) -> Group:
        """The group under our mark: found, created, adopted or taken back."""
        group = self._instance.read_group(seen.id, this.resource) if seen is not None else None
        meant = self._finder.meant(this.resource, this.name)
        if (meant and meant.id) != (group and group.id):
            raise StaleObject  # lldap changed meanwhile: again, with the other group's locks
        if group is not None:
            return self._take(this, group)
        self._owned.standing(this.resource, this.claim, None)
        return self._create(this)

    def _take(self, this: GroupPass, group: Group) -> Group:
        target = self._instance.group_target(group)
        standing = self._standing(this, group)
        if standing is Standing.OURS:
            return group
        mark = self._owned.mark_for(this.resource, target, standing)
        self._instance.client.update_group(group.id, insert=mark)
        self._owned.tell_taken(this.resource, target, standing)
        if standing is not Standing.UNMARKED:
            this.resource.status.pop("managed", None)
        return self._again(this, group)

    def _standing(self, this: GroupPass, group: Group) -> Standing:
        target = self._instance.group_target(group)
        try:
            return self._owned.standing(this.resource, this.claim, target)
        except ReasonedError as error:
            raise self._sooner(error, group) from None

    def _sooner(self, error: ReasonedError, group: Group) -> ReasonedError:
        """Look again soon if the object that has the group declares another name for it."""
        mark = self._instance.group_target(group).mark
        if isinstance(mark, Mark):
            holder = self._instance.cache.get(LLDAP_GROUP, mark.namespace, mark.name)
            declared = None if holder is None else str(holder.spec.get(NAME))
            if declared is not None and group_key(declared) != group_key(group.display_name):
                return error.looked_at_after(GIVEN_UP_SECONDS)
        return error

    def _again(self, this: GroupPass, group: Group) -> Group:
        now = self._instance.read_group(group.id, this.resource)
        if now is None:
            words = f"group {this.name} went away while it was changed in lldap: it comes back"
            raise fail(Reason.PENDING, words)
        return now

    def _create(self, this: GroupPass) -> Group:
        """Create the group; a refusal or a lost answer is read back before anything else."""
        this.wanted.refuse_missing(f"group {this.name}")
        this.drift.differs()
        mark = self._owned.new_mark(this.resource, Origin.CREATED)
        try:
            group = self._instance.client.create_group_with_details(
                this.name, {**this.wanted.values, **mark}
            )
        except LldapError as error:
            group = self._created_all_the_same(this, error)
        else:
            self._instance.mirror.put_group(group.with_members(()))
        this.created = True
        this.resource.status["managed"] = sorted(this.declared)
        self._owned.made(this.resource, group.uuid, this.declared)
        self._instance.events.normal(
            this.resource, EventReason.CREATED, f"group {group.display_name} was created in lldap"
        )
        return group

    def _created_all_the_same(self, this: GroupPass, error: LldapError) -> Group:
        """The group, if only the answer was lost; lldap finds no group by its name."""
        group_id = self._instance.client.find_group_by_name(this.name)
        group = None if group_id is None else self._instance.read_group(group_id, this.resource)
        if group is None:
            raise self._not_created(this, error) from error
        if not self._instance.ownership.marked_ours(
            this.resource, self._instance.group_target(group)
        ):
            raise StaleObject  # somebody was faster; the mirror knows it now
        return group

    def _not_created(self, this: GroupPass, error: LldapError) -> Exception:
        if not isinstance(error, UniqueViolation):
            return error
        return fail(
            Reason.CONFLICT,
            f"lldap's database takes the name {this.name} for one that it has: choose another "
            "displayName",
        )

    # --- name and attributes ---------------------------------------------------------------

    def _difference(self, this: GroupPass, group: Group) -> GroupChange:
        managed = self._managed(this, group)
        return group_change(this.spec, this.wanted, group, managed)

    def _managed(self, this: GroupPass, group: Group) -> frozenset[str]:
        """What this object set before.

        Without a record: what this process knows to have set, or all of a group that we created
        and nobody has changed since.
        """
        if "managed" in this.resource.status or this.created:
            return this.managed
        made = self._owned.names_made(this.resource, group.uuid)
        if made is not None:
            return made
        origin = self._instance.ownership.origin(this.resource, self._instance.group_target(group))
        if origin is Origin.CREATED and group.modified_date == group.creation_date:
            return own_names(group.attributes)
        return frozenset()

    def _update(self, this: GroupPass, group: Group) -> Group:
        """One updateGroup with all that differs; before it, new names are recorded as ours."""
        change, declared = self._difference(this, group), this.declared
        if change:
            self._refuse_name(this, group)
            this.drift.differs()
            managed = self._managed(this, group) | declared
            self._owned.record_managed_first(this.resource, managed, group.uuid)
            self._send(this, group, change)
            reason = EventReason.DRIFT if this.drift.is_found else EventReason.UPDATED
            words = f"group {group.display_name}: {'; '.join(change.words())}"
            self._instance.events.normal(this.resource, reason, words)
            group = self._again(this, group)
        this.resource.status["managed"] = sorted(declared)
        return group

    def _refuse_name(self, this: GroupPass, group: Group) -> None:
        """A rename onto a claimed or existing name is a conflict, never an adoption."""
        if this.claim == group_key(group.display_name):
            return
        if is_built_in(group.display_name):
            raise fail(
                Reason.BUILT_IN_CONFLICT,
                f"group {group.display_name} is built into lldap and keeps its name",
            )
        other = self._instance.mirror.group_by_name(this.name)
        target = None if other is None else self._instance.group_target(other)
        self._instance.ownership.yield_to_holder(LLDAP_GROUP, this.resource, this.claim, target)
        if other is not None:
            raise self._sooner(self._name_taken(group, other), other)

    def _name_taken(self, group: Group, other: Group) -> ReasonedError:
        mark = self._instance.group_target(other).mark
        whose = f" of {mark.key}" if isinstance(mark, Mark) else ""
        return fail(
            Reason.CONFLICT,
            f"group {group.display_name} keeps its name: lldap has another group "
            f"{other.display_name}{whose}. Choose another displayName, or remove that group; to "
            "swap two names, give one of the groups a temporary one first",
        )

    def _send(self, this: GroupPass, group: Group, change: GroupChange) -> None:
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
                f"group {group.display_name} keeps its name: lldap's database takes {this.name} "
                "for another group's. Choose another displayName",
            ) from error
        except NotFound:
            self._instance.drop_group(group.id, this.resource)
            raise

    # --- dry run ---------------------------------------------------------------------------

    def plan(self, resource: Resource, _instance: Instance) -> list[str]:
        """See Handler."""
        this = self._read(resource)
        group = self._finder.meant(resource, this.name)
        if group is None:
            self._owned.standing(resource, this.claim, None)
            this.wanted.refuse_missing(f"group {this.name}")
            return [f"create group {this.name}"]
        standing = self._standing(this, group)
        self._refuse_name(this, group)
        taking = [] if standing is Standing.OURS else [f"take over group {group.display_name}"]
        return [*taking, *self._difference(this, group).words()]
