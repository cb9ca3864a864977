"""Which group of lldap an object means."""

from controller.harness.resource import Resource
from controller.instance import Instance, group_lock, group_name_lock
from lldap import Group


class GroupFinder:
    """Looks into the mirror, which only nominates. Any thread; no calls."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    def meant(self, resource: Resource, display_name: str) -> Group | None:
        """The group that the object has, so that another name renames it; else the one so named."""
        named = self._instance.mirror.group_by_name(display_name)
        held = self.held(resource)
        if not held or named in held:
            return named
        return held[0]

    def held(self, resource: Resource) -> list[Group]:
        """What the object has, in the order of their ids.

        More than one is what a create that landed after its name was edited leaves.
        """
        mirror, ownership = self._instance.mirror, self._instance.ownership
        candidates = {group.id: group for group in mirror.groups_by_index(resource.uid)}
        number = resource.recorded.get("groupId")
        recorded = mirror.group(number) if isinstance(number, int) else None
        if recorded is not None:
            candidates[recorded.id] = recorded
        return [
            group
            for _, group in sorted(candidates.items())
            if ownership.is_ours(resource, self._instance.group_target(group))
        ]

    def locks(self, display_name: str, groups: list[Group]) -> list[tuple[str, str]]:
        """Every lock of the groups and of the name.

        Whoever changes a group holds its id and its name: so a name alone keeps out all others
        while its id is not known.
        """
        locks = {group_name_lock(display_name)}
        for group in groups:
            locks |= {group_name_lock(group.display_name), group_lock(group.id)}
        return sorted(locks)
