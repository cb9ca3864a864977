"""The floor does the whole job, and makes the needed calls only."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from benchmarks import floor, objects
from benchmarks.bare import Connection, LldapConnection
from benchmarks.job import Job
from benchmarks.watch import Watch, deleted, ready
from controller.clock import SystemClock
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.http import ApiServerHttp
from sandbox.apiserver.messages import Request, Response
from sandbox.lldap.http import LldapServer
from sandbox.lldap.server import Lldap

NAMESPACE = "team-a"
PASSWORD = "a-password"
NAMES = ["alice", "bob", "carol"]
CRDS = Path(__file__).parents[2] / "deploy" / "crds"


class Counting(ApiServer):
    """Knows what was asked of it."""

    def __init__(self) -> None:
        super().__init__(SystemClock(), random.Random(1))
        self.patches: list[str] = []

    def request(self, request: Request) -> Response:
        if request.method == "PATCH":
            self.patches.append(request.path)
        return super().request(request)


class Servers:
    """Both servers of the sandbox, on sockets."""

    def __init__(self, api: Counting, url: str, lldap: str) -> None:
        self.api = api
        self.url = url
        self.lldap = lldap

    def connect(self) -> Connection:
        return Connection(self.url)

    def job(self, work: str) -> Job:
        return Job(work, self.url, "", "", NAMESPACE, self.lldap, PASSWORD, threads=2)


@pytest.fixture
def servers() -> Iterator[Servers]:
    api = Counting()
    with (
        ApiServerHttp(api) as http,
        LldapServer(Lldap(SystemClock(), admin_password=PASSWORD)) as lldap,
    ):
        found = Servers(api, http.url, lldap.url)
        connection = found.connect()
        for file in sorted(CRDS.glob("*.yaml")):
            crd = yaml.safe_load(file.read_text())
            path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
            connection.call("POST", path, crd)
        connection.call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        connection.close()
        yield found


def prepare(servers: Servers, things: list[objects.Object]) -> None:
    directory = LldapConnection(servers.lldap, PASSWORD)
    for target in ("User", "Group"):
        directory.graphql(
            f'mutation {{ add{target}Attribute(name: "kubernetes-owner", attributeType: STRING, '
            "isList: false, isVisible: false, isEditable: false) { ok } }"
        )
    directory.graphql('mutation { createGroup(name: "devs") { id } }')
    directory.close()
    objects.in_parallel(
        servers.connect, things, lambda to, obj: objects.create(to, NAMESPACE, obj), threads=1
    )


def members(servers: Servers) -> dict[str, list[str]]:
    directory = LldapConnection(servers.lldap, PASSWORD)
    users = directory.graphql("{ users { id groups { displayName } } }")["users"]
    directory.close()
    found = {user["id"]: [group["displayName"] for group in user["groups"]] for user in users}
    del found["admin"]
    return found


def test_users_and_then_memberships_become_ready_in_two_patches_each(servers: Servers) -> None:
    prepare(servers, [*objects.users(NAMES), *objects.memberships(NAMES, ["devs"])])
    for kind, work in (("LldapUser", "users"), ("LldapMembership", "memberships")):
        servers.api.patches.clear()
        with Watch(servers.connect, NAMESPACE, kind, done=ready, expected=len(NAMES)) as seen:
            floor.run(servers.job(work))
            seen.wait(10.0)
        assert len(servers.api.patches) == 2 * len(NAMES)
        assert seen.ended is not None
    assert members(servers) == {name: ["devs"] for name in NAMES}


def test_kinds_that_need_each_other_become_ready_in_one_run(servers: Servers) -> None:
    things = [*objects.groups(["ops"]), *objects.users(NAMES), *objects.memberships(NAMES, ["ops"])]
    prepare(servers, things)
    servers.api.patches.clear()
    floor.run(servers.job("mixed"))
    assert len(servers.api.patches) == 2 * len(things)
    connection = servers.connect()
    for kind in ("LldapGroup", "LldapUser", "LldapMembership"):
        listed = connection.call("GET", objects.collection(NAMESPACE, kind))["items"]
        assert listed
        assert all(ready("MODIFIED", obj) for obj in listed)
    connection.close()
    assert members(servers) == {name: ["ops"] for name in NAMES}


def test_deleted_users_go_in_one_patch_each(servers: Servers) -> None:
    prepare(servers, objects.users(NAMES))
    floor.run(servers.job("users"))
    connection = servers.connect()
    connection.call("DELETE", objects.collection(NAMESPACE, "LldapUser"))
    connection.close()
    servers.api.patches.clear()
    expected = len(NAMES)
    with Watch(servers.connect, NAMESPACE, "LldapUser", done=deleted, expected=expected) as seen:
        floor.run(servers.job("deletions"))
        seen.wait(10.0)
    assert len(servers.api.patches) == expected
    assert members(servers) == {}
