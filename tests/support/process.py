"""The operator as a process of its own, over the sandbox's servers on real sockets.

Every wait has a deadline. Faults: `servers.lldap.hooks` (sandbox/lldap/faults.py),
`servers.api.before` (answers in the API server's stead), `servers.way` (the network between).
"""

import base64
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import orjson
import requests
import yaml

from controller.api import API_VERSION, INSTANCE_LABEL, KINDS
from controller.clock import SystemClock
from controller.harness.resource import Object
from informers import RestClient, StatusError
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.http import ApiServerHttp
from sandbox.apiserver.messages import JSON, Request, Response, Stream
from sandbox.apiserver.transport import InProcessTransport
from sandbox.lldap.http import LldapServer
from sandbox.lldap.server import Lldap
from tests.support.network import Way

ROOT = Path(__file__).parents[2]
ADMIN_PASSWORD = "S3cr3t-OPERATOR-CANARY-ü"
OPERATOR_AGENT = "lldap-operator/"
NAMESPACES = ("lldap-system", "team-a")
PLURALS = {kind.kind: kind.plural for kind in KINDS}
LEASES = "/apis/coordination.k8s.io/v1/namespaces/lldap-system/leases"
LEASE = "lldap-operator-default"
NOTHING: Mapping[str, str] = MappingProxyType({})
PATIENCE = 30.0


def eventually(what: str, condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Wait until `condition` gives something true, and return it."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.02)
    return found


class FaultyApi(ApiServer):
    """An API server in whose stead `before` may answer the operator; None lets the call through."""

    def __init__(self, clock: SystemClock) -> None:
        super().__init__(clock, random.Random(7))
        self.before: Callable[[Request], Response | None] = lambda _request: None
        self.seen: list[Request] = []
        """The operator's requests."""

    def request(self, request: Request) -> Response:
        if not request.headers.get("user-agent", "").startswith(OPERATOR_AGENT):
            return super().request(request)
        self.seen.append(request)
        return self.before(request) or super().request(request)


class Cut:
    """A stream that breaks off after what it was given."""

    def __init__(self, piece: bytes) -> None:
        self._pieces = [piece, b""]

    def read(self) -> bytes | None:
        return self._pieces.pop(0) if self._pieces else b""

    def close(self) -> None:
        self._pieces.clear()


def half_a_line() -> Response:
    stream: Stream = Cut(b'{"type":"ADDED","object":{"apiVersion":"lldap-oper')
    return Response(200, stream=stream)


def status(code: int, reason: str, message: str = "", **headers: str) -> Response:
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message or reason,
    }
    return Response(code, orjson.dumps(body), JSON, dict(headers))


