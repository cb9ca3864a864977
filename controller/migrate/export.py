"""`lldap-operator export`: manifests of what a live lldap holds."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from controller.api import LLDAP_GROUP, LLDAP_USER
from controller.migrate.live import content_of
from controller.migrate.manifests import SECRET, Manifest, manifests
from controller.migrate.marks import tell_held
from controller.migrate.place import Place
from controller.migrate.progress import Progress
from controller.migrate.report import Report, counted
from controller.migrate.selection import Selection
from controller.migrate.whole import read_whole
from lldap import Client
from lldap.names import group_key

_THINGS: Final = {
    "LldapAttributeSchema": "attribute schema",
    "LldapGroup": "group",
    "LldapUser": "user",
    "LldapMembership": "membership",
    SECRET: "Secret",
}


@dataclass(frozen=True, slots=True)
class Export:
    """What to export. Reads lldap, writes nothing there."""

    own_user: str
    place: Place
    selection: Selection
    secrets: bool = False

    def run(self, client: Client, report: Report, progress: Progress) -> list[Manifest]:
        """The manifests; raises what `client` raises."""
        directory = read_whole(client, self.own_user, report, progress)
        content = content_of(directory, self.own_user, report, secrets=self.secrets)
        content = self.selection.of(content, report)
        made = manifests(content, self.place, report)
        tell_held(directory, made, report)
        tell_counts(made, report)
        peopled = {group_key(each.display_name) for each in directory.groups if each.members}
        tell_adoption(made, peopled, self.place, report)
        return made


def tell_counts(made: Sequence[Manifest], report: Report) -> None:
    """How many manifests there are of each kind."""
    counts = Counter(manifest.kind for manifest in made)
    parts = [counted(counts[kind], thing) for kind, thing in _THINGS.items() if counts[kind]]
    report.say(f"manifests: {', '.join(parts) or 'none'}")


def tell_adoption(
    made: Sequence[Manifest], peopled: Collection[str], place: Place, report: Report
) -> None:
    """Under which LLDAP_ADOPTION the operator takes over what lldap has of this already.

    `peopled` are groups that have members.
    """
    taken = [each for each in made if each.kind in {LLDAP_USER.kind, LLDAP_GROUP.kind}]
    if not taken:
        return
    unwanted = [
        each
        for each in taken
        if each.kind == LLDAP_GROUP.kind
        and each.namespace != place.virtual_namespace
        and group_key(each.body["spec"]["displayName"]) in peopled
    ]
    report.say(
        "apply them with kubectl apply --server-side; of the accounts and groups that lldap has "
        "already, the operator takes over each by one attribute, kubernetes-owner, unless "
        "LLDAP_ADOPTION is Never"
    )
    if unwanted:
        report.say(
            f"{counted(len(unwanted), 'group')} with members outside of "
            f"{place.virtual_namespace}: the operator takes over such a group only with "
            f"LLDAP_ADOPTION=Always; else use --namespace {place.virtual_namespace}"
        )
