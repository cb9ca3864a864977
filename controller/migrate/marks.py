"""What is managed already, by objects other than those that are exported."""

from collections.abc import Iterator, Sequence

from controller.api import LLDAP_GROUP, LLDAP_USER
from controller.migrate.manifests import Manifest
from controller.migrate.report import Report, group_words, user_words
from controller.migrate.text import quoted
from controller.ownership.mark import Invitation, Mark, mark_of
from lldap import Attributes, Directory
from lldap.names import group_key


def tell_held(directory: Directory, manifests: Sequence[Manifest], report: Report) -> None:
    """Note which accounts and groups another object holds: two objects of one are a Conflict."""
    for words, attributes, manifest in _pairs(directory, manifests):
        mark = mark_of(attributes)
        if mark is None or isinstance(mark, Invitation):
            continue
        holder = f"{manifest.namespace}/{manifest.name}"
        if isinstance(mark, Mark) and mark.key != holder:
            report.note(
                f"{words} is managed already, by {manifest.kind} {mark.key} of cluster "
                f"{mark.cluster}, instance {mark.instance}: while that one exists, {holder} is a "
                "Conflict and changes nothing"
            )
        elif not isinstance(mark, Mark):
            report.note(
                f"{words} has an owner that no operator knows ({quoted(str(mark))}): {holder} is "
                "a Conflict until its attribute kubernetes-owner is removed"
            )


def _pairs(
    directory: Directory, manifests: Sequence[Manifest]
) -> Iterator[tuple[str, Attributes, Manifest]]:
    users = {user.id: user for user in directory.users}
    groups = {group_key(group.display_name): group for group in directory.groups}
    for manifest in manifests:
        spec = manifest.body.get("spec", {})
        if manifest.kind == LLDAP_USER.kind:
            user = users[spec["username"]]
            yield user_words(user.id), user.attributes, manifest
        elif manifest.kind == LLDAP_GROUP.kind:
            group = groups[group_key(spec["displayName"])]
            yield group_words(group.display_name), group.attributes, manifest
