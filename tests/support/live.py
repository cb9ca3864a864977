"""The shipped program as a subprocess, against servers of this process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import requests

from controller.clock import SystemClock
from sandbox.controlplane import free_ports
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.http import LldapServer
from sandbox.lldap.server import Lldap
from tests.support.cluster import wait_until

ADMIN_PASSWORD = "admin-password-1"
HASH_KEY = "k" * 32
STOP_SECONDS = 15.0
CANARY = "S3cr3t-CANARY"


class Seen(NamedTuple):
    """A call that lldap got: from whom, what, and when it began (monotonic)."""

    caller: str
    operation: str
    at: float


class Door:
    """One way into an lldap: who comes by it is `caller` in the log. See LldapServer."""

    def __init__(self, lldap: Lldap, caller: str, log: list[Seen]) -> None:
        self._lldap = lldap
        self._caller = caller
        self._log = log

    def send(self, call: Call) -> Response:
        self._log.append(Seen(self._caller, call.operation, time.monotonic()))
        return self._lldap.send(replace(call, caller=self._caller))


@dataclass
class LiveLldap:
    """An lldap on loopback; `seen` is what it was asked, by the doors."""

    lldap: Lldap
    seen: list[Seen] = field(default_factory=list)

    @contextmanager
    def door(self, caller: str = "operator", port: int = 0) -> Iterator[str]:
        """Serve it at a URL of its own."""
        door = Door(self.lldap, caller, self.seen)
        with LldapServer(door, port) as server:  # type: ignore[arg-type]  # it only sends
            yield server.url

    def directory(self) -> dict[str, dict[str, Any]]:
        """All users and groups by name, with their values and links, for comparisons."""
        state = self.lldap.snapshot()
        return {
            entity: {
                str(key): {**row.columns, "links": sorted(map(str, row.links))}
                | {name: list(values) for name, values in row.attributes.items()}
                for key, row in table.rows.items()
            }
            for entity, table in (("users", state.users), ("groups", state.groups))
        }

    def login(self, user: str, password: str) -> int:
        """The status that lldap answers to a login."""
        body = orjson.dumps({"username": user, "password": password})
        headers = {"content-type": "application/json"}
        return self.lldap.handle("POST", "/auth/simple/login", headers, body).status


def new_lldap() -> LiveLldap:
    """An lldap as after its first start."""
    return LiveLldap(Lldap(SystemClock(), admin_password=ADMIN_PASSWORD))


class Replica:
    """`lldap-operator run` with its own log, ports and credentials."""

    def __init__(
        self, name: str, folder: Path, environ: Mapping[str, str], prefix: Sequence[str] = ()
    ) -> None:
        """`prefix` is a command that runs another one in its place."""
        self.name = name
        self._prefix = prefix
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.log = folder / "log"
        self.password_file = folder / "password"
        self.password_file.write_text(ADMIN_PASSWORD)
        (folder / "hash-key").write_text(HASH_KEY)
        self.metrics_port, self.health_port = free_ports(2)
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONFAULTHANDLER": "1",
            "POD_NAME": name,
            "POD_NAMESPACE": "lldap-operator",
            "LLDAP_ADMIN_PASSWORD_FILE": str(self.password_file),
            "LLDAP_PASSWORD_HASH_KEY_FILE": str(folder / "hash-key"),
            "LEADER_ELECT": "true",
            "METRICS_ADDRESS": f"127.0.0.1:{self.metrics_port}",
            "HEALTH_ADDRESS": f"127.0.0.1:{self.health_port}",
            "LEASE_SECONDS": "8",
            "RENEW_SECONDS": "5",
            "RETRY_SECONDS": "0.5",
            "CALL_SECONDS": "4",
            "LOG_FORMAT": "text",
            "LOG_LEVEL": "debug",
            **environ,
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0  # monotonic, of the process that runs now

    def start(self) -> None:
        """Start it, or start it anew."""
        self.started_at = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self._prefix, sys.executable, "-m", "controller", "run"],
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def send_signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def wait(self, seconds: float = STOP_SECONDS) -> int:
        """Wait for its end; the exit code."""
        assert self.process is not None
        return self.process.wait(seconds)

    def stop(self) -> int:
        """Stop it as a kubelet does; the exit code."""
        self.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        """Kill it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def text(self) -> str:
        """Its log so far."""
        return self.log.read_text(errors="replace")

    def probe(self, path: str) -> int:
        """What a probe answers; 0 if nothing does."""
        try:
            return requests.get(
                f"http://127.0.0.1:{self.health_port}{path}", timeout=5.0
            ).status_code
        except requests.RequestException:
            return 0

    def scrape(self) -> str:
        """/metrics in plain text."""
        return requests.get(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10.0).text

    def wait_ready(self, seconds: float = 30.0) -> None:
        """Until the readiness probe says so."""
        wait_until(lambda: self.probe("/readyz") == 200 or not self.running, "readiness", seconds)
        assert self.running, self.text()[-3000:]

    def wait_working(self, seconds: float = 40.0) -> None:
        """Until it is the leader and its workers run."""
        wait_until(lambda: " working" in self.text() or not self.running, "work", seconds)
        assert self.running, self.text()[-3000:]


@contextmanager
def running(*replicas: Replica) -> Iterator[None]:
    """Start replicas, and see that none is left."""
    try:
        for replica in replicas:
            replica.start()
        yield
    finally:
        for replica in replicas:
            replica.kill()