class Servers:
    """Both servers with our CRDs and namespaces, and a way to each that can be disturbed."""

    def __init__(self, folder: Path, stack: ExitStack, *, crds: bool = True) -> None:
        clock = SystemClock()
        self.folder = folder
        self.api = FaultyApi(clock)
        self.lldap = Lldap(clock, admin_password=ADMIN_PASSWORD)
        self.admin = RestClient(InProcessTransport(self.api, user_agent="tests"), call_seconds=8.0)
        for name in NAMESPACES:
            self.create_namespace(name)
        if crds:
            self.install_crds()
        api_server = stack.enter_context(ApiServerHttp(self.api))
        lldap_server = stack.enter_context(LldapServer(self.lldap))
        self.way = stack.enter_context(Way(api_server.url))
        self.lldap_way = stack.enter_context(Way(lldap_server.url))
        self.kubeconfig = folder / "kubeconfig"
        self._write_kubeconfig()
        self.password_file = folder / "password"
        self.write_password(ADMIN_PASSWORD)
        self.hash_key_file = folder / "hash-key"
        self.hash_key_file.write_bytes(b"k" * 32)

    def _write_kubeconfig(self) -> None:
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": self.way.url}}],
            "users": [{"name": "test", "user": {}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        }
        self.kubeconfig.write_text(yaml.safe_dump(config))

    def write_password(self, password: str) -> None:
        self.password_file.write_text(password)

    def install_crds(self, *, only: str = "", leave_out: str = "") -> None:
        for plural in PLURALS.values():
            if plural != leave_out and plural in (only or plural):
                crd = yaml.safe_load((ROOT / f"deploy/crds/{plural}.yaml").read_text())
                self.admin.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)

    def create_namespace(self, name: str) -> None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        self.admin.post("/api/v1/namespaces", body)

    # --- what people do --------------------------------------------------------------------

    def path(self, kind: str, name: str = "", namespace: str = "team-a") -> str:
        base = f"/apis/{API_VERSION}/namespaces/{namespace}/{PLURALS[kind]}"
        return f"{base}/{name}" if name else base

    def apply(self, kind: str, name: str, spec: Object, **metadata: Any) -> None:
        body = {
            "apiVersion": API_VERSION,
            "kind": kind,
            "metadata": {"name": name, "labels": {INSTANCE_LABEL: "default"}, **metadata},
            "spec": spec,
        }
        self._apply(self.path(kind, name), body)

    def _apply(self, path: str, body: Object) -> None:
        self.admin.patch(
            path,
            body,
            content_type="application/apply-patch+yaml",
            field_manager="person",
            force=True,
        )

    def user(self, name: str, **spec: Any) -> None:
        whole = {"username": name, "email": f"{name}@example.org", "passwordPolicy": "Ignore"}
        self.apply("LldapUser", name, {**whole, **spec})

    def user_with_password(self, name: str, password: bytes) -> None:
        self.secret(f"{name}-password", password)
        reference = {"name": f"{name}-password", "key": "password"}
        self.user(name, passwordPolicy="Manage", passwordSecretRef=reference)

    def group(self, name: str) -> None:
        self.apply("LldapGroup", name, {"displayName": name})

    def secret(self, name: str, value: bytes) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name},
            "data": {"password": base64.b64encode(value).decode()},
        }
        self._apply(f"/api/v1/namespaces/team-a/secrets/{name}", body)

    def delete(self, kind: str, name: str) -> None:
        self.admin.delete(self.path(kind, name))

    # --- what is there ---------------------------------------------------------------------

    def get(self, kind: str, name: str) -> Object | None:
        try:
            return self.admin.get(self.path(kind, name))
        except StatusError:
            return None

    def condition(self, kind: str, name: str) -> Mapping[str, str]:
        found = (self.get(kind, name) or {}).get("status") or {}
        return next((c for c in found.get("conditions", ()) if c["type"] == "Ready"), {})

    def reason(self, kind: str, name: str) -> str:
        return self.condition(kind, name).get("reason", "")

    def is_ready(self, kind: str, name: str) -> bool:
        return self.condition(kind, name).get("status") == "True"

    def wait_ready(self, kind: str, name: str) -> None:
        eventually(f"{kind} {name} is Ready", lambda: self.is_ready(kind, name))

    def wait_reason(self, kind: str, name: str, reason: str) -> str:
        """Wait for a reason; the message that comes with it."""
        eventually(f"{kind} {name} says {reason}", lambda: self.reason(kind, name) == reason)
        return self.condition(kind, name)["message"]

    def lease(self) -> Object | None:
        try:
            return self.admin.get(f"{LEASES}/{LEASE}")
        except StatusError:
            return None

    def released_lease(self) -> None:
        """A Lease as a leader leaves it that has ended well: the next one works at once."""
        spec = {"holderIdentity": "", "leaseDurationSeconds": 1}
        body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": spec}
        self.admin.post(LEASES, {**body, "metadata": {"name": LEASE}})

    def give_lease_to(self, holder: str) -> None:
        lease = self.lease()
        assert lease is not None
        lease["spec"]["holderIdentity"] = holder
        self.admin.put(f"{LEASES}/{LEASE}", lease)

    @property
    def lease_holder(self) -> str | None:
        """None if there is no Lease, "" if nobody has it."""
        lease = self.lease()
        return None if lease is None else str(lease["spec"].get("holderIdentity") or "")

    def events(self) -> list[Object]:
        found: list[Object] = self.admin.get("/apis/events.k8s.io/v1/events")["items"]
        return found

    def calls(self, operation: str) -> int:
        """How many calls of an operation have reached lldap."""
        return sum(entry.call.operation == operation for entry in self.lldap.log)

    def mutations(self) -> list[str]:
        """The operator's calls to lldap that change something."""
        prefixes = ("create", "update", "delete", "add", "remove")
        operations = [entry.call.operation for entry in self.lldap.log]
        return [o for o in operations if o.startswith(prefixes) or o.endswith("register/finish")]

    def login(self, user: str, password: str) -> int:
        body = orjson.dumps({"username": user, "password": password})
        headers = {"content-type": "application/json"}
        return self.lldap.handle("POST", "/auth/simple/login", headers, body).status


