"""Everything that a live lldap holds, long values included."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from controller.migrate.progress import Progress
from controller.migrate.report import Report, group_words, user_words
from lldap import Attributes, Client, Directory, GroupWithMembers, NotAdmin, NotFound, User
from lldap.models import Digest
from lldap.names import LLDAP_ADMIN, user_key

_Model = TypeVar("_Model", User, GroupWithMembers)


def read_whole(client: Client, own_user: str, report: Report, progress: Progress) -> Directory:
    """All of lldap.

    In one request, and one more for each account or group with a long value, which the first
    answer holds a digest of. Raises NotAdmin if `own_user` may not see everything, and what
    `client` raises.
    """
    directory = client.read_directory()
    if not _is_admin(directory, user_key(own_user)):
        raise NotAdmin(f"{own_user} is not in {LLDAP_ADMIN}, so lldap may not show it everything")
    users = _completed(
        directory.users,
        lambda user: client.user(user.id),
        lambda user: report.note(f"{user_words(user.id)} was deleted in lldap meanwhile"),
        lambda done, total: progress.at("users with pictures read", done, total),
    )
    groups = _completed(
        directory.groups,
        lambda group: client.group(group.id),
        lambda group: report.note(f"{group_words(group.display_name)} was deleted meanwhile"),
        lambda done, total: progress.at("groups with long values read", done, total),
    )
    return replace(directory, users=users, groups=groups)


def _is_admin(directory: Directory, own: str) -> bool:
    admins = [group.members for group in directory.groups if group.display_name == LLDAP_ADMIN]
    return any(own in members for members in admins)


def _completed(
    found: Sequence[_Model],
    read: Callable[[_Model], _Model],
    gone: Callable[[_Model], None],
    progress: Callable[[int, int], None],
) -> list[_Model]:
    """`found` with every digest replaced; who is gone by now is left out."""
    total = sum(_is_short_of(each.attributes) for each in found)
    whole, done = [], 0
    for each in found:
        if not _is_short_of(each.attributes):
            whole.append(each)
            continue
        progress(done, total)
        done += 1
        try:
            whole.append(read(each))
        except NotFound:
            gone(each)
    return whole


def _is_short_of(attributes: Attributes) -> bool:
    return any(isinstance(text, Digest) for value in attributes.values() for text in value)
