"""The servers of a run: a real API server, and an lldap by URL or the sandbox's."""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import yaml

from benchmarks.bare import CallFailed, Connection, LldapConnection
from benchmarks.job import Job
from benchmarks.objects import Object, create, in_parallel
from sandbox.controlplane import ASSETS_VARIABLE, OPERATOR_NAMESPACE, ControlPlane

ROOT = Path(__file__).parents[1]
LLDAP_URL = "BENCH_LLDAP_URL"
LLDAP_PASSWORD = "BENCH_LLDAP_PASSWORD"
SANDBOX_PASSWORD = "benchmark-password"
THREADS = 16
MARK = "kubernetes-owner"
BUILT_IN = ("lldap_admin", "lldap_password_manager", "lldap_strict_readonly")


class Bed:
    """Where contestants run. One thread."""

    def __init__(self, plane: ControlPlane, lldap: str, password: str, folder: Path) -> None:
        self.plane = plane
        self.lldap = lldap
        self.password = password
        self.folder = folder
        self._numbers = itertools.count(1)
        self._run = format(int(time.time()) % 10**6, "06d")

    def api(self) -> Connection:
        """A connection to the API server as an administrator."""
        return Connection(self.plane.url, ca=str(self.plane.ca_file), token=self.plane.admin.token)

    def directory(self) -> LldapConnection:
        """A connection to lldap as its admin."""
        return LldapConnection(self.lldap, self.password)

    def names(self, count: int, what: str = "u") -> list[str]:
        """New names, never used before in this run."""
        number = next(self._numbers)
        return [f"{what}{self._run}-{number}-{each}" for each in range(count)]

    def namespace(self) -> str:
        """A new namespace."""
        name = f"bench-{self._run}-{next(self._numbers)}"
        api = self.api()
        api.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        api.close()
        return name

    def create(self, namespace: str, objects: list[Object]) -> None:
        """Create them all."""
        in_parallel(self.api, objects, lambda api, obj: create(api, namespace, obj))

    def job(self, work: str, namespace: str) -> Path:
        """The file that tells a contestant what to do."""
        path = self.folder / f"job-{next(self._numbers)}.json"
        Job(
            work=work,
            api=self.plane.url,
            ca=str(self.plane.ca_file),
            token=self.plane.operator.token,
            namespace=namespace,
            lldap=self.lldap,
            lldap_password=self.password,
            threads=THREADS,
        ).write(path)
        return path

    def log(self, name: str) -> Path:
        """Where a contestant's output goes."""
        return self.folder / f"{name}-{next(self._numbers)}.log"

    # --- lldap -----------------------------------------------------------------------------

    def clean_lldap(self) -> None:
        """Only what a new lldap has, and the attribute of marks."""
        lldap = self.directory()
        found = lldap.graphql("{ users { id } groups { id displayName } }")
        users = [user["id"] for user in found["users"] if user["id"] != "admin"]
        groups = [g["id"] for g in found["groups"] if g["displayName"] not in BUILT_IN]
        in_parallel(
            self.directory,
            users,
            lambda to, user: to.graphql(
                "mutation($id: String!) { deleteUser(userId: $id) { ok } }", {"id": user}
            ),
        )
        for group in groups:
            lldap.graphql("mutation($id: Int!) { deleteGroup(groupId: $id) { ok } }", {"id": group})
        self._ensure_mark(lldap)
        lldap.close()

    def _ensure_mark(self, lldap: LldapConnection) -> None:
        for target in ("User", "Group"):
            mutation = (
                f'mutation {{ add{target}Attribute(name: "{MARK}", attributeType: STRING, '
                "isList: false, isVisible: false, isEditable: false) { ok } }"
            )
            try:
                lldap.graphql(mutation)
            except CallFailed:  # it is there
                continue

    def create_accounts(self, names: list[str]) -> None:
        """Accounts that no object stands for."""
        query = "mutation($user: CreateUserInput!) { createUser(user: $user) { id } }"
        in_parallel(
            self.directory,
            names,
            lambda to, name: to.graphql(
                query, {"user": {"id": name, "email": f"{name}@example.org"}}
            ),
        )

    def create_groups(self, names: list[str]) -> None:
        """Groups that no object stands for."""
        lldap = self.directory()
        for name in names:
            lldap.graphql(
                "mutation($name: String!) { createGroup(name: $name) { id } }", {"name": name}
            )
        lldap.close()


@contextmanager
def bed() -> Iterator[Bed]:
    """Start the servers; they and their data end with the block."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="benchmarks-"))
        stack.push(lambda kind, _error, _trace: _tidy(folder, failed=kind is not None))
        assets = os.environ.get(ASSETS_VARIABLE)
        if not assets:
            raise SystemExit(f"{ASSETS_VARIABLE} must name the folder of etcd and kube-apiserver")
        plane = stack.enter_context(ControlPlane(Path(assets)))
        url = os.environ.get(LLDAP_URL)
        if url:
            password = os.environ[LLDAP_PASSWORD]
        else:
            url, password = stack.enter_context(_sandbox()), SANDBOX_PASSWORD
        made = Bed(plane, url.rstrip("/"), password, folder)
        _install(made, folder / "roles")
        yield made


def _tidy(folder: Path, *, failed: bool) -> None:
    """Remove the folder; after a failure all but the logs, which say why."""
    if not failed:
        shutil.rmtree(folder, ignore_errors=True)
        return
    for file in folder.rglob("job-*.json"):
        file.unlink()
    print(f"the logs are in {folder}", file=sys.stderr)


@contextmanager
def _sandbox() -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.lldapserver", SANDBOX_PASSWORD]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def _install(made: Bed, roles: Path) -> None:
    """CRDs, and the rights that the operator has in a cluster."""
    made.plane.install(ROOT / "deploy" / "crds")
    roles.mkdir()
    shipped = ROOT / "deploy" / "operator"
    for file in sorted(shipped.glob("clusterrole*.yaml")):
        shutil.copy(file, roles)
    made.plane.install(roles)
    api = made.api()
    api.call("POST", "/api/v1/namespaces", {"metadata": {"name": OPERATOR_NAMESPACE}})
    for name in ("role", "rolebinding"):
        document: Any = yaml.safe_load((shipped / f"{name}.yaml").read_text())
        path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{OPERATOR_NAMESPACE}/{name}s"
        api.call("POST", path, document)
    api.close()
