"""A folder of lldap's bootstrap.sh, written file by file."""

import json
from pathlib import Path
from typing import Any

from controller.migrate.bootstrap.importer import BootstrapImport
from controller.migrate.place import Place
from tests.support.migration import PLACE, Run


class Bootstrap:
    """A folder of bootstrap.sh, file by file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = 0

    def write(self, name: str, content: str | bytes) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def add(self, part: str, value: object) -> None:
        """Write one value into a file of its own."""
        self.files += 1
        self.write(f"{part}/{self.files:03}.json", json.dumps(value))

    def user(self, user: str = "alice", **fields: Any) -> None:
        whole = {"id": user, "email": f"{user}@example.org", **fields}
        self.add("user-configs", whole)

    def group(self, name: str = "devs", **fields: Any) -> None:
        self.add("group-configs", {"name": name, **fields})

    def schema(self, name: str, kind: str = "STRING", part: str = "user-schemas", **f: Any) -> None:
        flags = {"isEditable": False, "isList": False, "isVisible": True, **f}
        self.add(part, [{"name": name, "attributeType": kind, **flags}])

    def run(self, place: Place = PLACE, *, passwords: bool = False) -> Run:
        run = Run()
        what = BootstrapImport(self.path, "admin", place, passwords)
        run.manifests = what.run(run.report, run.progress)
        return run
