"""LldapMembership: one user in one group."""

import contextlib
from dataclasses import dataclass

from controller.api import (
    BUILT_IN_ANNOTATION,
    INSTANCE_LABEL,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    DeletionPolicy,
    MembershipSpec,
)
from controller.cache import can_inherit, in_dry_run
from controller.edge import Edge
from controller.events import EventReason
from controller.indexes import pair
from controller.instance import Instance, group_lock, group_name_lock, user_lock
from controller.matcher import (
    GroupCandidate,
    GroupNotFound,
    MembershipReference,
    UserCandidate,
    UserNotFound,
    match_group,
    match_user,
)
from controller.outcome import Outcome, converged
from controller.owned import full_pass_asked, full_pass_served, read_spec
from controller.reasoned import ReasonedError, fail
from controller.reasons import Reason
from controller.resource import Resource
from lldap import Group, LldapError, NotFound, User
from lldap.names import BUILT_IN_GROUPS, group_key, user_key


@dataclass(slots=True)
class _Pass:
    """One pass over one object."""

    resource: Resource
    spec: MembershipSpec

    @property
    def user_key(self) -> str:
        return user_key(self.spec.user_name)

    @property
    def claim(self) -> str:
        return pair(self.spec.user_name, self.spec.group_name)

    @property
    def words(self) -> str:
        return f"{self.spec.user_name} in {self.spec.group_name}"


