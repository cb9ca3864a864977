"""What was changed while a directory was read, and how it stays on top of what was read."""

from dataclasses import dataclass, field

from lldap.models import Target
from lldap.picture import Picture


@dataclass(slots=True)
class Changes:
    """Our own confirmed changes since a read began. The caller holds the mirror's lock.

    Such a read may show the state before a change or after it. So of what was changed, what the
    mirror shows counts, and of all else what was read.
    """

    users: set[str] = field(default_factory=set)
    groups: set[int] = field(default_factory=set)
    # Whether the user is in the group: the mirror does not show edges of groups that it has not.
    edges: dict[tuple[str, int], bool] = field(default_factory=dict)
    attributes: set[tuple[Target, str]] = field(default_factory=set)
    # Dropped since, maybe put again since: edges or values that were read belong to the old one.
    dropped_users: set[str] = field(default_factory=set)
    dropped_attributes: set[tuple[Target, str]] = field(default_factory=set)

    def drop_user(self, user_id: str) -> None:
        """The user was deleted, its edges with it."""
        self.users.add(user_id)
        self.dropped_users.add(user_id)
        self.edges.update({edge: False for edge in self.edges if edge[0] == user_id})

    def set_group(self, group_id: int) -> None:
        """The group is as shown, its edges with it."""
        self.groups.add(group_id)
        for edge in [edge for edge in self.edges if edge[1] == group_id]:
            del self.edges[edge]

    def carry_over(self, shown: Picture, fresh: Picture) -> None:
        """Change `fresh`, which was read, to what `shown` has of all that was changed."""
        for target, name in self.dropped_attributes:
            fresh.wipe_attribute(target, name)
        for target, name in self.attributes:
            attribute = shown.schemas[target].get(name)
            if attribute is None:
                fresh.drop_attribute(target, name)
            else:
                fresh.put_attribute(target, attribute)
        for user_id in self.users:
            self._carry_user(shown, fresh, user_id)
        for group_id in self.groups:
            group = shown.groups.get(group_id)
            if group is None:
                fresh.drop_group(group_id)
            else:
                fresh.put_group(group.with_members(shown.members[group_id]))
        for (user_id, group_id), there in self.edges.items():
            _set_edge(fresh, user_id, group_id, there=there)

    def _carry_user(self, shown: Picture, fresh: Picture, user_id: str) -> None:
        if user_id in self.dropped_users:
            for group_id in fresh.group_ids_by_user.get(user_id, ()):
                _set_edge(fresh, user_id, group_id, there=shown.has_edge(user_id, group_id))
        user = shown.users.get(user_id)
        if user is None:
            fresh.drop_user(user_id)
        else:
            fresh.put_user(user)


def _set_edge(picture: Picture, user_id: str, group_id: int, *, there: bool) -> None:
    if there:
        picture.add_edge(user_id, group_id)
    else:
        picture.remove_edge(user_id, group_id)
