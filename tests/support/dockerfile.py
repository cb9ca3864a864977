"""A Dockerfile read instruction by instruction, and its first stage done in a folder."""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.envtest import ROOT

SECONDS = 300.0


@dataclass(frozen=True)
class Instruction:
    """One instruction: its word, its argument on one line, and the stage that it is in (from 1)."""

    word: str
    text: str
    stage: int


def instructions(path: Path = ROOT / "Dockerfile") -> list[Instruction]:
    joined = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", path.read_text(), flags=re.MULTILINE))
    found: list[Instruction] = []
    stage = 0
    for line in filter(str.strip, joined.splitlines()):
        word, _, text = line.partition(" ")
        stage += word == "FROM"
        found.append(Instruction(word, text.strip(), stage))
    return found


class Stage:
    """The build stage, done as a builder would, with `root` in the place of /.

    Paths of the image are rewritten, for this is no container: what it shows is that the steps
    work, from nothing, and what they leave. It shows nothing of the base image.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = root
        self._environ = {"PATH": self._path(), "HOME": str(root), "LANG": "C.UTF-8"}

    def do(self, instruction: Instruction) -> None:
        match instruction.word:
            case "WORKDIR":
                self._folder = self.root / instruction.text.lstrip("/")
                self._folder.mkdir(parents=True)
            case "ENV":
                for pair in instruction.text.split():
                    name, _, value = pair.partition("=")
                    self._environ[name] = value
            case "COPY":
                self._copy(*instruction.text.split())
            case "RUN":
                self._run(self.inside(instruction.text))

    def inside(self, text: str) -> str:
        """`text` with the image's paths as they are here."""
        return re.sub(r"(?<![\w.])/(opt|src)/", lambda found: f"{self.root}/{found[1]}/", text)

    def _path(self) -> str:
        """The base image has a `python`; a builder has nothing else of this machine's."""
        (self.root / "bin").mkdir()
        (self.root / "bin" / "python").symlink_to(Path(sys.executable).resolve())
        return f"{self.root / 'bin'}:/usr/bin:/bin"

    def _copy(self, *names: str) -> None:
        *sources, target = names
        place = self._folder / target
        for source in sources:
            what = ROOT / source
            if what.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(what, place, ignore=ignored)
            else:
                into = place if target.endswith("/") else place.parent
                into.mkdir(parents=True, exist_ok=True)
                shutil.copy(what, into / what.name)

    def _run(self, command: str) -> None:
        ran = subprocess.run(
            ["/bin/sh", "-ec", command],
            cwd=self._folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
