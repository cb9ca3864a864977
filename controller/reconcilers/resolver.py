"""Which edge a membership means: from listers and mirror, without a call."""

from collections.abc import Iterator

from controller.api import INSTANCE_LABEL, LLDAP_GROUP, LLDAP_USER, MembershipSpec
from controller.harness.reasoned import ReasonedError, fail
from controller.harness.reasons import Reason
from controller.harness.resource import Resource
from controller.instance import Instance
from controller.ownership.owned import read_spec
from controller.reconcilers.edge import Edge
from controller.reconcilers.matcher import (
    GroupCandidate,
    GroupNotFound,
    MembershipReference,
    UserCandidate,
    UserNotFound,
    validate_membership_references,
)
from controller.reconcilers.virtualgroups import is_built_in, stands_for
from lldap import Group, User
from lldap.names import group_key, user_key


class Resolver:
    """Finds the two ends of a membership. Any thread; no calls.

    An object of the membership's namespace counts only if lldap marks the account or group as its
    own: neither a spec nor a status of somebody else can say what a name means.
    """

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    def edge(self, resource: Resource) -> Edge:
        """The edge that it means now.

        Raises ReasonedError: InvalidSpec, ProtectedAccount, or Pending naming the missing side.
        """
        spec = self.refuse(resource)
        user = self._instance.mirror.user(spec.user_name)
        group = self._instance.mirror.group_by_name(spec.group_name)
        reference = MembershipReference(
            resource.namespace, self._instance.rules.instance, spec.user_name, spec.group_name
        )
        try:
            validate_membership_references(
                reference, self._users(reference, user), self._groups(reference, group)
            )
        except UserNotFound:
            raise _pending(resource, f"LldapUser with username {spec.user_name}") from None
        except GroupNotFound:
            raise _pending(resource, f"LldapGroup with displayName {spec.group_name}") from None
        assert user is not None
        assert group is not None  # there are no candidates without them
        return Edge.between(user, group)

    def means(self, resource: Resource) -> Edge | None:
        """The same; None where `edge` raises."""
        try:
            return self.edge(resource)
        except ReasonedError:
            return None

    def refuse(self, resource: Resource) -> MembershipSpec:
        """The spec, if the object may have it: raises InvalidSpec or ProtectedAccount.

        Rights are handed out only from the namespace of the virtual groups.
        """
        spec, rules = read_spec(MembershipSpec, resource), self._instance.rules
        self._instance.refuse_own_account(user_key(spec.user_name))
        built_in = is_built_in(spec.group_name)
        if built_in and not rules.hands_out_rights(resource.namespace):
            raise fail(
                Reason.PROTECTED_ACCOUNT,
                f"{spec.group_name} is a built-in group of lldap: its members are set only by "
                f"memberships in the namespace {rules.virtual_group_namespace}: create it there",
            )
        return spec

    def _users(self, reference: MembershipReference, live: User | None) -> Iterator[UserCandidate]:
        """Who holds the account; with unmanaged references the account that nobody claims too."""
        if live is None:
            return
        target = self._instance.user_target(live)
        claimants = self._instance.cache.claimants(LLDAP_USER, live.id)
        for each in claimants:
            if self._instance.ownership.is_ours(each, target):
                yield UserCandidate(each.namespace, _instance_of(each), live.id)
        if not claimants and self._instance.rules.allow_unmanaged_references:
            yield UserCandidate(reference.namespace, reference.instance, live.id)

    def _groups(
        self, reference: MembershipReference, live: Group | None
    ) -> Iterator[GroupCandidate]:
        """The same for the group; a built-in one is held by its virtual object alone."""
        if live is None:
            return
        key = group_key(live.display_name)
        claimants = self._instance.cache.claimants(LLDAP_GROUP, key)
        for each in claimants:
            if self._holds(each, live):
                yield GroupCandidate(each.namespace, _instance_of(each), live.display_name)
        unmanaged = not claimants and not is_built_in(key)
        if unmanaged and self._instance.rules.allow_unmanaged_references:
            yield GroupCandidate(reference.namespace, reference.instance, live.display_name)

    def _holds(self, resource: Resource, group: Group) -> bool:
        key = group_key(group.display_name)
        if is_built_in(key):
            return stands_for(self._instance.rules, resource) == key
        return self._instance.ownership.is_ours(resource, self._instance.group_target(group))


def _pending(resource: Resource, what: str) -> ReasonedError:
    return fail(
        Reason.PENDING,
        f"{resource.key} waits for the {what}: no such object in the namespace "
        f"{resource.namespace} has it in lldap yet; create it there for the same instance, or wait",
    )


def _instance_of(resource: Resource) -> str:
    return resource.labels[INSTANCE_LABEL]