class MembershipReconciler:
    """Makes edges what memberships say. Any thread, one thread an object."""

    kind = LLDAP_MEMBERSHIP
    finalizer = LLDAP_MEMBERSHIP.finalizer

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    # --- converge --------------------------------------------------------------------------

    def converge(self, resource: Resource, instance: Instance) -> Outcome:
        """See Handler. An edge that is there makes no call."""
        this = _Pass(resource, read_spec(MembershipSpec, resource))
        self._refuse(this)
        self._yield_to_holder(this)
        edge = self._resolve(this)
        there = instance.mirror.member(edge.user_id, edge.group_id)
        if there and not full_pass_asked(resource) and self._recorded(resource) in (None, edge):
            return self._verified(this, edge)
        with instance.writing(LLDAP_MEMBERSHIP, resource, self._locks(this, edge)):
            if full_pass_asked(resource):
                instance.read_user(edge.user_id)
            self._remove_former(this, edge)
            self._add(this, edge)
        return self._verified(this, edge)

    def _refuse(self, this: _Pass) -> None:
        """Rights are handed out only from the namespace of the virtual groups."""
        rules = self._instance.rules
        self._instance.refuse_own_account(this.user_key)
        if (
            group_key(this.spec.group_name) in BUILT_IN_GROUPS
            and this.resource.namespace != rules.virtual_group_namespace
        ):
            raise fail(
                Reason.PROTECTED_ACCOUNT,
                f"{this.spec.group_name} is a built-in group of lldap: its members are set only "
                f"by memberships in the namespace {rules.virtual_group_namespace}",
            )

    def _verified(self, this: _Pass, edge: Edge) -> Outcome:
        resource, instance = this.resource, self._instance
        status = resource.status
        status["instance"] = instance.rules.instance
        status["server"] = instance.mirror.server_uuid
        edge.record(status)
        seal = instance.sealer.seal(resource.uid, instance.rules.instance, edge.sealed_values)
        status.pop("seal", None)
        if seal is not None:
            status["seal"] = seal
        full_pass_served(resource)
        return converged(Reason.VERIFIED, f"{this.words}: lldap has the membership")

    # --- who is meant ----------------------------------------------------------------------

    def _resolve(self, this: _Pass) -> Edge:
        """The two ends, from the listers and the mirror; raises ReasonedError Pending."""
        return Edge.between(self._user(this), self._group(this))

    def _reference(self, this: _Pass) -> MembershipReference:
        return MembershipReference(
            this.resource.namespace,
            self._instance.rules.instance,
            this.spec.user_name,
            this.spec.group_name,
        )

    def _user(self, this: _Pass) -> User:
        claimants = self._instance.cache.claimants(LLDAP_USER, this.user_key)
        candidates = [
            UserCandidate(c.namespace, c.labels[INSTANCE_LABEL], str(c.spec.get("username")))
            for c in claimants
        ]
        live = self._instance.mirror.user(this.user_key)
        try:
            match_user(self._reference(this), candidates)
        except UserNotFound:
            if live is not None and self._unmanaged_counts(claimants):
                return live
            raise self._pending(this, f"LldapUser with username {this.spec.user_name}") from None
        holder = self._holder_here(this, claimants)
        if live is None or holder is None or not self._holds_user(holder, live):
            raise self._pending(this, f"account of LldapUser {this.spec.user_name}") from None
        return live

    def _group(self, this: _Pass) -> Group:
        name = this.spec.group_name
        claimants = self._instance.cache.claimants(LLDAP_GROUP, group_key(name))
        candidates = [
            GroupCandidate(c.namespace, c.labels[INSTANCE_LABEL], str(c.spec.get("displayName")))
            for c in claimants
        ]
        live = self._instance.mirror.group_by_name(name)
        try:
            match_group(self._reference(this), candidates)
        except GroupNotFound:
            built_in = group_key(name) in BUILT_IN_GROUPS
            if live is not None and not built_in and self._unmanaged_counts(claimants):
                return live
            raise self._pending(this, f"LldapGroup with displayName {name}") from None
        holder = self._holder_here(this, claimants)
        if live is None or holder is None or not self._holds_group(holder, live):
            raise self._pending(this, f"group of LldapGroup {name}")
        return live

    def _unmanaged_counts(self, claimants: list[Resource]) -> bool:
        return not claimants and self._instance.rules.allow_unmanaged_references

    def _holder_here(self, this: _Pass, claimants: list[Resource]) -> Resource | None:
        """The oldest claimant of this namespace; whether it holds the target is asked next."""
        here = [c for c in claimants if c.namespace == this.resource.namespace]
        return min(here, key=lambda c: (not self._marked(c), c.created, c.key), default=None)

    def _marked(self, candidate: Resource) -> bool:
        mirror = self._instance.mirror
        return bool(mirror.users_by_index(candidate.uid) or mirror.groups_by_index(candidate.uid))

    def _holds_user(self, holder: Resource, user: User) -> bool:
        return self._instance.ownership.is_ours(holder, self._instance.user_target(user))

    def _holds_group(self, holder: Resource, group: Group) -> bool:
        if group_key(group.display_name) in BUILT_IN_GROUPS:
            return holder.annotations.get(BUILT_IN_ANNOTATION) == "true"
        return self._instance.ownership.is_ours(holder, self._instance.group_target(group))

    def _pending(self, this: _Pass, what: str) -> ReasonedError:
        return fail(
            Reason.PENDING,
            f"{this.words}: there is no {what} in the namespace {this.resource.namespace} that is "
            "Ready yet; create it there for the same instance, or wait",
        )

    # --- claims ------------------------------------------------------------------------------

    def _yield_to_holder(self, this: _Pass) -> None:
        rivals = self._instance.cache.claimants(LLDAP_MEMBERSHIP, this.claim)
        living = [r for r in rivals if not r.deleting]
        if len(living) < 2:
            return
        first = min(living, key=lambda r: (self._sealed(r) is None, r.created, r.key))
        if first.uid != this.resource.uid:
            raise fail(
                Reason.CONFLICT,
                f"LldapMembership {first.key} already stands for {this.words}: delete one of the "
                "two objects",
            )

    def _sealed(self, resource: Resource) -> Edge | None:
        """The recorded edge, if the seal says that this operator recorded it."""
        status, instance = resource.recorded, self._instance
        edge = Edge.recorded(status)
        if edge is None or status.get("server") != instance.mirror.server_uuid:
            return None
        holds = instance.sealer.holds(
            status.get("seal"), resource.uid, instance.rules.instance, edge.sealed_values
        )
        return edge if holds else None

    def _recorded(self, resource: Resource) -> Edge | None:
        return Edge.recorded(resource.recorded)

    def _claimed_by_another(self, resource: Resource, edge: Edge) -> bool:
        """Whether another object stands for the edge: then it is handed over in place."""
        group = self._instance.mirror.group(edge.group_id)
        if group is None:
            return False
        claim = pair(edge.user_id, group.display_name)
        rivals = self._instance.cache.claimants(LLDAP_MEMBERSHIP, claim)
        return any(r.uid != resource.uid and can_inherit(r) for r in rivals)

    # --- calls -----------------------------------------------------------------------------

    def _locks(self, this: _Pass, edge: Edge) -> list[tuple[str, str]]:
        former = self._sealed(this.resource)
        edges = [edge, former] if former else [edge]
        locks = [group_name_lock(this.spec.group_name)]
        for each in edges:
            locks += [user_lock(each.user_id), group_lock(each.group_id)]
        return locks

    def _add(self, this: _Pass, edge: Edge) -> None:
        """Add the edge; whatever the answer, it counts when lldap shows it."""
        instance = self._instance
        if instance.mirror.member(edge.user_id, edge.group_id):
            return
        try:
            instance.client.add_user_to_group(edge.user_id, edge.group_id)
        except LldapError as error:
            self._read_back(this, edge, error)
        instance.mirror.add_edge(edge.user_id, edge.group_id)
        instance.events.normal(this.resource, EventReason.ADDED, f"{this.words}: added in lldap")

    def _read_back(self, this: _Pass, edge: Edge, error: LldapError) -> None:
        user = self._instance.read_user(edge.user_id)
        if user is None or user.uuid != edge.user_uuid:
            raise self._pending(this, f"account {edge.user_id}") from error
        if self._instance.mirror.member(edge.user_id, edge.group_id):
            return
        group = self._instance.read_group(edge.group_id)
        if group is None or group.uuid != edge.group_uuid:
            raise self._pending(this, f"group {this.spec.group_name}") from error
        raise error

    def _remove_former(self, this: _Pass, edge: Edge) -> None:
        """The names mean another pair now: the recorded one goes before the new one comes."""
        former = self._sealed(this.resource)
        if former is not None and former != edge:
            self._remove(this.resource, former)

    def _remove(self, resource: Resource, edge: Edge) -> None:
        """Remove one edge, if both ends are still the ones that were recorded."""
        instance = self._instance
        if self._claimed_by_another(resource, edge) or not self._may_touch(resource, edge):
            return
        user = instance.read_user(edge.user_id)
        group = instance.mirror.group(edge.group_id)
        if user is None or group is None:
            return
        if user.uuid != edge.user_uuid or group.uuid != edge.group_uuid:
            return
        if not instance.mirror.member(edge.user_id, edge.group_id):
            return
        with contextlib.suppress(NotFound):  # somebody was faster: success
            instance.client.remove_user_from_group(edge.user_id, edge.group_id)
        instance.mirror.remove_edge(edge.user_id, edge.group_id)
        instance.events.normal(resource, EventReason.REMOVED, f"{edge}: removed in lldap")

    def _may_touch(self, resource: Resource, edge: Edge) -> bool:
        rules = self._instance.rules
        group = self._instance.mirror.group(edge.group_id)
        built_in = group is not None and group_key(group.display_name) in BUILT_IN_GROUPS
        if edge.user_id == rules.own_user or (
            built_in and resource.namespace != rules.virtual_group_namespace
        ):
            self._instance.events.warning(
                resource, EventReason.LEFT_ALONE, f"{edge} stays in lldap: it is protected"
            )
            return False
        return True

    # --- dry run and deletion ----------------------------------------------------------------

    def plan(self, resource: Resource, instance: Instance) -> list[str]:
        """See Handler."""
        this = _Pass(resource, read_spec(MembershipSpec, resource))
        self._refuse(this)
        self._yield_to_holder(this)
        edge = self._resolve(this)
        there = instance.mirror.member(edge.user_id, edge.group_id)
        return [] if there else [f"add {this.spec.user_name} to {this.spec.group_name}"]

    def deletion_policy(self, resource: Resource) -> DeletionPolicy:
        """See DeletionPolicyProvider: Delete, unless the spec says Retain."""
        retain = resource.spec.get("deletionPolicy") == DeletionPolicy.RETAIN
        return DeletionPolicy.RETAIN if retain else DeletionPolicy.DELETE

    def let_go(self, resource: Resource) -> None:
        """See Reconciler: nothing in lldap says whose it is."""

    def owns(self, resource: Resource) -> bool:
        """See DryRunDeletion."""
        return self._held(resource) is not None

    def delete(self, resource: Resource, instance: Instance) -> None:
        """See Handler: the edge goes, unless somebody else stands for it."""
        edge = self._held(resource)
        if edge is None:
            return
        locks = [user_lock(edge.user_id), group_lock(edge.group_id)]
        with instance.writing(LLDAP_MEMBERSHIP, resource, locks):
            if not instance.guard.uninstalling(LLDAP_MEMBERSHIP):
                self._remove(resource, edge)

    def _held(self, resource: Resource) -> Edge | None:
        """The edge that the object stands for.

        As recorded under seal, else as it resolves now, while no other object has a better claim.
        """
        sealed = self._sealed(resource)
        if sealed is not None or in_dry_run(resource):
            return sealed
        try:
            this = _Pass(resource, read_spec(MembershipSpec, resource))
            self._refuse(this)
            self._yield_to_holder(this)
            return self._resolve(this)
        except ReasonedError:
            return None