class OperatorProcess:
    """`python -m controller run`, with its log in a file."""

    def __init__(
        self,
        servers: Servers,
        flags: Mapping[str, str],
        environ: Mapping[str, str],
        *,
        python: Path = Path(sys.executable),
        cwd: Path = ROOT,
    ) -> None:
        self.log_file = servers.folder / "operator.log"
        options = {
            "lldap-url": servers.lldap_way.url,
            "lldap-admin-password-file": str(servers.password_file),
            "lldap-password-hash-key-file": str(servers.hash_key_file),
            "pod-namespace": "lldap-system",
            "kubeconfig": str(servers.kubeconfig),
            "metrics-address": "0",
            "health-address": "0",
            "log-format": "text",
            "workers": "4",
            **flags,
        }
        arguments = [f"--{name}={value}" for name, value in options.items() if value]
        with self.log_file.open("ab") as log:
            self._begin = log.tell()
            self.process = subprocess.Popen(
                [str(python), "-m", "controller", "run", *arguments],
                cwd=cwd,
                env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environ},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def log(self) -> str:
        """What this process has written; one before it may have written into the file too."""
        return self.log_file.read_bytes()[self._begin :].decode(errors="replace")

    def wait_log(self, text: str, seconds: float = PATIENCE) -> None:
        def said() -> bool:
            assert self.process.poll() is None or text in self.log, f"it ended:\n{self.log}"
            return text in self.log

        eventually(f"the log says {text!r}", said, seconds)

    def command_line(self) -> bytes:
        return Path(f"/proc/{self.process.pid}/cmdline").read_bytes()

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds: float = 20.0) -> int:
        return self.process.wait(seconds)

    def stop(self) -> tuple[int, float]:
        """SIGTERM: the exit code, and after how many seconds."""
        began = time.monotonic()
        self.terminate()
        code = self.wait()
        return code, time.monotonic() - began

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def servers_in(folder: Path, *, crds: bool = True) -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(folder, stack, crds=crds)


@contextmanager
def operator_of(
    servers: Servers,
    flags: Mapping[str, str] = NOTHING,
    environ: Mapping[str, str] = NOTHING,
) -> Iterator[OperatorProcess]:
    """Run an operator; an empty flag is left out. It is killed if it still runs at the end."""
    operator = OperatorProcess(servers, flags, environ)
    try:
        yield operator
    except BaseException as error:
        error.add_note(operator.log[-6000:])
        raise
    finally:
        operator.kill()


def probe(port: int, path: str) -> tuple[int, str]:
    """What /healthz or /readyz says; 0 while nobody listens."""
    try:
        answer = requests.get(f"http://127.0.0.1:{port}{path}", timeout=5.0)
    except requests.ConnectionError:
        return 0, ""
    return answer.status_code, answer.text


def forms_of(secret: str) -> set[str]:
    """The shapes in which a secret could turn up in a text."""
    raw = secret.encode()
    return {
        secret,
        repr(secret)[1:-1],
        repr(raw)[2:-1],
        base64.b64encode(raw).decode().rstrip("="),
        base64.b64encode(b"admin:" + raw).decode().rstrip("="),
        quote(secret),
        quote(secret, safe=""),
        orjson.dumps(secret).decode()[1:-1],
        secret.encode("unicode_escape").decode(),
        raw.hex(),
    }
