"""promtool and libfaketime from Debian's packages, which apt checks; nothing is installed."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.tools.cache import FAKETIME, PROMTOOL, debian
from tests.tools.failure import ToolError

FILES = {"prometheus": PROMTOOL, "libfaketime": FAKETIME}
"""The one file of each package that is kept."""
SECONDS = 120.0
NO_APT = "there is no apt-get and dpkg-deb here: put {names} on this machine by other means"


def unpack(say: Callable[[str], None]) -> None:
    """Put the files into the cache that are not there yet. Raises ToolError."""
    missing = {package: path for package, path in FILES.items() if not debian(path).exists()}
    if not missing:
        return
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise ToolError(NO_APT.format(names=" and ".join(missing)))
    say(f"apt-get fetches {' and '.join(missing)} into the cache")
    with tempfile.TemporaryDirectory() as temporary:
        for package, path in missing.items():
            _keep(_download(package, Path(temporary)), path)


def _download(package: str, temporary: Path) -> Path:
    """The package, unpacked; with a new list of packages if the old one does not lead to it."""
    place = temporary / package
    place.mkdir()
    # As who runs this: apt's own user may not write into the folder, and it would complain.
    download = ("apt-get", "download", package, "-o", "APT::Sandbox::User=root")
    if not _runs(*download, cwd=place):
        _runs("apt-get", "update", cwd=place)
        if not _runs(*download, cwd=place):
            msg = f"apt-get cannot fetch {package}; the tests that need it are skipped and counted"
            raise ToolError(msg)
    (archive,) = place.glob("*.deb")
    if not _runs("dpkg-deb", "--extract", str(archive), "files", cwd=place):
        msg = f"dpkg-deb cannot unpack {archive.name}"
        raise ToolError(msg)
    return place / "files"


def _runs(*command: str, cwd: Path) -> bool:
    """Whether it ends in time and well."""
    try:
        subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, check=True, timeout=SECONDS)
    except subprocess.SubprocessError:
        return False
    return True


def _keep(files: Path, path: str) -> None:
    target = debian(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place and then renamed: another run may do the same now.
    with tempfile.TemporaryDirectory(dir=target.parent) as beside:
        copy = Path(shutil.copy(files / path, beside))
        copy.rename(target)
