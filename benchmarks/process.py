"""Processes of contestants: what they use of the machine."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

TICKS = os.sysconf("SC_CLK_TCK")
STOP_SECONDS = 40.0
QUIET_SECONDS = 1.0  # so long without work is idle
POLL_SECONDS = 0.1
LEAST_CPU = 0.2  # seconds: an idle operator has used 0.5 when it is up
MIB = 2**20
BYTE_CODE = {"PYTHONDONTWRITEBYTECODE": ""}
"""Compiling at each start, as with that variable set, takes 6 MiB and a second."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A moment, and the CPU seconds used until then."""

    time: float
    cpu: float


class Process:
    """One contestant's process. Ends with its context."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.log = log
        self.started = time.monotonic()
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                stdout=output,
                stderr=output,
                env={**os.environ, **BYTE_CODE, **(environment or {})},
            )
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ask it to end; kill it if it does not."""
        if self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def wait(self, seconds: float) -> None:
        """Until it ends by itself."""
        if self._process.wait(seconds):
            raise RuntimeError(f"it failed: see {self.log}")

    def check(self) -> None:
        """Raise RuntimeError if it has failed."""
        if self._process.poll():
            raise RuntimeError(f"it failed: see {self.log}")

    @property
    def ended(self) -> bool:
        """Whether it ended by itself."""
        return self._process.poll() is not None

    def sample(self) -> Sample:
        """Now."""
        return Sample(time.monotonic(), self.cpu())

    def cpu(self) -> float:
        """Seconds of CPU, of all threads, user and system."""
        try:
            text = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii")
        except OSError:
            return 0.0
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self, field: str = "VmHWM") -> float:
        """MiB: `VmHWM` is the most that was resident, `VmRSS` what is now."""
        try:
            lines = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()
        except OSError:
            return 0.0
        found = [line.split()[1] for line in lines if line.startswith(f"{field}:")]
        return int(found[0]) * 1024 / MIB if found else 0.0

    def wait_until_idle(self, seconds: float, least: float = LEAST_CPU) -> Sample:
        """The moment from which it used no CPU to speak of, after `least` seconds of it."""
        deadline = time.monotonic() + seconds
        quiet = self.sample()
        while True:
            time.sleep(POLL_SECONDS)
            now = self.sample()
            if now.cpu - quiet.cpu > 2 / TICKS or now.cpu < least:
                quiet = now
            elif now.time - quiet.time >= QUIET_SECONDS:
                return quiet
            if self.ended or now.time > deadline:
                raise TimeoutError(f"not idle within {seconds:g} s: see {self.log}")
