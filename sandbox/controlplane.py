"""A real etcd and kube-apiserver of one's own, for tests and demos."""

import csv
import json
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import requests
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from kubernetes import client

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"  # the folder of the two programs, as envtest has it
OPERATOR_NAMESPACE = "lldap-operator"
POLL_SECONDS = 0.05
CALL_SECONDS = 10.0
# Below Linux's range for outgoing connections, so that none takes a port between its choice
# and the server's bind.
PORTS = range(20000, 32768)
INSTALLABLE = {  # kinds that `install` can write, all without a namespace
    "CustomResourceDefinition": "customresourcedefinitions",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
}
# Reads until its input closes, which is when the process that holds the other end ended,
# however it ended; then kills what it was told to and removes their folder.
WATCHDOG = 'read -r _; folder=$1; shift; kill -9 "$@" 2>/dev/null; rm -rf "$folder"'


class StartError(RuntimeError):
    """A server ended or was not ready in time; the text ends with the last lines of its log."""


class InstallError(RuntimeError):
    """A manifest was refused or earned a warning, or a CRD was not served in time."""


@dataclass(frozen=True, slots=True)
class User:
    """Who one can be on this server: a static token that stands for a name and groups."""

    name: str
    token: str
    groups: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"User({self.name!r})"


def _new_user(name: str, *groups: str) -> User:
    return User(name, secrets.token_urlsafe(24), groups)


def _documents(file: Path) -> list[dict[str, Any]]:
    return [d for d in yaml.safe_load_all(file.read_text()) if d]


def free_ports(count: int) -> list[int]:
    """Return ports of 127.0.0.1 that nobody listens on, each another."""
    choice = secrets.SystemRandom().sample(PORTS, k=200)
    found: list[int] = []
    for port in choice:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    msg = "no free port on 127.0.0.1"
    raise StartError(msg)


