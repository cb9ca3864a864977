"""What of a group's name and attributes differs from its spec."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from controller.api import GroupSpec
from controller.reconcilers.attributes import Wanted, words_of
from lldap import Group

NAME = "displayName"


@dataclass(frozen=True, slots=True)
class GroupChange:
    """One updateGroup."""

    display_name: str | None = None
    insert: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remove: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.display_name is not None or bool(self.insert or self.remove)

    def words(self) -> list[str]:
        """For people: names only, no values."""
        renamed = [] if self.display_name is None else [f"rename to {self.display_name}"]
        return [*renamed, *words_of(self.insert, self.remove)]


def group_change(
    spec: GroupSpec, wanted: Wanted, group: Group, managed: frozenset[str]
) -> GroupChange:
    """The difference; empty when lldap has what the spec asks for.

    An attribute that the spec no longer declares is removed if this object had set it.
    """
    renamed = spec.display_name if spec.display_name != group.display_name else None
    insert, remove = wanted.changes(group.attributes, managed - {NAME})
    return GroupChange(renamed, insert, remove)
