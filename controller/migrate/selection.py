"""Which of what lldap holds is exported."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from controller.migrate.drafts import Attributes, Content
from controller.migrate.report import Report
from controller.migrate.text import quoted
from lldap.names import BUILT_IN_GROUPS, attribute_key, group_key, user_key

Names = Collection[str]


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns such as `team-*`, without letter case. None of a kind: all of it that belongs.

    With patterns for users alone, the groups that they are in belong; for groups alone, their
    members; of attributes, those in which what is selected has a value.
    """

    users: Sequence[str] = ()
    groups: Sequence[str] = ()
    attributes: Sequence[str] = ()

    def of(self, content: Content, report: Report) -> Content:
        """What of `content` is selected; a pattern that nothing matches is reported."""
        known = BUILT_IN_GROUPS.union(content.groups)
        users = _matching("user", content.users, map(user_key, self.users), report)
        groups = _matching("group", known, map(group_key, self.groups), report)
        if self.users and not self.groups:
            groups = {group for user, group in content.edges if user in users}
        elif self.groups and not self.users:
            users = {user for user, group in content.edges if group in groups}
        chosen = replace(
            content,
            users={key: draft for key, draft in content.users.items() if key in users},
            groups={key: draft for key, draft in content.groups.items() if key in groups},
            edges={
                (user, group): name
                for (user, group), name in content.edges.items()
                if user in users and group in groups
            },
        )
        return _with_attributes(chosen, self._attributes(chosen, report))

    def _attributes(self, content: Content, report: Report) -> Names:
        declared = {name for attributes in content.attributes.values() for name in attributes}
        used = {name for user in content.users.values() for name in user.attributes}
        used |= {name for group in content.groups.values() for name in group.attributes}
        if self.attributes:
            patterns = map(attribute_key, self.attributes)
            return _matching("attribute", declared | used, patterns, report)
        return used if self.users or self.groups else declared | used


def _matching(kind: str, names: Names, patterns: Iterable[str], report: Report) -> set[str]:
    wanted = list(patterns)
    if not wanted:
        return set(names)
    found: set[str] = set()
    for pattern in wanted:
        matching = {name for name in names if fnmatchcase(name, pattern)}
        if not matching:
            report.left_out(f"{kind} {quoted(pattern)}", "lldap has none of this name: correct it")
        found |= matching
    return found


def _with_attributes(content: Content, names: Names) -> Content:
    """`content` with these attributes and no others."""

    def kept(attributes: Attributes) -> Attributes:
        return {name: value for name, value in attributes.items() if name in names}

    return replace(
        content,
        attributes={
            target: {name: each for name, each in attributes.items() if name in names}
            for target, attributes in content.attributes.items()
        },
        users={
            key: replace(draft, attributes=kept(draft.attributes))
            for key, draft in content.users.items()
        },
        groups={
            key: replace(draft, attributes=kept(draft.attributes))
            for key, draft in content.groups.items()
        },
    )
