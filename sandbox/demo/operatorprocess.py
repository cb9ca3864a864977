"""The operator as a process of its own, with its log in a file."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from sandbox.controlplane import OPERATOR_NAMESPACE, WATCHDOG, free_ports
from sandbox.demo.failure import DemoError

STOP_SECONDS = 10.0
TAIL_LINES = 25
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")  # nothing that configures an operator


class OperatorProcess:
    """Runs between `__enter__` and `__exit__`; killed, and `folder` removed, if this process is."""

    def __init__(self, folder: Path, flags: Mapping[str, str]) -> None:
        self.log = folder / "operator.log"
        self.metrics, self.health = (f"127.0.0.1:{port}" for port in free_ports(2))
        self._folder = folder
        self._flags = {
            "pod-namespace": OPERATOR_NAMESPACE,
            "leader-elect": "false",
            "log-format": "text",
            "metrics-address": self.metrics,
            "health-address": self.health,
            **flags,
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None

    @property
    def command(self) -> list[str]:
        """How it is run."""
        flags = [f"--{name}={value}" for name, value in self._flags.items()]
        return [sys.executable, "-m", "controller", "run", *flags]

    def __enter__(self) -> Self:
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - the operator, by arguments of our own
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={name: os.environ[name] for name in _KEPT if name in os.environ},
                cwd=Path(__file__).parents[2],
            )
        self._watchdog = subprocess.Popen(  # noqa: S603 - a constant script
            ["/bin/sh", "-c", WATCHDOG, "watchdog", str(self._folder), str(self._process.pid)],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the demo, which then stops this one
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """SIGTERM, and SIGKILL if that does not help."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._watchdog is not None:
            self._watchdog.kill()
            self._watchdog.communicate()

    def check(self) -> None:
        """Raises DemoError if it has ended."""
        assert self._process is not None
        code = self._process.poll()
        if code is not None:
            msg = f"the operator ended with {code}"
            raise DemoError(msg)

    def tail(self) -> str:
        """The last lines of its log."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-TAIL_LINES:])

    def __str__(self) -> str:
        return shlex.join(self.command)
