"""What goes wrong in a cluster and in lldap while an operator is at work: nothing is lost, nothing
is done twice, and nobody has to start it anew."""

import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.controlplane import User
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward
from tests.deploy.serving import HOME, serve
from tests.faults.points import Category, lldap_category
from tests.faults.ways import database_busy
from tests.support.cluster import Cluster, wait_until
from tests.support.kustomize import ROOT
from tests.support.live import LiveLldap, Replica, new_lldap, running
from tests.support.people import People, people

pytestmark = [pytest.mark.slow, pytest.mark.envtest, pytest.mark.timeout(240)]

ADMINISTRATORS = 1
FINISH = "/auth/opaque/register/finish"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases/lldap-operator-default"
LONG_LEASE = {"LEASE_SECONDS": "90", "RENEW_SECONDS": "60"}
SOON = {"RESYNC_SECONDS": "3"}
FIRST, SECOND = "first-password", "second-password"
KINDS = ("LldapMembership", "LldapUser", "LldapGroup")


@pytest.fixture(scope="module")
def account(cluster: Cluster) -> User:
    cluster.apply("crds")
    cluster.apply("policies", "operator")
    return cluster.account(HOME, "lldap-operator")


@dataclass(frozen=True)
class World:
    """A cluster, people of one namespace in it, and an operator with its lldap."""

    cluster: Cluster
    team: People
    replica: Replica
    lldap: LiveLldap

    def alice_in_staff(self) -> None:
        """An account with a password from a Secret, in a group; until lldap has all of it."""
        self.team.secret("alice", FIRST)
        self.team.user("alice", **PASSWORD)
        self.team.group("staff")
        self.team.membership("alice", "staff")
        self.wait_for_alice()

    def wait_for_alice(self) -> None:
        for kind, name in zip(KINDS, ("alice-staff", "alice", "staff"), strict=True):
            self.team.wait(kind, name)

    def count(self, operation: str) -> int:
        """How often the operator has asked for this."""
        return Counter(seen.operation for seen in self.lldap.seen)[operation]

    def groups(self) -> dict[str, list[str]]:
        """Who is in which group that lldap does not bring."""
        found = self.lldap.directory()["groups"].values()
        return {g["display_name"]: g["links"] for g in found if "lldap_" not in g["display_name"]}

    @contextmanager
    def demoted(self) -> Iterator[None]:
        """The operator's account is no administrator for the time of the block."""
        with self.lldap.lldap.database() as store:
            store.remove_member("admin", ADMINISTRATORS)
        yield
        with self.lldap.lldap.database() as store:
            store.add_member("admin", ADMINISTRATORS)


PASSWORD = {"passwordPolicy": "Manage", "passwordSecretRef": {"name": "alice", "key": "password"}}


