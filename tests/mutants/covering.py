"""Which tests run a line, and how long they take: learned from one run of the tests."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from coverage import CoverageData


def learn(root: Path, folder: Path, tests: Sequence[str], marks: str = "not envtest") -> None:
    """Run these tests once, each line with the tests that ran it, into `folder`.

    A test that fails by itself is left out: it would notice every mutant. Raises RuntimeError if
    the tests cannot be run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-m", marks, *tests]
    command += ["--cov", "--cov-context=test", "--cov-report=", f"--junitxml={folder}/times.xml"]
    environment = {**os.environ, "COVERAGE_FILE": str(folder / "coverage")}
    ran = subprocess.run(command, cwd=root, env=environment, check=False)
    if ran.returncode not in {0, 1}:
        raise RuntimeError(f"pytest ended with {ran.returncode}")


class Covering:
    """What `learn` has learned."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._data = CoverageData(str(folder / "coverage"))
        self._data.read()
        self._seconds = _seconds(folder / "times.xml")

    def tests(self, file: str, line: int, budget: float) -> list[str]:
        """Tests that run the line, the fast ones first, as many as `budget` seconds allow."""
        contexts = self._data.contexts_by_lineno(str(self._root / file)).get(line, [])
        names = {context.partition("|")[0] for context in contexts}
        passed = [name for name in names if _plain(name) in self._seconds]
        chosen: list[str] = []
        for name in sorted(passed, key=lambda name: (self._seconds[_plain(name)], name)):
            budget -= self._seconds[_plain(name)]
            if budget < 0 and chosen:
                break
            chosen.append(name)
        return chosen


def _plain(name: str) -> str:
    """The name of a test as the report has it, with its module and class."""
    path, _, test = name.partition("::")
    return f"{path.removesuffix('.py').replace('/', '.')}.{test.replace('::', '.')}"


def _seconds(report: Path) -> dict[str, float]:
    """Of the tests that passed."""
    cases = [case for case in ET.parse(report).getroot().iter("testcase") if not len(case)]
    return {
        f"{case.get('classname')}.{case.get('name')}".replace("::", "."): float(
            case.get("time", "1")
        )
        for case in cases
    }
