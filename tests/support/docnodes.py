"""What the nodes of a cluster would do, for a walk through pages on a real API server."""

import base64
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from controller.clock import SystemClock
from sandbox.controlplane import free_ports
from sandbox.lldap.server import Lldap
from tests.support.cluster import Cluster, namespace_controller
from tests.support.docpages import Block, blocks
from tests.support.docshell import Shell, shows
from tests.support.envtest import Api
from tests.support.live import LiveLldap, Replica

HOME = "lldap-operator"
PODS = f"/api/v1/namespaces/{HOME}/pods"
POD = "lldap-operator-0"
LOOK_SECONDS = 0.3
PASSWORD_FILE, POD_CONFIG = "pod-password", "pod-kubeconfig"
RUN = frozenset({"sh", "yaml", "text"})


class Nodes:
    """Runs the operator while its Deployment and its Secret are there, and an lldap for it.

    The lldap has the password that its own Secret says, or without one the operator's.
    """

    def __init__(self, cluster: Cluster, folder: Path, stack: ExitStack) -> None:
        self._cluster = cluster
        self._folder = folder
        self._stack = stack
        (self.port,) = free_ports(1)
        self._replica: Replica | None = None
        self.lldap: LiveLldap | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def look(self) -> None:
        """Start or stop what the API server says by now."""
        with self._cluster.api() as api:
            wanted = self._replicas(api) > 0 and self._secret(api, HOME, HOME)
            if wanted and self._replica is None:
                self._start(api)
        if not wanted and self._replica is not None:
            self._replica.stop()
            self._replica = None
            with self._cluster.api() as api:
                assert api.call("DELETE", f"{PODS}/{POD}").status in {200, 404}

    def _replicas(self, api: Api) -> int:
        answer = api.call("GET", f"/apis/apps/v1/namespaces/{HOME}/deployments/{HOME}")
        if not answer.ok or "deletionTimestamp" in answer.body["metadata"]:
            return 0
        return int(answer.body["spec"]["replicas"])

    def _secret(self, api: Api, namespace: str, name: str) -> dict[str, bytes]:
        answer = api.call("GET", f"/api/v1/namespaces/{namespace}/secrets/{name}")
        data = answer.body.get("data", {}) if answer.ok else {}
        return {key: base64.b64decode(value) for key, value in data.items()}

    def _start(self, api: Api) -> None:
        own = self._secret(api, HOME, HOME)
        assert len(own["hash-key"]) >= 32
        admin = self._secret(api, "lldap", "lldap").get("admin-password", own["password"])
        if self.lldap is None:
            self.lldap = LiveLldap(Lldap(SystemClock(), admin_password=admin.decode()))
            self._stack.enter_context(self.lldap.door(port=self.port))
        account = self._cluster.account(HOME, HOME)
        config = self._cluster.write_kubeconfig(account)
        shutil.copy(config, self._folder / POD_CONFIG)
        (self._folder / PASSWORD_FILE).write_bytes(own["password"])
        environ = {"KUBECONFIG": str(config), "LLDAP_URL": self.url}
        replica = Replica("operator", self._folder / "replica", environ)
        replica.password_file.write_bytes(own["password"])
        self._cluster.released_lease(HOME, "lldap-operator-default")
        self._stack.callback(replica.kill)
        replica.start()
        replica.wait_ready()
        replica.wait_working()
        self._replica = replica
        self._show_pod(api)

    @staticmethod
    def _show_pod(api: Api) -> None:
        """For those who wait for it: nobody runs it."""
        deployment = api.call("GET", f"/apis/apps/v1/namespaces/{HOME}/deployments/{HOME}").body
        template = deployment["spec"]["template"]
        body = {"metadata": {**template["metadata"], "name": POD}, "spec": template["spec"]}
        answer = api.call("POST", PODS, body)
        assert answer.status == 201, answer.body


class ClusterWalk:
    """One reader of pages, on a real API server, with kubectl."""

    def __init__(self, shell: Shell, nodes: Nodes) -> None:
        self.shell = shell
        self.nodes = nodes
        self._looked = 0.0

    def go(self, page: Path) -> None:
        """All blocks of the page, in order."""
        output = ""
        for block in blocks(page):
            if block.not_run or block.language not in RUN:
                continue
            if block.language == "sh":
                output = self._command(block)
            elif block.language == "yaml":
                assert block.file, f"{block}: name the file in its first line"
                path = self.shell.folder / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text)
            elif output:
                missing, said, output = shows(block.text, output), output, ""
                assert not missing, f"{block}: no line {missing!r} in:\n{said}"

    def _command(self, block: Block) -> str:
        code, output = self.shell.run(block.text, self._meanwhile)
        assert code == 0, f"{block} ends with {code}:\n{output}"
        self.nodes.look()
        return output

    def _meanwhile(self) -> None:
        now = time.monotonic()
        if now >= self._looked + LOOK_SECONDS:
            self._looked = now
            self.nodes.look()


@contextmanager
def cluster_walk(cluster: Cluster, folder: Path) -> Iterator[ClusterWalk]:
    """A reader with a cluster in which nothing of ours is installed."""
    with ExitStack() as stack:
        stack.enter_context(namespace_controller(cluster))
        nodes = Nodes(cluster, folder, stack)
        environment = {"KUBECONFIG": str(cluster.write_kubeconfig(cluster.admin))}
        pod = {
            "LLDAP_URL": nodes.url,
            "LLDAP_ADMIN_PASSWORD_FILE": str(folder / PASSWORD_FILE),
            "POD_NAMESPACE": HOME,
            "KUBECONFIG": str(folder / POD_CONFIG),
        }
        yield ClusterWalk(Shell(folder, environment, pod, nodes.url), nodes)
