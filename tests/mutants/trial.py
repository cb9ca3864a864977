"""Runs tests against mutants in copies of the tree, so that the tree itself stays as it is."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.candidates import Mutant

SLOWER = 4.0  # times what the tests take by themselves: then they hang
START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant: killed, hanging (killed as well), survived or not covered."""

    mutant: Mutant
    word: str
    tests: int

    @property
    def killed(self) -> bool:
        return self.word in {"killed", "hanging"}


class Copy:
    """A copy of the tree in which one mutant after the other is tried. One process."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._folder = folder
        if folder.exists():
            shutil.rmtree(folder)
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
        ).stdout
        for name in filter(None, listed.split("\0")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name)

    def try_out(self, mutant: Mutant, tests: list[str], seconds: float) -> Verdict:
        """Run the tests with the mutant in its place, until the first that fails."""
        if not tests:
            return Verdict(mutant, "not covered", 0)
        file = self._folder / mutant.file
        source = file.read_text()
        file.write_text(mutant.applied(source))
        try:
            return Verdict(mutant, self._run(tests, seconds), len(tests))
        finally:
            file.write_text(source)

    def _run(self, tests: list[str], seconds: float) -> str:
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        try:
            ran = subprocess.run(
                [*command, *tests],
                cwd=self._folder,
                check=False,
                capture_output=True,
                text=True,
                timeout=START_SECONDS + SLOWER * seconds,
            )
        except subprocess.TimeoutExpired:
            return "hanging"
        if ran.returncode not in {0, 1, 2}:
            raise RuntimeError(f"pytest did not run: {ran.stdout}{ran.stderr}")
        return "killed" if ran.returncode else "survived"
