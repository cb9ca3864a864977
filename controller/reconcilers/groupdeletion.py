"""What becomes of a group of lldap when its object goes."""

from controller.api import LLDAP_GROUP, MARK_ATTRIBUTE, DeletionPolicy
from controller.harness.finalizers import StaleObject
from controller.harness.reasons import Reason
from controller.harness.resource import Resource
from controller.instance import Instance
from controller.ownership.owned import Goodbye, Owned
from controller.reconcilers.groupchange import NAME
from controller.reconcilers.groupfinder import GroupFinder
from controller.reconcilers.virtualgroups import is_built_in
from lldap import Group
from lldap.names import group_key


class GroupDeletion:
    """The half of the reconciler that lets go. Any thread, one thread an object."""

    kind = LLDAP_GROUP
    finalizer = LLDAP_GROUP.finalizer

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._owned = Owned(instance, LLDAP_GROUP)
        self._finder = GroupFinder(instance)

    def deletion_policy(self, resource: Resource) -> DeletionPolicy:
        """See DeletionPolicyProvider: without a word, what we created goes and the rest stays."""
        held = self._finder.held(resource)
        target = self._instance.group_target(held[0]) if held else None
        return self._owned.deletion_policy(resource, target)

    def owns(self, resource: Resource) -> bool:
        """See DryRunDeletion."""
        return bool(self._finder.held(resource))

    def delete(self, resource: Resource, instance: Instance) -> None:
        """See Handler: deletes, hands over, or leaves alone what is not ours."""
        locks = self._goodbye_locks(resource)
        with instance.writing(LLDAP_GROUP, resource, locks):
            self._undo(resource, locks, keep=False)

    def cleanup(self, resource: Resource) -> None:
        """See CleanupHandler: what stays loses our mark."""
        if self.deletion_policy(resource) is DeletionPolicy.RETAIN:
            self.let_go(resource)

    def let_go(self, resource: Resource) -> None:
        """See Reconciler."""
        locks = self._goodbye_locks(resource)
        self._owned.best_effort(resource, locks, lambda: self._undo(resource, locks, keep=True))

    def _goodbye_locks(self, resource: Resource) -> list[tuple[str, str]]:
        return self._finder.locks(_name_of(resource), self._finder.held(resource))

    def _undo(self, resource: Resource, locks: list[tuple[str, str]], *, keep: bool) -> None:
        if self._goodbye_locks(resource) != locks:
            raise StaleObject  # lldap changed meanwhile: again, with the other groups' locks
        held = [group.id for group in self._finder.held(resource)]
        for group_id in held or self._landed_late(resource):
            group = self._instance.read_group(group_id, resource)
            if group is not None and is_built_in(group.display_name):
                words, why = f"group {group.display_name}", "it is built into lldap"
                self._owned.leave(resource, Reason.BUILT_IN_CONFLICT, words, why)
            elif group is not None:
                self._owned.undo(resource, self._goodbye(resource, group), keep=keep)

    def _landed_late(self, resource: Resource) -> list[int]:
        """A group that the mirror lacks, because the answer to its creation was lost."""
        found = self._instance.client.find_group_by_name(_name_of(resource))
        return [] if found is None else [found]

    def _goodbye(self, resource: Resource, group: Group) -> Goodbye:
        client, group_id = self._instance.client, group.id
        return Goodbye(
            claim=group_key(group.display_name),
            target=self._instance.group_target(group),
            writable=True,
            mark=lambda mark: client.update_group(group_id, insert=mark),
            unmark=lambda: client.update_group(group_id, remove=(MARK_ATTRIBUTE,)),
            delete=lambda: client.delete_group(group_id),
            forget=lambda: self._instance.drop_group(group_id, resource),
            reread=lambda: self._instance.read_group(group_id, resource),
        )


def _name_of(resource: Resource) -> str:
    return str(resource.spec.get(NAME, ""))
