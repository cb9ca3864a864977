"""Several instances, watched namespaces that come and go, and metrics for who may read them."""

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests
import yaml

from controller.api import LLDAP_USER
from controller.release.release import add_release, run_release
from sandbox.controlplane import User
from tests.deploy.serving import HOME, serve
from tests.deploy.test_folders import SECURE
from tests.support.certificates import Authority
from tests.support.cluster import Cluster, namespace_controller, wait_until
from tests.support.kustomize import overlay
from tests.support.people import People, people

pytestmark = [pytest.mark.slow, pytest.mark.envtest, pytest.mark.timeout(240)]

SECOND = "lldap-operator-team"


@pytest.fixture(scope="module")
def installed(cluster: Cluster) -> Cluster:
    cluster.apply("crds")
    cluster.apply("policies", "operator-namespaced", "second-instance")
    return cluster


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def refused(cluster: Cluster, account: User) -> list[str]:
    """What was refused to an account."""
    return [
        f"{entry['verb']} {entry['objectRef']}"
        for entry in cluster.audited(account.name)
        if entry["responseStatus"]["code"] in {401, 403}
    ]


def end_namespace(cluster: Cluster, team: People) -> None:
    """Delete a namespace and wait until it is gone."""
    cluster.kubectl("delete", "namespace", team.namespace, "--wait=false")
    path = f"/api/v1/namespaces/{team.namespace}"
    wait_until(lambda: not team.api.call("GET", path).ok, f"an end of {team.namespace}", 30.0)


def test_E07_a_watched_namespace_may_come_go_and_come_again(
    installed: Cluster, stack: ExitStack, tmp_path: Path
) -> None:
    account = installed.account(HOME, "lldap-operator")
    watched = {"WATCH_NAMESPACES": f"{HOME},team-late"}
    replica, lldap = serve(stack, installed, account, tmp_path, **watched)
    stack.enter_context(namespace_controller(installed))
    home = stack.enter_context(people(installed, HOME))
    home.user("carol", deletionPolicy="Delete")
    home.wait("LldapUser", "carol")
    # Not there is 403 for such an account: readiness names it, and the other namespace is served.
    assert replica.probe("/readyz") == 503
    assert replica.probe("/healthz") == 200

    for _ in range(2):
        team = stack.enter_context(people(installed, "team-late"))
        installed.kubectl("apply", "-n", "team-late", "-k", "deploy/watched-namespace")
        team.user("alice", deletionPolicy="Delete")
        team.wait("LldapUser", "alice")
        wait_until(lambda: replica.probe("/readyz") == 200, "readiness")
        assert "alice" in lldap.directory()["users"]

        # First the objects: with the namespace its RoleBinding goes, at any moment.
        team.delete("LldapUser", "alice")
        team.wait_gone("LldapUser", "alice")
        assert "alice" not in lldap.directory()["users"]
        end_namespace(installed, team)
    home.delete("LldapUser", "carol")
    home.wait_gone("LldapUser", "carol")
    assert replica.stop() == 0


def test_objects_that_lost_their_role_binding_with_their_namespace_are_freed_by_release(
    installed: Cluster, stack: ExitStack, tmp_path: Path
) -> None:
    account = installed.account(HOME, "lldap-operator")
    watched = {"WATCH_NAMESPACES": f"{HOME},team-lost"}
    team = stack.enter_context(people(installed, "team-lost"))
    installed.kubectl("apply", "-n", "team-lost", "-k", "deploy/watched-namespace")
    replica, _ = serve(stack, installed, account, tmp_path, **watched)
    team.user("alice", deletionPolicy="Delete")
    team.wait("LldapUser", "alice")
    installed.kubectl("delete", "-n", "team-lost", "-k", "deploy/watched-namespace")
    stack.enter_context(namespace_controller(installed))
    installed.kubectl("delete", "namespace", "team-lost", "--wait=false")
    wait_until(
        lambda: "deletionTimestamp" in (team.get("LldapUser", "alice") or {}).get("metadata", {}),
        "alice is being deleted",
    )
    assert replica.running

    parser = ArgumentParser()
    add_release(parser)
    arguments = parser.parse_args(["--namespace=team-lost"])
    environ = {"KUBECONFIG": str(installed.write_kubeconfig(installed.admin))}
    assert run_release(arguments, environ, {}, print) == 0
    path = "/api/v1/namespaces/team-lost"
    wait_until(lambda: not team.api.call("GET", path).ok, "an end of the namespace")


def test_rights_end_at_the_watched_namespaces(installed: Cluster) -> None:
    account = installed.account(HOME, "lldap-operator")
    installed.make_namespace("team-other")
    with installed.session(account) as session:
        for path in (
            "/api/v1/secrets",
            "/api/v1/namespaces/team-other/secrets",
            f"/apis/{LLDAP_USER.api_version}/lldapusers",
        ):
            assert session.get(installed.url + path, timeout=10).status_code == 403


