"""A real API server of a test module's own: with an audit log, kubectl and service accounts."""

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import yaml
from kubernetes import client

from sandbox.controlplane import ControlPlane, User
from tests.support.envtest import Api
from tests.support.kustomize import DEPLOY, KUBECTL

SECONDS = 60.0
AUDIT = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules: [{level: Metadata}]
"""
NAMESPACED = (  # what a deleted namespace takes along here, in this order
    "/apis/rbac.authorization.k8s.io/v1/{}/rolebindings",
    "/apis/rbac.authorization.k8s.io/v1/{}/roles",
    "/api/v1/{}/serviceaccounts",
    "/api/v1/{}/secrets",
    "/api/v1/{}/configmaps",
    "/apis/apps/v1/{}/deployments",
    "/apis/coordination.k8s.io/v1/{}/leases",
    "/apis/events.k8s.io/v1/{}/events",
)


class Cluster(ControlPlane):
    """A control plane that keeps an audit log; what the controller manager would do, by call.

    Its accounts are real service accounts with real tokens; policies and Roles are in force.
    """

    def _apiserver_flags(self, etcd_port: int, port: int) -> list[str]:
        (self.folder / "audit.yaml").write_text(AUDIT)
        return [
            *super()._apiserver_flags(etcd_port, port),
            f"--audit-policy-file={self.folder / 'audit.yaml'}",
            f"--audit-log-path={self.folder / 'audit.log'}",
            "--allow-privileged=true",  # so that it is Pod Security that refuses them
        ]

    def kill_apiserver(self) -> None:
        """Kill kube-apiserver; what it has answered is in etcd."""
        server = self._servers["kube-apiserver"]
        server.kill()
        server.wait()

    def start_apiserver(self) -> None:
        """Start it anew where it was, and wait until it is ready."""
        flags = [str(flag) for flag in self._servers["kube-apiserver"].args[1:]]  # type: ignore[index]
        self._run("kube-apiserver", *flags)
        assert self._watchdog is not None
        self._watchdog.kill()
        self._watchdog.communicate()
        self._watch()
        self._wait_until_ready()

    def audited(self, user: str) -> list[dict[str, Any]]:
        """The requests of a user so far that were answered."""
        lines = (self.folder / "audit.log").read_bytes().splitlines()
        entries = [orjson.loads(line) for line in lines]
        return [entry for entry in entries if entry["user"].get("username") == user]

    def kubectl(
        self, *arguments: str, check: bool = True, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl as an administrator."""
        ran = subprocess.run(
            [KUBECTL, f"--kubeconfig={self.write_kubeconfig(self.admin)}", *arguments],
            env={"HOME": str(self.folder), "PATH": os.environ["PATH"]},
            input=text,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert ran.returncode == 0 or not check, f"{arguments}: {ran.stdout}{ran.stderr}"
        return ran

    def apply(self, *folders: str) -> None:
        """Apply folders of deploy/."""
        for folder in folders:
            self.kubectl("apply", "--server-side", "-k", str(DEPLOY / folder))

    @contextmanager
    def api(self) -> Iterator[Api]:
        """The API as an administrator sees it."""
        with self.session(self.admin) as session:
            yield Api(self.url, session)

    def make_namespace(self, name: str) -> None:
        """Make one that is there for the time of the cluster, unless it is there."""
        with self.api() as api:
            metadata = {"metadata": {"name": name}}
            assert api.call("POST", "/api/v1/namespaces", metadata).status in {201, 409}

    def token(self, namespace: str, account: str, seconds: int = 3600) -> str:
        """A new token of a service account."""
        with self.client(self.admin) as api:
            request = client.AuthenticationV1TokenRequest(
                spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=seconds)
            )
            core = client.CoreV1Api(api)
            answer = core.create_namespaced_service_account_token(account, namespace, request)
        return str(answer.status.token)

    def account(self, namespace: str, name: str) -> User:
        """A service account as a user of this server, with a new token."""
        return User(f"system:serviceaccount:{namespace}:{name}", self.token(namespace, name))

    def released_lease(self, namespace: str, name: str) -> None:
        """A Lease as a clean stop leaves it: whoever comes next starts at once."""
        path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name},
            "spec": {"holderIdentity": "", "leaseDurationSeconds": 1},
        }
        with self.api() as api:
            api.call("DELETE", f"{path}/{name}")
            assert api.call("POST", path, body).ok

    def finish_namespaces(self, api: Api) -> None:
        """What the namespace controller does: empties Terminating namespaces and ends them.

        Ours are ended when no object of the four kinds is left in them.
        """
        for namespace in api.call("GET", "/api/v1/namespaces").body["items"]:
            if "deletionTimestamp" not in namespace["metadata"]:
                continue
            name = namespace["metadata"]["name"]
            if self._emptied(api, name):
                body = {"metadata": {"name": name}, "spec": {"finalizers": []}}
                api.call("PUT", f"/api/v1/namespaces/{name}/finalize", body)

    def _emptied(self, api: Api, namespace: str) -> bool:
        scope = f"namespaces/{namespace}"
        for path in (*OURS, *NAMESPACED):
            with contextlib.suppress(ValueError):
                api.call("DELETE", path.format(scope))
        return not any(items(api, path.format(scope)) for path in OURS)


def items(api: Api, path: str) -> list[dict[str, Any]]:
    """A list's items; none of a kind that is gone, which is a 404 in plain text."""
    try:
        return list(api.call("GET", path).body.get("items", []))
    except ValueError:
        return []


OURS = tuple(
    f"/apis/lldap-operator.lukidoescode.com/v1alpha1/{{}}/{plural}"
    for plural in ("lldapmemberships", "lldapusers", "lldapgroups", "lldapattributeschemas")
)


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """Look again and again; AssertionError naming `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.05)


@contextmanager
def namespace_controller(cluster: Cluster) -> Iterator[None]:
    """Finish Terminating namespaces in a thread, for the time of the block."""
    done = threading.Event()

    def work() -> None:
        with cluster.api() as api:
            while not done.wait(0.2):
                cluster.finish_namespaces(api)

    thread = threading.Thread(target=work, name="namespace-controller")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(SECONDS)


def documents(file: Path) -> list[dict[str, Any]]:
    """The YAML documents of a file."""
    return [each for each in yaml.safe_load_all(file.read_text()) if each]
