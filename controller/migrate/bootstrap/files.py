"""Files that users of a bootstrap folder name: passwords and pictures."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

_IN_CONTAINER: Final = PurePosixPath("/bootstrap")


class NoFile(Exception):  # noqa: N818 - it says what a path leads to
    """There is no file to read; says what to do, and quotes nothing of one."""


def read_named(name: str, folder: Path, limit: int) -> bytes:
    """The content of the file that is named, at most `limit` + 1 bytes of it. Raises NoFile.

    bootstrap.sh runs in lldap's container, where the folder is /bootstrap: such a path counts
    below `folder` too.
    """
    for path in _candidates(name, folder):
        try:
            if path.is_file():
                with path.open("rb") as file:
                    return file.read(limit + 1)
        except (OSError, ValueError):
            raise NoFile("the file that it names cannot be read: make it readable") from None
    raise NoFile("the file that it names is not here: put it there, or correct the path")


def _candidates(name: str, folder: Path) -> Iterator[Path]:
    path = PurePosixPath(name)
    yield Path(path)
    if not path.is_absolute():
        yield folder / path
    elif path.is_relative_to(_IN_CONTAINER):
        yield folder / path.relative_to(_IN_CONTAINER)
