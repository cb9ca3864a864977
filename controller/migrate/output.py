"""Where manifests go: a stream of documents, or one file an object."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TextIO

from controller.migrate.manifests import Manifest
from controller.migrate.progress import Progress
from controller.migrate.report import Report, counted
from controller.stdout import discard

FOLDERS: Final = {
    "LldapAttributeSchema": "attribute-schemas",
    "LldapGroup": "groups",
    "LldapUser": "users",
    "LldapMembership": "memberships",
    "Secret": "secrets",
}
_SUFFIX: Final = ".yaml"
_SHOWN: Final = 10
_ONLY_OWNER: Final = 0o600
_EVERYBODY: Final = 0o644


class OutputError(Exception):
    """The manifests could not be written; names the file or the folder."""


def print_documents(manifests: Sequence[Manifest], stream: TextIO) -> None:
    """All as documents of one stream. Raises OutputError."""
    try:
        stream.writelines(manifest.text() for manifest in manifests)
        stream.flush()
    except BrokenPipeError:
        discard(stream)
        raise OutputError("standard output: whoever reads it has closed it") from None
    except OSError as error:
        raise OutputError(f"standard output: {error.strerror}") from None


@dataclass(slots=True)
class Changes:
    """Which files of a folder are, or would be, written."""

    created: list[Path] = field(default_factory=list)
    changed: list[Path] = field(default_factory=list)
    same: int = 0
    others: list[Path] = field(default_factory=list)

    def tell(self, report: Report, *, done: bool) -> None:
        """Say so; `done` or only planned."""
        verb = "written" if done else "to write"
        report.say(
            f"{counted(len(self.created), 'new file')} and "
            f"{counted(len(self.changed), 'changed file')} {verb}, {self.same} as they were"
        )
        if self.others:
            more = len(self.others) - _SHOWN
            shown = [str(path) for path in self.others[:_SHOWN]]
            shown += [f"and {more} more"] if more > 0 else []
            report.note(
                f"{counted(len(self.others), 'file')} there that this run does not make, of what "
                f"is gone or was not asked for: {', '.join(shown)}"
            )


class Folder:
    """`NAMESPACE/KIND/NAME.yaml` below a path; only files that differ are written. One thread."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self) -> None:
        """Make the folder, so that what forbids it is known before lldap is read.

        Raises OutputError.
        """
        try:
            self._path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self._path}: {error.strerror}") from None
        if not os.access(self._path, os.W_OK | os.X_OK):
            raise OutputError(f"{self._path}: no file can be made there")

    def compare(self, manifests: Sequence[Manifest]) -> Changes:
        """What `write` would do. Raises OutputError."""
        changes = Changes()
        wanted = {self._file(manifest): manifest for manifest in manifests}
        for path, manifest in wanted.items():
            text = _text(path)
            if text is None:
                changes.created.append(path)
            elif text != manifest.text():
                changes.changed.append(path)
            else:
                changes.same += 1
        changes.others = sorted(set(self._files()) - wanted.keys())
        return changes

    def write(self, manifests: Sequence[Manifest], progress: Progress) -> Changes:
        """Write what is new or differs, each file as a whole. Raises OutputError."""
        changes = self.compare(manifests)
        due = {*changes.created, *changes.changed}
        for number, manifest in enumerate(manifests):
            progress.at("files written", number, len(manifests))
            path = self._file(manifest)
            if path in due:
                _write(path, manifest.text(), _ONLY_OWNER if manifest.is_secret else _EVERYBODY)
        return changes

    def _file(self, manifest: Manifest) -> Path:
        folder = self._path / manifest.namespace / FOLDERS[manifest.kind]
        return folder / f"{manifest.name}{_SUFFIX}"

    def _files(self) -> list[Path]:
        patterns = [f"*/{folder}/*{_SUFFIX}" for folder in FOLDERS.values()]
        return [path for pattern in patterns for path in self._path.glob(pattern)]


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""  # somebody else's: it differs
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None


def _write(path: Path, text: str, mode: int) -> None:
    temporary = path.with_name(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None
