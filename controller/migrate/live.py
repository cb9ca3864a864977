"""Drafts of what a live lldap holds, so that an object made of one changes nothing there."""

from collections.abc import Iterator, Mapping
from typing import Final

from controller.api import GROUP_BUILT_IN, MARK_ATTRIBUTE, USER_BUILT_IN
from controller.migrate.drafts import Content, GroupDraft, Password, UserDraft, privileged
from controller.migrate.report import Report, group_words, user_words
from controller.migrate.text import quoted
from lldap import (
    Attributes,
    AttributeSchema,
    Directory,
    GroupWithMembers,
    InvalidValue,
    Target,
    User,
)
from lldap.names import BUILT_IN_GROUPS, group_key, user_key
from lldap.values import parse

_AVATAR: Final = "avatar"
_NO_ENTRY: Final = {
    Target.USER: (USER_BUILT_IN | {MARK_ATTRIBUTE}) - {_AVATAR},
    Target.GROUP: GROUP_BUILT_IN | {MARK_ATTRIBUTE},
}
_TO_FILL_IN: Final = Password(manage=False)


def content_of(directory: Directory, own_user: str, report: Report, *, secrets: bool) -> Content:
    """All of `directory` but what is the operator's own, and what an object would change.

    `secrets`: each user gets a Secret to fill in.
    """
    drafts = _Drafts(directory, user_key(own_user), report, _TO_FILL_IN if secrets else None)
    edges = drafts.edges()
    return Content(
        attributes={target: _custom(directory.schema.of(target)) for target in Target},
        groups=dict(drafts.groups()),
        users=dict(drafts.users()),
        edges=edges,
        privileged=privileged(edges),
    )


def _custom(attributes: Mapping[str, AttributeSchema]) -> dict[str, AttributeSchema]:
    return {
        name: attribute
        for name, attribute in attributes.items()
        if not attribute.is_hardcoded and name != MARK_ATTRIBUTE
    }


class _Drafts:
    def __init__(
        self, directory: Directory, own: str, report: Report, password: Password | None
    ) -> None:
        self._directory = directory
        self._own = own
        self._report = report
        self._password = password

    def edges(self) -> dict[tuple[str, str], str]:
        return {
            (user, group_key(group.display_name)): group.display_name
            for group in self._directory.groups
            for user in group.members
            if user != self._own
        }

    def groups(self) -> Iterator[tuple[str, GroupDraft]]:
        for group in self._directory.groups:
            key = group_key(group.display_name)
            if key not in BUILT_IN_GROUPS:
                yield key, self._group(group)

    def users(self) -> Iterator[tuple[str, UserDraft]]:
        for user in self._directory.users:
            if user.id == self._own:
                self._report.note(
                    f"{user_words(user.id)} is the account that logged in: taken for the "
                    "operator's own, which no object manages, and left out"
                )
            else:
                yield user.id, self._user(user)

    def _group(self, group: GroupWithMembers) -> GroupDraft:
        words = group_words(group.display_name)
        attributes = self._attributes(Target.GROUP, group.attributes, words)
        return GroupDraft(name=group.display_name, attributes=attributes)

    def _user(self, user: User) -> UserDraft:
        return UserDraft(
            id=user.id,
            email=user.email,
            display_name=user.display_name or None,
            first_name=user.first_name or None,
            last_name=user.last_name or None,
            attributes=self._attributes(Target.USER, user.attributes, user_words(user.id)),
            password=self._password,
        )

    def _attributes(self, target: Target, live: Attributes, words: str) -> Attributes:
        schemas = self._directory.schema.of(target)
        return {
            name: value
            for name, value in live.items()
            if name not in _NO_ENTRY[target]
            and self._can_be_declared(schemas.get(name), name, value, words)
        }

    def _can_be_declared(
        self, schema: AttributeSchema | None, name: str, value: tuple[str, ...], words: str
    ) -> bool:
        """Whether an object that declares this very value finds it in place.

        lldap holds values that it would not take: older versions and other tools wrote them. And
        it holds empty texts that count as none, such as the picture of everybody whom bootstrap.sh
        created without one: nothing is lost with those.
        """
        try:
            if schema is not None:
                return parse(schema, value) is not None
            why = "of no attribute"
        except InvalidValue as error:
            why = f"it {error.reason}"
        self._report.left_out(
            f"attribute {quoted(name)} of {words}",
            f"no object can declare the value that lldap holds ({why}): set or remove it there",
        )
        return False
