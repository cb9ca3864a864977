"""A shell in which the commands of a page run, block after block, as a reader types them."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.support.docpages import ROOT
from tests.support.kustomize import KUBECTL

SECONDS = 90.0
FORWARDED = "http://localhost:17170"

# What readers have and this machine has not. `kubectl exec` into the operator's Pod, and a
# container of its image, run the program here; what the nodes of a cluster do is done by the test.
STAND_INS = {
    "kubectl": """#!/bin/bash
for word in "$@"; do
  case "$word" in
    exec)
      while [ "$1" != -- ]; do shift; done
      shift
      exec env $POD_ENVIRONMENT "$@" ;;
    rollout) echo 'deployment "lldap-operator" successfully rolled out'; exit 0 ;;
    logs) echo 'working'; exit 0 ;;
    port-forward) echo 'Forwarding from 127.0.0.1:17170 -> 17170'; exit 0 ;;
    -*) ;;
  esac
done
exec KUBECTL "$@"
""",
    "lldap-operator": """#!/bin/bash
exec PYTHON -m controller "$@"
""",
    "docker": """#!/bin/bash
[ "$1" = build ] && exit 0
while [[ "$1" != lldap-operator:* ]]; do shift; done
shift
exec lldap-operator "$@"
""",
    "kind": """#!/bin/bash
exit 0
""",
    "openssl": """#!/bin/bash
exec PYTHON -c 'import secrets, sys; print(secrets.token_hex(int(sys.argv[1])))' "${@: -1}"
""",
}


class Shell:
    """Runs blocks in one folder; variables that a block exports are there in the next."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str], pod: Mapping[str, str], lldap: str
    ) -> None:
        """`pod` is the environment of the operator's own Pod; `lldap` is where lldap is served.

        Readers have it on a forwarded port, which stands in the pages.
        """
        self._lldap = lldap
        self.folder = folder / "work"
        self.folder.mkdir()
        (self.folder / "deploy").symlink_to(ROOT / "deploy")
        (self.folder / "docs").symlink_to(ROOT / "docs")
        self._state = folder / "state"
        self._output = folder / "output"
        self._environment = {
            "PATH": f"{self._stand_ins(folder / 'bin')}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "POD_ENVIRONMENT": " ".join(f"{name}={value}" for name, value in pod.items()),
            **environment,
        }

    @staticmethod
    def _stand_ins(folder: Path) -> Path:
        folder.mkdir()
        programs = {"KUBECTL": KUBECTL, "PYTHON": sys.executable}
        for name, script in STAND_INS.items():
            text = re.sub("exec ([A-Z]{4,})", lambda found: f"exec {programs[found[1]]}", script)
            path = folder / name
            path.write_text(text)
            path.chmod(0o755)
        return folder

    def run(self, text: str, meanwhile: Callable[[], None]) -> tuple[int, str]:
        """Run a block, calling `meanwhile` all the time; its exit code and what it said."""
        state = self._state
        script = (
            f"[ -f {state} ] && . {state}\n"
            f"trap '{{ export -p; declare -f; }} > {state}' EXIT\nset -euo pipefail\n"
            f"{text.replace(FORWARDED, self._lldap)}"
        )
        with self._output.open("w") as output:
            process = subprocess.Popen(
                ["/bin/bash", "-c", script],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            deadline = time.monotonic() + SECONDS
            try:
                while process.poll() is None:
                    assert time.monotonic() < deadline, f"does not end: {text}"
                    meanwhile()
                    time.sleep(0.01)
            finally:
                process.kill()
                process.wait()
        return process.returncode, self._output.read_text()


def shows(expected: str, output: str) -> str:
    """The first line of `expected` that `output` has not; "" if all are there.

    Blanks count as one, and … stands for anything.
    """
    lines = [" ".join(line.split()) for line in output.splitlines()]
    for line in filter(None, (" ".join(line.split()) for line in expected.splitlines())):
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("…")))
        if not any(pattern.fullmatch(each) for each in lines):
            return line
    return ""
