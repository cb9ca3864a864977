"""Uninstalling empties no lldap, whatever is deleted first and whatever the operator does."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.api import GROUP, KINDS
from tests.support.cluster import Cluster, items, namespace_controller, wait_until
from tests.support.envtest import Api
from tests.support.kustomize import DEPLOY, KUBECTL, ROOT
from tests.support.live import ADMIN_PASSWORD, LiveLldap, Replica, new_lldap, running
from tests.support.people import People

pytestmark = [pytest.mark.slow, pytest.mark.envtest, pytest.mark.timeout(180)]

HOME = "lldap-operator"
INSTALLED = ("policies", "user-roles", "operator")
DELETED = {
    "crds": ("crds",),
    "policies": ("policies",),
    "user-roles": ("user-roles",),
    "operator": ("operator",),
    "all-in-one": ("all-in-one",),
    "everything at once": ("crds", "all-in-one"),
    "operator-namespaced": ("operator-namespaced",),
    "watched-namespace": ("watched-namespace",),
    "second-instance": ("second-instance",),
    "monitoring": ("monitoring",),
}
"""What is installed only by some is applied first, on top of what all have."""

BESIDE = {"operator-namespaced", "watched-namespace", "second-instance", "monitoring"}
SECONDS = 40.0


@pytest.fixture
def people(cluster: Cluster) -> Iterator[People]:
    """Everything is installed, as if for the first time; nothing of ours is left at the end."""
    with cluster.api() as api, namespace_controller(cluster):
        cluster.apply("crds")
        cluster.install(ROOT / "tests" / "data" / "deploy")  # what monitoring needs
        cluster.make_namespace("team-a")
        cluster.apply(*INSTALLED)
        cluster.released_lease(HOME, "lldap-operator-default")
        yield People(api, "team-a")
        delete(cluster, "all-in-one", "second-instance", "crds")
        release(cluster)
        wait_until(lambda: not leftovers(api), f"an end: {leftovers(api)}", SECONDS)


def delete(cluster: Cluster, *folders: str) -> None:
    """`kubectl delete -k` of all of them at the same time."""
    kubeconfig = cluster.write_kubeconfig(cluster.admin)
    begun = [
        subprocess.Popen(
            [
                *(KUBECTL, f"--kubeconfig={kubeconfig}", "delete", "--ignore-not-found"),
                *("--wait=false", *_namespace(folder), "-k", str(DEPLOY / folder)),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for folder in folders
    ]
    for each in begun:
        each.wait(60)


def _namespace(folder: str) -> list[str]:
    return ["--namespace=team-a"] if folder == "watched-namespace" else []


def leftovers(api: Api) -> list[str]:
    """Namespaces of ours, CRDs and objects that are being deleted and are not gone."""
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    ours = [f"/apis/{GROUP}/v1alpha1/{kind.plural}" for kind in KINDS]
    return [
        f"{path} {item['metadata']['name']}"
        for path in ("/api/v1/namespaces", definitions, *ours)
        for item in items(api, path)
        if "deletionTimestamp" in item["metadata"]
    ]


def populate(people: People) -> None:
    people.attribute("badge", deletionPolicy="Delete")
    people.user("alice", deletionPolicy="Delete", attributes=[{"name": "badge", "value": ["7"]}])
    people.user("bob", deletionPolicy="Delete")
    people.group("staff", deletionPolicy="Delete")
    people.membership("alice", "staff", deletionPolicy="Delete")
    for kind, name in (
        ("LldapUser", "bob"),
        ("LldapUser", "alice"),
        ("LldapMembership", "alice-staff"),
    ):
        people.wait(kind, name)


def content(lldap: LiveLldap) -> dict[str, Any]:
    """Who is in lldap, with which e-mail, in which groups, with which badge."""
    directory = lldap.directory()
    return {
        "users": {
            name: (user["mail"], user.get("badge")) for name, user in directory["users"].items()
        },
        "groups": {group["display_name"]: group["links"] for group in directory["groups"].values()},
    }


def release(cluster: Cluster, url: str = "") -> subprocess.CompletedProcess[str]:
    """As somebody who uninstalls runs it."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(cluster.folder),
        "KUBECONFIG": str(cluster.write_kubeconfig(cluster.admin)),
        "LLDAP_URL": url,
        "LLDAP_ADMIN_PASSWORD": ADMIN_PASSWORD if url else "",
    }
    return subprocess.run(
        [sys.executable, "-m", "controller", "release", "--all"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("operator", ["alive", "killed", "stopped"])
@pytest.mark.parametrize("what", DELETED)
def test_E11_lldap_holds_all_and_after_release_nothing_is_left_terminating(
    cluster: Cluster, people: People, tmp_path: Path, what: str, operator: str
) -> None:
    lldap = new_lldap()
    account = cluster.account(HOME, "lldap-operator")
    with lldap.door() as url:
        environ = {"KUBECONFIG": str(cluster.write_kubeconfig(account)), "LLDAP_URL": url}
        replica = Replica("operator", tmp_path, environ)
        with running(replica):
            replica.wait_ready()
            populate(people)
            for folder in BESIDE.intersection(DELETED[what]):
                cluster.kubectl(
                    *("apply", "--server-side", *_namespace(folder), "-k", str(DEPLOY / folder))
                )
            before = content(lldap)
            assert before["groups"]["staff"] == ["alice"]
            if operator == "killed":
                replica.kill()
            elif operator == "stopped":
                assert replica.stop() == 0

            delete(cluster, *DELETED[what])
            _look_on(people.api, lldap, before, replica)

            if replica.running:
                replica.stop()
            released = release(cluster, url)
            assert released.returncode == 0, released.stdout + released.stderr
            wait_until(lambda: not leftovers(people.api), "nothing that is Terminating", SECONDS)
            assert content(lldap) == before


def _look_on(api: Api, lldap: LiveLldap, before: dict[str, Any], replica: Replica) -> None:
    """Until nothing moves any more, or for some seconds where something stays Terminating."""
    for _ in range(50 if replica.running else 10):
        assert content(lldap) == before
        if not leftovers(api):
            break
        time.sleep(0.1)
    assert content(lldap) == before