def test_E06_with_rights_everywhere_a_namespace_goes_with_its_objects(
    installed: Cluster, stack: ExitStack, tmp_path: Path
) -> None:
    installed.kubectl("apply", "--server-side", "--force-conflicts", "-k", "deploy/operator")
    account = installed.account(HOME, "lldap-operator")
    _, lldap = serve(stack, installed, account, tmp_path)
    stack.enter_context(namespace_controller(installed))
    for _ in range(2):
        team = stack.enter_context(people(installed, "team-brief"))
        fill(team)
        end_namespace(installed, team)
        directory = lldap.directory()
        assert set(directory["users"]) == {"admin"}
        assert "staff" not in {each["display_name"] for each in directory["groups"].values()}


def fill(team: People) -> None:
    """Twenty objects of all kinds."""
    names = [f"person-{n}" for n in range(9)]
    team.attribute("badge", deletionPolicy="Delete")
    team.group("staff", deletionPolicy="Delete")
    for name in names:
        team.user(name, deletionPolicy="Delete", attributes=[{"name": "badge", "value": [name]}])
        team.membership(name, "staff")
    for name in names:
        team.wait("LldapMembership", f"{name}-staff")


def test_two_instances_serve_each_their_own_objects_and_lldap(
    installed: Cluster, stack: ExitStack, tmp_path: Path
) -> None:
    installed.kubectl("apply", "--server-side", "--force-conflicts", "-k", "deploy/operator")
    first = installed.account(HOME, "lldap-operator")
    second = installed.account(SECOND, "lldap-operator-team")
    earlier = len(refused(installed, first))
    _, lldap = serve(stack, installed, first, tmp_path / "first")
    _, other_lldap = serve(
        stack,
        installed,
        second,
        tmp_path / "second",
        POD_NAMESPACE=SECOND,
        LLDAP_INSTANCE="team",
    )
    team = stack.enter_context(people(installed, "team-a"))
    others = People(team.api, "team-a", instance="team")
    team.user("alice")
    others.user("bob")
    team.wait("LldapUser", "alice")
    others.wait("LldapUser", "bob")
    for name, home in (("default", HOME), ("team", SECOND)):
        People(team.api, home).wait("LldapGroup", f"{name}--lldap-admin", "BuiltIn")

    assert {"alice"} == set(lldap.directory()["users"]) - {"admin"}
    assert {"bob"} == set(other_lldap.directory()["users"]) - {"admin"}
    assert refused(installed, first)[earlier:] == []
    assert refused(installed, second) == []
    for name in ("alice", "bob"):
        team.delete("LldapUser", name)
        team.wait_gone("LldapUser", name)


# --- metrics -----------------------------------------------------------------------------------


def test_metrics_are_for_who_may_read_them(
    installed: Cluster, stack: ExitStack, tmp_path: Path
) -> None:
    manifests = overlay(tmp_path, SECURE)
    rights = [each for each in manifests if "metrics" in each["metadata"]["name"]]
    installed.kubectl("apply", "-f", "-", text=yaml.safe_dump_all(rights))
    account = installed.account(HOME, "lldap-operator")
    authority = Authority("metrics")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    authority.issue(certificate, key)
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    replica, _ = serve(
        stack,
        installed,
        account,
        tmp_path / "operator",
        METRICS_AUTH="true",
        METRICS_TLS_CERT_FILE=str(certificate),
        METRICS_TLS_KEY_FILE=str(key),
    )
    wait_until(lambda: replica.probe("/healthz") == 200, "life")
    installed.make_namespace("monitoring")
    for name in ("prometheus", "stranger"):
        installed.kubectl("create", "serviceaccount", name, "-n", "monitoring")
    installed.kubectl(
        *("create", "clusterrolebinding", "prometheus-reads-metrics"),
        *("--clusterrole=lldap-operator-metrics-reader", "--serviceaccount=monitoring:prometheus"),
    )

    def scrape(token: str | None) -> requests.Response:
        return requests.get(
            f"https://127.0.0.1:{replica.metrics_port}/metrics",
            headers={} if token is None else {"Authorization": f"Bearer {token}"},
            verify=str(tmp_path / "ca.crt"),
            timeout=10,
        )

    assert scrape(None).status_code == 401
    assert scrape("not-a-token").status_code == 401
    assert scrape(installed.token("monitoring", "stranger")).status_code == 403
    prometheus = installed.token("monitoring", "prometheus")
    wait_until(lambda: scrape(prometheus).status_code == 200, "the right to read")
    assert "lldap_operator_build_info" in scrape(prometheus).text
    assert prometheus not in replica.text()
