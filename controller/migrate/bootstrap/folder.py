"""The files of a bootstrap folder, object by object."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from controller.migrate.bootstrap.jsonstream import NotJson, values_in
from controller.migrate.report import Report
from controller.migrate.text import quoted

GROUP_SCHEMAS: Final = "group-schemas"
USER_SCHEMAS: Final = "user-schemas"
GROUP_CONFIGS: Final = "group-configs"
USER_CONFIGS: Final = "user-configs"
LEADS_NOWHERE: Final = "it is a link to what is not there: put that there, or correct the link"
PARTS: Final = (GROUP_SCHEMAS, USER_SCHEMAS, GROUP_CONFIGS, USER_CONFIGS)


class FolderError(Exception):
    """The folder is none of bootstrap.sh."""


@dataclass(frozen=True, slots=True)
class Record:
    """One object of a file: `where` tells people which. Its fields may hold a password: no repr."""

    where: str
    fields: dict[str, object]

    def __repr__(self) -> str:
        return f"<Record {self.where}>"

    def text(self, name: str, words: str, report: Report) -> str | None:
        """A text, or a number as it is written; None without one, reported if it is another."""
        value = self.fields.get(name)
        if value is None:
            return None
        if isinstance(value, str):
            return str(value)
        report.left_out(f"{name} of {words}", f"it is no text: correct it in {self.where}")
        return None

    def is_true(self, name: str) -> bool:
        """Whether it is true, in quotes or without."""
        return self.fields.get(name) in (True, "true")


class BootstrapFolder:
    """Reads the `*.json` of the four folders below a path, in the order in which bash names them.

    A file that cannot be read, and what is no object, is reported and left out.
    """

    def __init__(self, path: Path, report: Report, progress: Callable[[int, int], None]) -> None:
        """Raises FolderError."""
        self._path = path
        self._report = report
        self._progress = progress
        try:
            self._files = {part: _files(path / part) for part in PARTS if (path / part).is_dir()}
        except OSError as error:
            raise FolderError(f"{path}: {error.strerror}") from None
        for part in PARTS:
            if _leads_nowhere(path / part):
                report.left_out(part, LEADS_NOWHERE)
        if not self._files:
            raise FolderError(
                f"{path}: none of {', '.join(PARTS)} is there. Name the folder that holds them, "
                "which is /bootstrap in lldap's container"
            )
        self._total = sum(map(len, self._files.values()))
        self._done = 0

    def records(self, part: str) -> list[Record]:
        """The objects of one folder's files."""
        return [
            Record(where, value)
            for where, value in self._values(part)
            if self._is(dict, value, where, "an object")
        ]

    def lists(self, part: str) -> list[Record]:
        """The objects in the arrays of one folder's files."""
        return [
            Record(f"{where}, entry {number}", entry)
            for where, value in self._values(part)
            if self._is(list, value, where, "a list of objects")
            for number, entry in enumerate(value, 1)
            if self._is(dict, entry, f"{where}, entry {number}", "an object")
        ]

    def _is(self, kind: type, value: object, where: str, words: str) -> bool:
        if isinstance(value, kind):
            return True
        self._report.left_out(where, f"it is not {words}: correct it")
        return False

    def _values(self, part: str) -> Iterator[tuple[str, Any]]:
        for file in self._files.get(part, []):
            self._progress(self._done, self._total)
            self._done += 1
            name = quoted(str(file.relative_to(self._path)))
            for number, value in enumerate(self._read(file, name), 1):
                yield f"{name}, object {number}", value

    def _read(self, file: Path, name: str) -> list[object]:
        try:
            return values_in(file.read_bytes())
        except NotJson as error:
            self._report.left_out(name, f"{error}: correct it, nothing of the file counts")
        except OSError as error:
            dangling = _leads_nowhere(file)
            why = LEADS_NOWHERE if dangling else f"{error.strerror}: make it readable"
            self._report.left_out(name, why)
        return []


def _files(folder: Path) -> list[Path]:
    files = (file for file in folder.glob("*.json") if not file.name.startswith("."))
    return sorted(file for file in files if file.is_file() or _leads_nowhere(file))


def _leads_nowhere(path: Path) -> bool:
    return path.is_symlink() and not path.exists()
