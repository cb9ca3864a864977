"""`lldap-operator import-bootstrap`: manifests of what a bootstrap folder asks for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from controller.migrate.bootstrap.folder import (
    GROUP_CONFIGS,
    GROUP_SCHEMAS,
    USER_CONFIGS,
    USER_SCHEMAS,
    BootstrapFolder,
    Record,
)
from controller.migrate.bootstrap.schemas import schemas_of
from controller.migrate.bootstrap.users import Users
from controller.migrate.bootstrap.values import Values
from controller.migrate.drafts import Content, GroupDraft, UserDraft, privileged
from controller.migrate.export import tell_adoption, tell_counts
from controller.migrate.manifests import Manifest, manifests
from controller.migrate.place import Place
from controller.migrate.progress import Progress
from controller.migrate.report import Report, group_words, user_words
from controller.migrate.text import quoted
from lldap import Target
from lldap.names import BUILT_IN_GROUPS, group_key, user_key


@dataclass(frozen=True, slots=True)
class BootstrapImport:
    """What to import. Asks neither lldap nor the network."""

    path: Path
    own_user: str
    place: Place
    passwords: bool = False

    def run(self, report: Report, progress: Progress) -> list[Manifest]:
        """The manifests. Raises FolderError."""
        folder = BootstrapFolder(
            self.path, report, lambda done, total: progress.at("files read", done, total)
        )
        content = _Reading(self, folder, report).content()
        made = manifests(content, self.place, report)
        tell_counts(made, report)
        tell_adoption(made, {group for _, group in content.edges}, self.place, report)
        return made


class _Reading:
    """One reading of a folder."""

    def __init__(self, what: BootstrapImport, folder: BootstrapFolder, report: Report) -> None:
        self._what = what
        self._folder = folder
        self._report = report
        self._own = user_key(what.own_user)

    def content(self) -> Content:
        """All of it, in the order in which bootstrap.sh goes."""
        schemas = {
            Target.GROUP: schemas_of(self._folder.lists(GROUP_SCHEMAS), Target.GROUP, self._report),
            Target.USER: schemas_of(self._folder.lists(USER_SCHEMAS), Target.USER, self._report),
        }
        values = {target: Values(target, found, self._report) for target, found in schemas.items()}
        groups = self._groups(values[Target.GROUP])
        users = Users(
            self._what.path, values[Target.USER], self._report, passwords=self._what.passwords
        )
        drafts = self._users(users)
        edges = {edge: name for edge, name in users.edges.items() if edge[0] in drafts}
        self._tell_missing(values.values(), {group for _, group in edges} - groups.keys())
        return Content(schemas, groups, drafts, edges, privileged(edges))

    def _groups(self, values: Values) -> dict[str, GroupDraft]:
        records = self._last("name", group_key, group_words, GROUP_CONFIGS)
        groups: dict[str, GroupDraft] = {}
        for key, record in records.items():
            name = str(record.fields["name"])
            if key in BUILT_IN_GROUPS:
                why = "it is built into lldap, and its attributes are nobody's object's"
                self._report.left_out(group_words(name), f"{why}: set them in lldap")
            else:
                groups[key] = GroupDraft(name=name, attributes=values.of(record, group_words(name)))
        return groups

    def _users(self, users: Users) -> dict[str, UserDraft]:
        drafts: dict[str, UserDraft] = {}
        for key, record in self._last("id", user_key, user_words, USER_CONFIGS).items():
            if key == self._own:
                why = (
                    "it is the operator's own account, which no object manages: change it in lldap"
                )
                self._report.left_out(user_words(key), why)
                continue
            draft = users.draft(key, record)
            if draft is not None:
                drafts[key] = draft
        return drafts

    def _last(
        self, name: str, key: Callable[[str], str], words: Callable[[str], str], part: str
    ) -> dict[str, Record]:
        """The records by what they are about; of two about one the later counts."""
        found: dict[str, Record] = {}
        for record in self._folder.records(part):
            given = record.text(name, record.where, self._report)
            if given is None:
                self._report.left_out(record.where, f"it has no {name}: write one")
                continue
            before = found.get(key(given))
            if before is not None:
                self._report.left_out(
                    f"{words(given)} in {before.where}",
                    f"{record.where} has it again, and the later one counts: keep one",
                )
            found[key(given)] = record
        return found

    def _tell_missing(self, values: Iterable[Values], groups: set[str]) -> None:
        for each in values:
            for name in sorted(each.undeclared):
                self._report.note(
                    f"attribute {quoted(name)} of {each.target.name.lower()}s is in no schema "
                    "file: who has it waits for an LldapAttributeSchema of that name"
                )
        for group in sorted(groups - BUILT_IN_GROUPS):
            self._report.note(
                f"{group_words(group)} is in no group file: memberships in it wait for an "
                f"LldapGroup of that name in {self._what.place.namespace}"
            )
