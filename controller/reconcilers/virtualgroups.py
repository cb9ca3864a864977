"""The virtual objects of lldap's built-in groups: three LldapGroups that the operator keeps."""

from controller.api import (
    API_VERSION,
    BUILT_IN_ANNOTATION,
    INSTANCE_LABEL,
    LLDAP_GROUP,
    DeletionPolicy,
)
from controller.configuration.rules import Rules
from controller.events.events import EventReason
from controller.harness.outcome import Outcome, converged
from controller.harness.reasoned import fail
from controller.harness.reasons import Reason
from controller.harness.resource import Object, Resource
from controller.instance import Instance
from controller.ownership.owned import full_pass_served
from lldap.names import BUILT_IN_GROUPS, group_key


def virtual_name(instance: str, group: str) -> str:
    """The object's name: object names take no underscore."""
    return f"{instance}--{group.replace('_', '-')}"


def virtual_names(rules: Rules) -> dict[str, str]:
    """Names of the virtual objects, and the built-in group that each stands for."""
    return {virtual_name(rules.instance, group): group for group in sorted(BUILT_IN_GROUPS)}


def is_built_in(group: str) -> bool:
    """Whether a group's name is a built-in one.

    Spaces around it do not count: people cannot see them, LDAP ignores them in comparisons, and
    one of lldap's databases ignores those behind.
    """
    return group_key(group).strip() in BUILT_IN_GROUPS


def stands_for(rules: Rules, resource: Resource) -> str | None:
    """The built-in group that the object stands for; the annotation alone makes nothing virtual."""
    if resource.namespace != rules.virtual_group_namespace:
        return None
    return virtual_names(rules).get(resource.name)


def is_virtual(rules: Rules, resource: Resource) -> bool:
    """Whether it is one of the three."""
    return stands_for(rules, resource) is not None


class VirtualGroups:
    """Creates the virtual objects. Any thread."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    @property
    def keys(self) -> list[str]:
        """Keys of the three objects."""
        namespace = self._instance.rules.virtual_group_namespace
        return [f"{namespace}/{name}" for name in virtual_names(self._instance.rules)]

    def ensure(self, key: str) -> None:
        """Create the object if it is one of the three; raises what the REST client raises."""
        namespace, _, name = key.partition("/")
        rules = self._instance.rules
        group = virtual_names(rules).get(name)
        if group is not None and namespace == rules.virtual_group_namespace:
            self.apply(name, group)

    def apply(self, name: str, group: str) -> Object:
        """The object as it must be: created, or its spec and marks put back."""
        rules = self._instance.rules
        body: Object = {
            "apiVersion": API_VERSION,
            "kind": LLDAP_GROUP.kind,
            "metadata": {
                "name": name,
                "namespace": rules.virtual_group_namespace,
                "labels": {INSTANCE_LABEL: rules.instance},
                "annotations": {BUILT_IN_ANNOTATION: "true"},
            },
            "spec": {"displayName": group},
        }
        return self._instance.kube.apply(
            LLDAP_GROUP.kind, rules.virtual_group_namespace, name, body
        )


class VirtualGroupReconciler:
    """Shows a built-in group in its virtual object; writes nothing to lldap. Any thread."""

    kind = LLDAP_GROUP
    finalizer = ""  # it would hang an uninstall: KindController takes off one that is found

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._groups = VirtualGroups(instance)

    def converge(self, resource: Resource, instance: Instance) -> Outcome:
        """See Handler."""
        group = virtual_names(instance.rules)[resource.name]
        self._restore(resource, group)
        live = instance.mirror.group_by_name(group)
        if live is None:
            raise fail(
                Reason.PENDING,
                f"lldap has no group {group}: somebody deleted or renamed it. Create it in lldap "
                "again; the operator does not",
            )
        status = resource.status
        status["instance"] = instance.rules.instance
        status["server"] = instance.mirror.server_uuid
        status["groupId"], status["uuid"] = live.id, live.uuid
        full_pass_served(resource)
        return converged(Reason.BUILT_IN, f"{group} is a built-in group of lldap")

    def _restore(self, resource: Resource, group: str) -> None:
        """Undo a foreign edit and say so."""
        spec = {name: value for name, value in resource.spec.items() if value is not None}
        foreign = spec != {"displayName": group}
        unmarked = resource.annotations.get(BUILT_IN_ANNOTATION) != "true"
        unlabelled = resource.labels.get(INSTANCE_LABEL) != self._instance.rules.instance
        if not (foreign or unmarked or unlabelled):
            return
        if foreign:  # an apply leaves the fields that others have added
            operations: list[Object] = [
                {"op": "test", "path": "/metadata/uid", "value": resource.uid},
                {"op": "replace", "path": "/spec", "value": {"displayName": group}},
            ]
            resource.refreshed(self._instance.kube.json_patch(resource, operations))
        resource.refreshed(self._groups.apply(resource.name, group))
        self._instance.events.warning(
            resource,
            EventReason.SPEC_RESTORED,
            f"the built-in group {group} belongs to the operator here; a change was undone",
        )

    def delete(self, resource: Resource, instance: Instance) -> None:
        """See Handler: never called, there is no finalizer."""

    def plan(self, _resource: Resource, _instance: Instance) -> list[str]:
        """See Handler."""
        return []

    def deletion_policy(self, _resource: Resource) -> DeletionPolicy:
        """See DeletionPolicyProvider."""
        return DeletionPolicy.RETAIN

    def let_go(self, resource: Resource) -> None:
        """See Reconciler: nothing of it is marked."""
