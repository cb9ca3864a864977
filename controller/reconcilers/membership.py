"""LldapMembership: one user in one group."""

import contextlib

from controller.api import LLDAP_MEMBERSHIP, DeletionPolicy
from controller.events.events import EventReason
from controller.harness.finalizers import StaleObject
from controller.harness.outcome import Outcome, converged
from controller.harness.reasoned import ReasonedError, fail
from controller.harness.reasons import Reason
from controller.harness.resource import Resource
from controller.instance import Instance, group_lock, group_name_lock, user_lock
from controller.ownership.heirs import heir_of
from controller.ownership.owned import full_pass_asked, full_pass_served
from controller.reconcilers.drift import Drift
from controller.reconcilers.edge import Edge
from controller.reconcilers.resolver import Resolver
from controller.reconcilers.virtualgroups import is_built_in
from controller.watching.cache import in_dry_run
from controller.watching.indexes import pair, targets_of
from lldap import LldapError, NotFound


class MembershipReconciler:
    """Makes edges what memberships say. Any thread, one thread an object."""

    kind = LLDAP_MEMBERSHIP
    finalizer = LLDAP_MEMBERSHIP.finalizer

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._resolver = Resolver(instance)

    # --- converge --------------------------------------------------------------------------

    def converge(self, resource: Resource, instance: Instance) -> Outcome:
        """See Handler. An edge that is there makes no call."""
        edge = self._claimed(resource)
        sealed = self._sealed(resource)
        former = self._former(resource, edge, sealed)
        there = instance.mirror.member(edge.user_id, edge.group_id)
        if there and former is None and not full_pass_asked(resource):
            return self._verified(resource, edge, sealed)
        edges = [edge, former] if former is not None else [edge]
        with instance.writing(LLDAP_MEMBERSHIP, resource, self._locks(edges)):
            if self._claimed(resource) != edge:
                raise StaleObject  # lldap changed meanwhile: again, with the other ends' locks
            if full_pass_asked(resource):
                instance.read_user(edge.user_id, resource)
            if former is not None:
                if self._may_remove(resource, former):
                    self._remove(resource, former)
                instance.unrecorded.forget(resource.kind, resource.key)
            added = self._add(resource, edge)
        if added is not None:  # told without the locks: the next one of the group waits for them
            instance.events.normal(resource, added, f"{_words(resource)}: added in lldap")
        return self._verified(resource, edge, sealed)

    def _verified(self, resource: Resource, edge: Edge, sealed: Edge | None) -> Outcome:
        """Ready; `sealed` is the edge that the status records under a seal that holds."""
        instance, status = self._instance, resource.status
        status["instance"] = instance.rules.instance
        status["server"] = instance.mirror.server_uuid
        edge.record(status)
        if sealed == edge:  # the draft may be older than the record
            status["seal"] = resource.recorded["seal"]
        else:
            self._seal(resource, edge)
        full_pass_served(resource)
        return converged(Reason.VERIFIED, f"{_words(resource)}: lldap has the membership")

    def _seal(self, resource: Resource, edge: Edge) -> None:
        instance = self._instance
        seal = instance.sealer.seal(resource.uid, instance.rules.instance, edge.sealed_values)
        resource.status["seal"] = seal  # None, without a key, is left out when it is written

    # --- claims ------------------------------------------------------------------------------

    def _claimed(self, resource: Resource) -> Edge:
        """The edge that the object means and nobody else has; raises ReasonedError."""
        rivals = [r for r in self._meaning_the_same(resource) if not r.deleting]
        holder = self._first(rivals, resource)
        if holder is None:
            return self._resolver.edge(resource)
        self._resolver.refuse(resource)
        raise fail(
            Reason.CONFLICT,
            f"LldapMembership {holder.key} already stands for {_words(resource)}: delete one of "
            "the two objects",
        )

    def _meaning_the_same(self, resource: Resource) -> list[Resource]:
        """The other objects that mean the same edge.

        One that means nothing claims nothing: else whoever may write memberships somewhere
        could keep others from theirs, or keep an edge from being removed.
        """
        spec = resource.spec
        claim = pair(str(spec.get("userName")), str(spec.get("groupName")))
        rivals = self._instance.cache.claimants(LLDAP_MEMBERSHIP, claim)
        return [r for r in rivals if r.uid != resource.uid and self._resolver.means(r)]

    def _first(self, rivals: list[Resource], resource: Resource) -> Resource | None:
        """The rival that comes before the object: who has the edge by record, else the older."""
        if not rivals:
            return None
        edge = self._resolver.means(rivals[0])
        means = self._resolver.means(resource) is not None
        contenders = [*rivals, resource] if means else rivals
        first = min(contenders, key=lambda r: (self._sealed(r) != edge, r.created, r.key))
        return None if first.uid == resource.uid else first

    # --- the record --------------------------------------------------------------------------

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

    def _former(self, resource: Resource, edge: Edge, sealed: Edge | None) -> Edge | None:
        """The edge that the names meant before, if they mean another now."""
        if sealed is None:
            self._tell_lost(resource, edge)
        before = self._made(resource) or sealed
        return None if before == edge else before

    def _made(self, resource: Resource) -> Edge | None:
        """The edge that was added and that no status records yet."""
        fact = self._instance.unrecorded.of(resource)
        return fact if isinstance(fact, Edge) else None

    def _tell_lost(self, resource: Resource, edge: Edge | None) -> None:
        """A record that is not believed keeps an edge from being removed, if it is there."""
        recorded, server = Edge.recorded(resource.recorded), resource.recorded.get("server")
        if recorded is None or recorded == edge or server != self._instance.mirror.server_uuid:
            return
        if self._is_there(recorded):
            self._instance.events.warning(
                resource,
                EventReason.RECORD_LOST,
                f"{_words(resource)}: the status names another membership of lldap, but not under "
                "this operator's seal: that one is left as it is",
            )

    # --- calls -----------------------------------------------------------------------------

    def _locks(self, edges: list[Edge]) -> list[tuple[str, str]]:
        """Those of both ends; a group's are its id and its name."""
        locks = set()
        for edge in edges:
            locks |= {user_lock(edge.user_id), group_lock(edge.group_id)}
            group = self._instance.mirror.group(edge.group_id)
            if group is not None:
                locks.add(group_name_lock(group.display_name))
        return sorted(locks)

    def _add(self, resource: Resource, edge: Edge) -> EventReason | None:
        """Add the edge; whatever the answer, it counts when lldap shows it. What is to be told."""
        instance, drift = self._instance, Drift(resource, self._instance.metrics)
        if instance.mirror.member(edge.user_id, edge.group_id):
            return None
        if Edge.recorded(resource.recorded) == edge:
            drift.differs()
        try:
            instance.client.add_user_to_group(edge.user_id, edge.group_id)
        except LldapError as error:
            self._read_back(resource, edge, error)
        instance.mirror.add_edge(edge.user_id, edge.group_id)
        instance.unrecorded.made(resource, edge)
        drift.repaired()
        return EventReason.DRIFT if drift.is_found else EventReason.ADDED

    def _read_back(self, resource: Resource, edge: Edge, error: LldapError) -> None:
        """Return if the edge is there all the same; else say which end is missing."""
        user = self._instance.read_user(edge.user_id, resource)
        if user is None or user.uuid != edge.user_uuid:
            raise _gone(resource, f"account {edge.user_id}") from error
        if self._instance.mirror.member(edge.user_id, edge.group_id):
            return
        group = self._instance.read_group(edge.group_id, resource)
        if group is None or group.uuid != edge.group_uuid:
            raise _gone(resource, f"group {resource.spec.get('groupName')}") from error
        raise error

    def _may_remove(self, resource: Resource, edge: Edge) -> bool:
        """Whether the edge is there, between the same two ends, and nobody else's to keep."""
        instance = self._instance
        instance.read_user(edge.user_id, resource)
        if not self._is_there(edge):
            return False
        group = instance.mirror.group(edge.group_id)
        assert group is not None
        heir = self._heir(resource, edge, group.display_name)
        if heir is not None:
            note = f"{edge} was handed over from {resource.key} to {heir.key}"
            instance.events.normal(resource, EventReason.HANDED_OVER, note)
            return False
        if self._is_protected(resource, edge, group.display_name):
            reason, why = Reason.PROTECTED_ACCOUNT, "it is protected from this namespace"
            instance.leave(LLDAP_MEMBERSHIP, resource, reason, str(edge), why)
            return False
        return True

    def _is_there(self, edge: Edge) -> bool:
        """Whether the mirror shows the edge, between the accounts and groups of these uuids."""
        mirror = self._instance.mirror
        user, group = mirror.user(edge.user_id), mirror.group(edge.group_id)
        return (
            user is not None
            and group is not None
            and edge == Edge.between(user, group)
            and mirror.member(edge.user_id, edge.group_id)
        )

    def _heir(self, resource: Resource, edge: Edge, group: str) -> Resource | None:
        """Another object that means the edge and can have it: it takes it over in place."""
        claim = pair(edge.user_id, group)
        rivals = self._instance.cache.claimants(LLDAP_MEMBERSHIP, claim)
        if not resource.deleting:
            rivals += self._claimants_unseen(resource.namespace, claim, {r.uid for r in rivals})
        others = [r for r in rivals if r.uid != resource.uid and self._resolver.means(r) == edge]
        return heir_of(self._instance, LLDAP_MEMBERSHIP, claim, others)

    def _claimants_unseen(self, namespace: str, claim: str, seen: set[str]) -> list[Resource]:
        """Who claims the edge too, by the API server itself: an object's ends are in its namespace.

        That a name means another group came by the watch of groups, and the one of memberships may
        be behind. The deletion of a membership comes after all that is older than it.
        """
        claims = targets_of(LLDAP_MEMBERSHIP)  # whose label it has, heir_of looks at
        objects = self._instance.kube.objects(LLDAP_MEMBERSHIP.kind, namespace)
        found = [Resource(each) for each in objects if claim in claims(each)]
        return [each for each in found if each.uid not in seen]

    def _is_protected(self, resource: Resource, edge: Edge, group: str) -> bool:
        rules = self._instance.rules
        elsewhere = resource.namespace != rules.virtual_group_namespace
        return edge.user_id == rules.own_user or (elsewhere and is_built_in(group))

    def _remove(self, resource: Resource, edge: Edge) -> None:
        instance = self._instance
        with contextlib.suppress(NotFound):  # somebody was faster: success
            instance.client.remove_user_from_group(edge.user_id, edge.group_id)
        instance.mirror.remove_edge(edge.user_id, edge.group_id)
        instance.events.normal(resource, EventReason.REMOVED, f"{edge}: removed in lldap")

    # --- dry run and deletion ----------------------------------------------------------------

    def plan(self, resource: Resource, instance: Instance) -> list[str]:
        """See Handler."""
        edge = self._claimed(resource)
        there = instance.mirror.member(edge.user_id, edge.group_id)
        return [] if there else [f"add {_words(resource)}"]

    def deletion_policy(self, resource: Resource) -> DeletionPolicy:
        """See DeletionPolicyProvider: Delete, unless the spec says Retain or all is uninstalled."""
        retain = resource.spec.get("deletionPolicy") == DeletionPolicy.RETAIN
        if retain or self._instance.guard.lately(LLDAP_MEMBERSHIP):
            return DeletionPolicy.RETAIN
        return DeletionPolicy.DELETE

    def let_go(self, resource: Resource) -> None:
        """See Reconciler: nothing in lldap says whose it is."""

    def owns(self, resource: Resource) -> bool:
        """See DryRunDeletion."""
        return any(self._is_there(edge) for edge in self._held(resource))

    def delete(self, resource: Resource, instance: Instance) -> None:
        """See Handler: the edge goes, unless somebody else stands for it."""
        edges = self._held(resource)
        if not edges:
            return
        with instance.writing(LLDAP_MEMBERSHIP, resource, self._locks(edges)):
            for edge in edges:
                if not self._may_remove(resource, edge):
                    continue
                if not instance.guard.uninstalling(LLDAP_MEMBERSHIP):
                    self._remove(resource, edge)

    def _held(self, resource: Resource) -> list[Edge]:
        """The edges that the object stands for.

        The one recorded under seal, the one that was added since, and the one that it means now,
        which a crash can have kept from the record; not while another object comes before it.
        """
        sealed = self._sealed(resource)
        means = None if in_dry_run(resource) else self._resolver.means(resource)
        if means is not None and self._first(self._meaning_the_same(resource), resource):
            means = None
        if sealed is None:
            self._tell_lost(resource, means)
        edges = dict.fromkeys((sealed, self._made(resource), means))
        return [edge for edge in edges if edge is not None]


def _words(resource: Resource) -> str:
    spec = resource.spec
    return f"{spec.get('userName')} in {spec.get('groupName')}"


def _gone(resource: Resource, what: str) -> ReasonedError:
    return fail(
        Reason.PENDING,
        f"{_words(resource)}: the {what} is not in lldap any more; the membership comes back with "
        "it",
    )