class ControlPlane:
    """Runs etcd and kube-apiserver on 127.0.0.1 between `__enter__` and `__exit__`.

    Three users are there: `admin` (system:masters), `operator` (a service account) and
    `tenant` (a plain user); only `admin` may do anything until somebody writes RBAC objects.
    Nothing else of a cluster runs: no pods, no garbage collector, and a deleted namespace
    stays Terminating. Nothing is left behind, not even when this process is killed.

    One thread enters and leaves; the rest may be called from any thread in between.
    """

    def __init__(self, assets: Path, *, start_seconds: float = 60.0) -> None:
        self.admin = _new_user("admin", "system:masters")
        self.operator = _new_user(
            f"system:serviceaccount:{OPERATOR_NAMESPACE}:lldap-operator",
            "system:serviceaccounts",
            f"system:serviceaccounts:{OPERATOR_NAMESPACE}",
        )
        self.tenant = _new_user("tenant")
        self.url = ""
        self.folder = Path()
        self._assets = assets.resolve()  # the programs run in a folder of their own
        self._start_seconds = start_seconds
        self._servers: dict[str, subprocess.Popen[bytes]] = {}
        self._watchdog: subprocess.Popen[bytes] | None = None

    @property
    def ca_file(self) -> Path:
        """The certificate that the API server signs itself with."""
        return self.folder / "certificates" / "apiserver.crt"

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="control-plane-"))
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Kill both servers (nothing of theirs is kept) and remove their folder."""
        if self._watchdog:
            self._watchdog.kill()
            self._watchdog.communicate()
            self._watchdog = None
        for server in reversed(self._servers.values()):
            server.kill()
            server.wait()
        self._servers.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def configuration(self, user: User) -> client.Configuration:
        """Return what the kubernetes package needs to act as `user`."""
        configuration = client.Configuration()
        configuration.host = self.url
        configuration.ssl_ca_cert = str(self.ca_file)
        configuration.api_key = {"authorization": f"Bearer {user.token}"}
        configuration.proxy = None
        return configuration

    @contextmanager
    def client(self, user: User) -> Iterator[client.ApiClient]:
        """Give an ApiClient that acts as `user`; its kept-alive connections end with the block."""
        with client.ApiClient(self.configuration(user)) as api:
            try:
                yield api
            finally:
                api.rest_client.pool_manager.clear()

    @contextmanager
    def session(self, user: User) -> Iterator[requests.Session]:
        """Give an HTTP session that acts as `user`; its connections end with the block."""
        with requests.Session() as session:
            session.trust_env = False
            session.verify = str(self.ca_file)
            session.headers["Authorization"] = f"Bearer {user.token}"
            yield session

    def install(self, folder: Path, *, serving_seconds: float = 30.0) -> None:
        """Apply the YAML files of `folder` as `admin`; return when their CRDs are served.

        A field that the server does not know, or a warning of it, is an error.
        """
        documents = [d for f in sorted(folder.glob("*.yaml")) for d in _documents(f)]
        with self.session(self.admin) as session:
            for document in documents:
                self._apply(session, document)
            deadline = time.monotonic() + serving_seconds
            for document in documents:
                if document["kind"] == "CustomResourceDefinition":
                    self._wait_until_served(session, document, deadline)

    def write_kubeconfig(self, user: User) -> Path:
        """Write a kubeconfig of `user`, readable by its owner only; gone with the servers."""
        path = self.folder / f"{user.name.replace(':', '-')}.kubeconfig"
        path.touch(mode=0o600)
        path.write_text(json.dumps(self._kubeconfig(user), indent=2))
        return path

    def _kubeconfig(self, user: User) -> dict[str, Any]:
        cluster = {"server": self.url, "certificate-authority": str(self.ca_file)}
        context = {"cluster": "control-plane", "user": user.name}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "control-plane", "cluster": cluster}],
            "users": [{"name": user.name, "user": {"token": user.token}}],
            "contexts": [{"name": "control-plane", "context": context}],
            "current-context": "control-plane",
        }

    def _apply(self, session: requests.Session, document: dict[str, Any]) -> None:
        kind, name = document["kind"], document["metadata"]["name"]
        answer = session.patch(
            f"{self.url}/apis/{document['apiVersion']}/{INSTALLABLE[kind]}/{name}",
            params={"fieldManager": "install", "fieldValidation": "Strict", "force": "true"},
            headers={"Content-Type": "application/apply-patch+yaml"},
            data=json.dumps(document),
            timeout=CALL_SECONDS,
        )
        complaint = answer.headers.get("Warning") or (not answer.ok and answer.text)
        if complaint:
            raise InstallError(f"{kind} {name}: {complaint}")

    def _wait_until_served(
        self, session: requests.Session, crd: dict[str, Any], deadline: float
    ) -> None:
        """Wait for a list that succeeds: Established may be there two seconds before that."""
        spec = crd["spec"]
        for version in spec["versions"]:
            path = f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"
            while not session.get(self.url + path, timeout=CALL_SECONDS).ok:
                if time.monotonic() > deadline:
                    raise InstallError(f"{path} is not served")
                time.sleep(POLL_SECONDS)

    def _start(self) -> None:
        etcd_port, peer_port, api_port = free_ports(3)
        self.url = f"https://127.0.0.1:{api_port}"
        self._write_credentials()
        self._run("etcd", *self._etcd_flags(etcd_port, peer_port))
        self._run("kube-apiserver", *self._apiserver_flags(etcd_port, api_port))
        self._watch()
        self._wait_until_ready()

    def _watch(self) -> None:
        """Have the servers killed when this process is."""
        pids = [str(server.pid) for server in self._servers.values()]
        self._watchdog = subprocess.Popen(  # noqa: S603  a constant script, arguments of our own
            ["/bin/sh", "-c", WATCHDOG, "watchdog", str(self.folder), *pids], stdin=subprocess.PIPE
        )

    def _write_credentials(self) -> None:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        (self.folder / "service-account.key").write_bytes(pem)
        with (self.folder / "tokens.csv").open("w", newline="") as file:
            for user in (self.admin, self.operator, self.tenant):
                groups = [",".join(user.groups)] if user.groups else []  # an empty one is a group
                csv.writer(file).writerow([user.token, user.name, f"uid-of-{user.name}", *groups])

    def _etcd_flags(self, port: int, peer_port: int) -> list[str]:
        url, peer_url = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
        return [
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={url}",
            f"--advertise-client-urls={url}",
            f"--listen-peer-urls={peer_url}",
            f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=default={peer_url}",
            "--unsafe-no-fsync",
        ]

    def _apiserver_flags(self, etcd_port: int, port: int) -> list[str]:
        key = self.folder / "service-account.key"
        return [
            f"--etcd-servers=http://127.0.0.1:{etcd_port}",
            f"--cert-dir={self.folder / 'certificates'}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-signing-key-file={key}",
            f"--service-account-key-file={key}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            # It would refuse pods and tokens for want of a controller that makes accounts.
            "--disable-admission-plugins=ServiceAccount",
        ]

    def _run(self, program: str, *flags: str) -> None:
        with self._log(program).open("wb") as log:
            self._servers[program] = subprocess.Popen(  # noqa: S603  the servers asked for
                [str(self._assets / program), *flags],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )

    def _log(self, program: str) -> Path:
        return self.folder / f"{program}.log"

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self._start_seconds
        while not self._ready():
            for program, server in self._servers.items():
                if server.poll() is not None:
                    raise self._start_error(program, f"ended with {server.returncode}")
            if time.monotonic() > deadline:
                what = f"was not ready after {self._start_seconds:g} s"
                raise self._start_error("kube-apiserver", what)
            time.sleep(POLL_SECONDS)

    def _ready(self) -> bool:
        if not self.ca_file.exists():
            return False
        try:
            with self.session(self.admin) as session:
                return session.get(f"{self.url}/readyz", timeout=CALL_SECONDS).ok
        except OSError:  # refused, or a certificate that is half written
            return False

    def _start_error(self, program: str, what: str) -> StartError:
        tail = self._log(program).read_text(errors="replace").splitlines()[-15:]
        return StartError("\n".join([f"{program} {what}", *tail]))