@pytest.fixture
def world(
    cluster: Cluster, account: User, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[World]:
    """An operator at work, with these variables if the test is given some; it runs to the end."""
    environ: dict[str, str] = getattr(request, "param", {})
    with ExitStack() as stack:
        team = stack.enter_context(people(cluster, "team-a"))
        replica, lldap = serve(stack, cluster, account, tmp_path, **environ)
        replica.wait_ready()
        replica.wait_working()
        yield World(cluster, team, replica, lldap)
        assert replica.running, replica.text()[-3000:]
        clear(team)
        assert replica.stop() == 0


def clear(team: People) -> None:
    """Delete all that people have made, which the operator is to follow."""
    for kind in KINDS:
        team.api.call("DELETE", team.path(kind))
    for kind in KINDS:
        team.wait_empty(kind)


# --- the API server ----------------------------------------------------------------------------


@pytest.mark.parametrize("world", [LONG_LEASE], indirect=True)
def test_an_api_server_that_is_killed_and_started_anew_loses_nothing(world: World) -> None:
    world.alice_in_staff()
    for number in range(10):
        world.team.user(f"person-{number}")
    world.cluster.kill_apiserver()
    world.cluster.start_apiserver()
    world.team.secret("alice", SECOND)
    world.team.user("late")
    for name in ("alice", "late", *(f"person-{number}" for number in range(10))):
        world.team.wait("LldapUser", name)
    wait_until(lambda: world.lldap.login("alice", SECOND) == 200, "the new password")
    assert world.count("createUser") == 12
    assert world.groups() == {"staff": ["alice"]}


def test_rights_that_are_taken_away_and_given_back(world: World) -> None:
    world.alice_in_staff()
    world.cluster.kubectl("delete", "clusterrolebinding", "lldap-operator")
    world.team.user("bob")
    world.team.delete("LldapMembership", "alice-staff")
    wait_until(lambda: "cannot patch" in world.replica.text(), "a refusal in the log")
    assert "bob" not in world.lldap.directory()["users"]  # without its finalizer nothing is begun
    world.cluster.apply("operator")
    world.team.wait("LldapUser", "bob")
    world.team.wait_gone("LldapMembership", "alice-staff")
    assert world.groups() == {"staff": []}


def test_a_lease_that_is_deleted_stays_with_its_leader(
    cluster: Cluster, account: User, tmp_path: Path
) -> None:
    lldap = new_lldap()
    cluster.released_lease(HOME, "lldap-operator-default")
    with ExitStack() as stack:
        team = stack.enter_context(people(cluster, "team-a"))
        environ = {"KUBECONFIG": str(cluster.write_kubeconfig(account))}
        leader, standby = (
            Replica(
                name,
                tmp_path / name,
                environ | {"LLDAP_URL": stack.enter_context(lldap.door(name))},
            )
            for name in ("leader", "standby")
        )
        stack.enter_context(running(leader))
        leader.wait_working()
        stack.enter_context(running(standby))
        wait_until(lambda: "is held by" in standby.text(), "a second replica that waits")
        for number in range(8):
            assert team.api.call("DELETE", LEASE).ok
            team.user("alice", lastName=f"Number {number}")
            team.wait("LldapUser", "alice")
            wait_until(lambda: team.api.call("GET", LEASE).ok, "the Lease")
            holder = team.api.call("GET", LEASE).body["spec"]["holderIdentity"]
            assert holder.startswith("leader_")
        clear(team)
        assert leader.running
        assert standby.stop() == 0
        assert leader.stop() == 0
    assert {seen.caller for seen in lldap.seen} == {"leader"}


# --- the kinds ---------------------------------------------------------------------------------


@pytest.mark.parametrize("world", [{"LLDAP_ADOPTION": "Always"}], indirect=True)
def test_E11_kinds_that_are_deleted_and_installed_again_take_nothing_along(world: World) -> None:
    world.alice_in_staff()
    before = _told(world)
    world.cluster.kubectl("delete", "-k", str(ROOT / "deploy/crds"), "--timeout=60s")
    assert _told(world) == before
    world.cluster.install(ROOT / "deploy/crds")
    world.alice_in_staff()
    assert _told(world) == before
    assert world.lldap.login("alice", FIRST) == 200
    assert world.count(FINISH) == 1  # it is proved, not set again
    world.team.secret("alice", SECOND)  # and all is watched anew
    wait_until(lambda: world.lldap.login("alice", SECOND) == 200, "the new password")


def _told(world: World) -> dict[str, object]:
    """Who is there since when, and in which group."""
    users = world.lldap.directory()["users"]
    return {"uuids": {name: user["uuid"] for name, user in users.items()}, **world.groups()}


# --- Secrets -----------------------------------------------------------------------------------


def test_a_secret_that_is_deleted_and_made_again_with_another_password(world: World) -> None:
    world.alice_in_staff()
    assert world.team.api.call("DELETE", "/api/v1/namespaces/team-a/secrets/alice").ok
    world.team.wait("LldapUser", "alice", "SecretNotFound")
    assert world.lldap.login("alice", FIRST) == 200
    world.team.secret("alice", SECOND)
    world.team.wait("LldapUser", "alice")
    assert world.lldap.login("alice", SECOND) == 200
    assert world.count(FINISH) == 2


# --- lldap -------------------------------------------------------------------------------------


class BusyDatabase:
    """Answers a third of all changes as a database does that gives way to another one. Any thread.

    `done` are the changes that were carried out.
    """

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()
        self.refused = 0
        self._rng = random.Random(7)
        self._lock = threading.Lock()

    def __call__(self, call: Call, forward: Forward) -> Response:
        if lldap_category(call.operation) is not Category.LLDAP_WRITE:
            return forward(call)
        with self._lock:
            lock = self._rng.choice(("locked", "deadlock", "", "", "", ""))
            self.refused += bool(lock)
        if lock:
            status, body, kind = database_busy(lock, call.operation)
            return Response(status, [("content-type", kind)], body)
        with self._lock:
            self.done[call.operation] += 1
        return forward(call)


def test_C04_locks_and_deadlocks_in_the_middle_of_the_work(world: World) -> None:
    busy = BusyDatabase()
    world.lldap.lldap.hooks.append(busy)
    world.team.secret("alice", FIRST)
    names = ["alice", *(f"person-{number}" for number in range(30))]
    world.team.group("staff")
    for name in names:
        world.team.user(name, **(PASSWORD if name == "alice" else {}))
        world.team.membership(name, "staff")
    for name in names:
        world.team.wait("LldapUser", name)
        world.team.wait("LldapMembership", f"{name}-staff")
    assert world.groups() == {"staff": sorted(names)}
    assert world.lldap.login("alice", FIRST) == 200
    assert busy.refused > 10
    assert busy.done["createUser"] == busy.done["addUserToGroup"] == len(names)
    assert busy.done["createGroupWithDetails"] == busy.done[FINISH] == 1


@pytest.mark.parametrize("world", [SOON], indirect=True)
def test_the_operator_is_demoted_in_lldap_and_promoted_again(world: World) -> None:
    world.alice_in_staff()
    with world.demoted():
        wait_until(lambda: "lldap_admin" in world.replica.text(), "that it says what is wrong")
        world.team.user("bob")
        world.team.delete("LldapMembership", "alice-staff")
        world.team.wait("LldapUser", "bob", "Forbidden")
        assert "bob" not in world.lldap.directory()["users"]
        assert world.groups() == {"staff": ["alice"]}
    world.team.wait("LldapUser", "bob")
    world.team.wait_gone("LldapMembership", "alice-staff")
    assert world.groups() == {"staff": []}


@pytest.mark.parametrize("world", [SOON], indirect=True)
def test_lldap_is_restored_to_an_older_state(world: World) -> None:
    world.alice_in_staff()
    before = world.lldap.lldap.snapshot()
    world.team.secret("alice", SECOND)
    world.team.user("bob")
    world.team.membership("bob", "staff")
    world.team.wait("LldapMembership", "bob-staff")
    wait_until(lambda: world.lldap.login("alice", SECOND) == 200, "the new password")
    world.lldap.lldap.restore(before)
    wait_until(lambda: world.groups() == {"staff": ["alice", "bob"]}, "bob is there again")
    wait_until(lambda: world.lldap.login("alice", SECOND) == 200, "the new password once more")


@pytest.mark.parametrize("world", [SOON], indirect=True)
def test_lldap_is_installed_anew(world: World) -> None:
    world.alice_in_staff()
    world.lldap.lldap.reinstall()
    wait_until(lambda: world.groups() == {"staff": ["alice"]}, "all is there again")
    wait_until(lambda: world.lldap.login("alice", FIRST) == 200, "the password")
    world.wait_for_alice()
