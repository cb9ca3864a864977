"""Which tests run a line, and how long they take: learned from one run of the tests."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from coverage import CoverageData


def learn(root: Path, folder: Path, tests: Sequence[str]) -> None:
    """Run these tests once, each line with the tests that ran it, into `folder`.

    Raises CalledProcessError if a test fails: what fails by itself kills nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-m", "not envtest", *tests]
    command += ["--cov", "--cov-context=test", "--cov-report=", f"--junitxml={folder}/times.xml"]
    environment = {**os.environ, "COVERAGE_FILE": str(folder / "coverage")}
    subprocess.run(command, cwd=root, env=environment, check=True)


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
        names = {context.partition("|")[0] for context in contexts if context}
        chosen: list[str] = []
        for name in sorted(names, key=lambda name: (self._seconds.get(_plain(name), 1.0), name)):
            budget -= self._seconds.get(_plain(name), 1.0)
            if budget < 0 and chosen:
                break
            chosen.append(name)
        return chosen


def _plain(name: str) -> str:
    path, _, test = name.partition("::")
    return f"{path.removesuffix('.py').replace('/', '.')}::{test.replace('::', '.')}"


def _seconds(report: Path) -> dict[str, float]:
    cases = ET.parse(report).getroot().iter("testcase")
    return {f"{c.get('classname')}::{c.get('name')}": float(c.get("time", "1")) for c in cases}
