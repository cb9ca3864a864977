"""The full life of the four kinds, under the shipped Roles and policies, as the shipped account."""

import re
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from controller.api import KINDS, MARK_ATTRIBUTE, OPERATE_VERB
from controller.configuration.config import load
from controller.doctor.doctor import run_doctor
from controller.doctor.rights import Right, needed
from lldap.names import BUILT_IN_GROUPS
from sandbox.controlplane import User
from tests.support.cluster import Cluster, wait_until
from tests.support.live import ADMIN_PASSWORD, CANARY, LiveLldap, Replica, new_lldap, running
from tests.support.people import People, people
from tests.support.promql import alerts, panels, uses

pytestmark = [pytest.mark.slow, pytest.mark.envtest, pytest.mark.timeout(400)]

HOME = "lldap-operator"
FIRST, SECOND = f"{CANARY}-first", f"{CANARY}-second"


@pytest.fixture(scope="module")
def account(cluster: Cluster) -> User:
    """The operator's own account, after `kubectl apply -k` of what we ship."""
    cluster.apply("crds")
    cluster.apply("policies", "user-roles", "operator")
    return cluster.account(HOME, "lldap-operator")


@pytest.fixture(scope="module")
def lldap() -> LiveLldap:
    return new_lldap()


@dataclass(frozen=True)
class Life:
    """What is left when all is done and the operator has ended."""

    log: str
    scrape: str
    exit_code: int


@pytest.fixture(scope="module")
def life(
    cluster: Cluster, account: User, lldap: LiveLldap, tmp_path_factory: pytest.TempPathFactory
) -> Life:
    """All that objects go through, with an operator whose Lease and events begin from nothing."""
    with lldap.door() as url:
        environ = {"KUBECONFIG": str(cluster.write_kubeconfig(account)), "LLDAP_URL": url}
        replica = Replica("life", tmp_path_factory.mktemp("life"), environ)
        with running(replica), people(cluster, "team-a") as team:
            replica.wait_ready()
            replica.wait_working()
            _begin(team)
            _go_on(team, lldap)
            _collide(team, cluster)
            _end(team)
            scrape = replica.scrape()
            return Life(replica.text(), scrape, replica.stop())


def _begin(team: People) -> None:
    for name in BUILT_IN_GROUPS:
        virtual = People(team.api, HOME)
        virtual.wait("LldapGroup", f"default--{name.replace('_', '-')}", "BuiltIn")
    team.secret("alice", FIRST)
    team.membership("alice", "staff")
    team.wait("LldapMembership", "alice-staff", "Pending")
    team.attribute("badge")
    team.user(
        "alice",
        passwordPolicy="Manage",
        passwordSecretRef={"name": "alice", "key": "password"},
        attributes=[{"name": "badge", "value": ["7"]}],
    )
    team.group("staff")
    for kind, name in ALL:
        team.wait(kind, name)


ALL = [
    ("LldapAttributeSchema", "badge"),
    ("LldapUser", "alice"),
    ("LldapGroup", "staff"),
    ("LldapMembership", "alice-staff"),
]


def _go_on(team: People, lldap: LiveLldap) -> None:
    assert lldap.login("alice", FIRST) == 200
    team.secret("alice", SECOND)
    wait_until(lambda: lldap.login("alice", SECOND) == 200, "the new password")
    team.apply("LldapGroup", "staff", {"displayName": "everybody"})
    team.wait("LldapGroup", "staff")
    team.user("rival", username="alice", email="rival@example.org")
    team.wait("LldapUser", "rival", "Conflict")
    for number in range(4):  # the same event again and again becomes a series
        team.user("rival", username="alice", email="rival@example.org", lastName=str(number))
        team.wait("LldapUser", "rival", "Conflict")
    team.delete("LldapUser", "rival")
    team.wait_gone("LldapUser", "rival")


def _collide(team: People, cluster: Cluster) -> None:
    """Change each kind faster than the operator can follow, until it has to read again."""
    toggles: dict[str, Callable[[str], Any]] = {
        "LldapUser": lambda word: team.user("busy", deletionPolicy=word),
        "LldapGroup": lambda word: team.group("busy", deletionPolicy=word),
        "LldapMembership": lambda word: team.membership("busy", "busy", deletionPolicy=word),
        "LldapAttributeSchema": lambda word: team.attribute("busy", deletionPolicy=word),
    }
    plurals = {kind.kind: kind.plural for kind in KINDS}
    for kind, toggle in toggles.items():

        def has_read(kind: str = kind, toggle: Callable[[str], Any] = toggle) -> bool:
            for word in ("Delete", "Retain") * 20:
                toggle(word)
            return ("get", plurals[kind]) in {
                (entry["verb"], entry["objectRef"]["resource"])
                for entry in cluster.audited(f"system:serviceaccount:{HOME}:lldap-operator")
                if "objectRef" in entry
            }

        wait_until(has_read, f"a {kind} read again", 60.0)
        toggle("Delete")
    for kind, name in (("LldapMembership", "busy-busy"), ("LldapAttributeSchema", "busy")):
        team.wait(kind, name)


def _end(team: People) -> None:
    for kind, name in (
        ("LldapMembership", "alice-staff"),
        ("LldapMembership", "busy-busy"),
        ("LldapUser", "alice"),
        ("LldapUser", "busy"),
        ("LldapGroup", "staff"),
        ("LldapGroup", "busy"),
        ("LldapAttributeSchema", "badge"),
        ("LldapAttributeSchema", "busy"),
    ):
        team.delete(kind, name)
    for each in KINDS:
        team.wait_empty(each.kind)


