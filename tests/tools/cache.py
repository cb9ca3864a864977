"""Where the programs are kept."""

import os
import shutil
from pathlib import Path

FAKETIME = "usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
PROMTOOL = "usr/bin/promtool"


def folder(*parts: str) -> Path:
    """A folder of the cache; it need not be there."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "lldap-operator", *parts)


def debian(path: str) -> Path:
    """A file of the Debian packages that `make tools` unpacks, at its path in the package."""
    return folder("debian") / path


def promtool() -> str:
    """The one on PATH, else the one of the cache; empty if there is none."""
    cached = debian(PROMTOOL)
    return shutil.which("promtool") or (str(cached) if cached.exists() else "")


def faketime() -> Path | None:
    """libfaketime, installed or of the cache; None if there is none."""
    return next((file for file in (Path("/", FAKETIME), debian(FAKETIME)) if file.exists()), None)