def test_nothing_is_left_in_lldap_but_what_it_brings_and_the_mark(
    life: Life, lldap: LiveLldap
) -> None:
    directory = lldap.directory()
    assert set(directory["users"]) == {"admin"}
    names = {group["display_name"] for group in directory["groups"].values()}
    assert names == set(BUILT_IN_GROUPS)
    state = lldap.lldap.snapshot()
    assert MARK_ATTRIBUTE in state.users.stored
    assert "busy" not in state.users.stored


def test_K03_no_request_was_refused(life: Life, cluster: Cluster, account: User) -> None:
    entries = cluster.audited(account.name)
    assert len(entries) > 100
    refused = [entry for entry in entries if entry["responseStatus"]["code"] in {401, 403}]
    assert refused == []


def used(entries: list[dict[str, Any]]) -> set[Right]:
    """The rights that were needed for what the audit log shows."""
    found: set[Right] = set()
    for entry in entries:
        at = entry["objectRef"]
        right = Right(
            entry["verb"],
            at.get("apiGroup", ""),
            at["resource"],
            at.get("subresource", ""),
            at.get("namespace", ""),
            at.get("name", ""),
        )
        found.add(right)
        if entry["verb"] == "patch" and entry["responseStatus"]["code"] == 201:
            found.add(replace(right, verb="create", name=""))  # an apply that made the object
    return found


def covers(granted: Right, request: Right) -> bool:
    """Whether a right is what a request needs."""
    return (
        (granted.verb, granted.group, granted.resource, granted.subresource)
        == (request.verb, request.group, request.resource, request.subresource)
        and granted.namespace in {"", request.namespace}
        and granted.name in {"", request.name}
    )


def test_K03_the_rights_used_are_the_rights_granted(
    life: Life, cluster: Cluster, account: User
) -> None:
    enough = {"LLDAP_URL": "http://l", "LLDAP_ADMIN_PASSWORD": "x", "POD_NAMESPACE": HOME}
    detected = {"leader_elect": "true", "log_format": "json", "pod_name": "p"}
    granted = set(needed(load(enough, {}, detected)))
    requests = used(cluster.audited(account.name))
    beyond = {each for each in requests if not any(covers(right, each) for right in granted)}
    assert beyond == set()
    idle = {right for right in granted if not any(covers(right, each) for each in requests)}
    # That one is asked for by the policies, when they look who writes.
    assert {right for right in idle if right.verb != OPERATE_VERB} == set()


def test_the_policies_knew_the_operator(life: Life, cluster: Cluster, account: User) -> None:
    entries = cluster.audited(account.name)
    assert any(entry["objectRef"].get("subresource") == "status" for entry in entries)
    asked = [("create", "SelfSubjectAccessReview", kind.plural, OPERATE_VERB) for kind in KINDS]
    with cluster.session(account) as session:
        for _, kind, plural, verb in asked:
            attributes = {"verb": verb, "group": KINDS[0].api_version.split("/")[0]}
            body = {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": kind,
                "spec": {"resourceAttributes": attributes | {"resource": plural}},
            }
            path = f"{cluster.url}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
            assert session.post(path, json=body, timeout=10).json()["status"]["allowed"]


def test_every_series_of_alerts_and_dashboard_is_in_a_scrape(
    life: Life,
) -> None:
    scraped = set(re.findall(r"^([a-z_]+)[{ ]", life.scrape, re.MULTILINE))
    expressions = [rule["expr"] for rule in alerts()] + [expr for _, expr in panels()]
    wanted = set[str]().union(*(uses(expression).series for expression in expressions))
    # That one has its first series with the first failure, and this life may have had none.
    assert "# TYPE lldap_operator_informer_failures_total counter" in life.scrape
    assert wanted - scraped <= {"lldap_operator_informer_failures_total"}


def test_no_password_is_in_what_people_can_read(life: Life, cluster: Cluster) -> None:
    shown = [
        life.log,
        life.scrape,
        cluster.kubectl("get", "events", "-A", "-o", "yaml").stdout,
        cluster.kubectl("get", ",".join(kind.plural for kind in KINDS), "-A", "-o", "yaml").stdout,
    ]
    assert all(len(text) > 100 for text in shown)
    assert not [text for text in shown if CANARY in text]


def test_the_doctor_finds_nothing_wrong_with_the_operators_own_account(
    life: Life, cluster: Cluster, account: User, lldap: LiveLldap, tmp_path: Path
) -> None:
    (tmp_path / "password").write_text(ADMIN_PASSWORD)
    with lldap.door("doctor") as url:
        environ = {
            "KUBECONFIG": str(cluster.write_kubeconfig(account)),
            "LLDAP_URL": url,
            "LLDAP_ADMIN_PASSWORD_FILE": str(tmp_path / "password"),
            "POD_NAMESPACE": HOME,
        }
        detected = {"leader_elect": "true", "log_format": "json", "pod_name": "p"}
        said: list[str] = []
        assert run_doctor(Namespace(), environ, detected, said.append) == 0, said
    assert said[-1] == "nothing is wrong"
    found = "\n".join(said)
    assert "rights in Kubernetes: all " in found
    assert "unknown policy lldap-operator-status" in found, "its Roles do not let it read these"


def test_it_ends_within_its_grace_and_gives_the_lease_back(life: Life, cluster: Cluster) -> None:
    assert life.exit_code == 0
    with cluster.api() as api:
        path = "/apis/coordination.k8s.io/v1/namespaces/lldap-operator/leases"
        lease = api.call("GET", f"{path}/lldap-operator-default").body
    assert lease["spec"].get("holderIdentity", "") == ""
