"""A real API server takes every manifest, and Pod Security the operator's Pod."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.cluster import Cluster
from tests.support.envtest import ROOT, Answer, Api
from tests.support.kustomize import DEPLOY, FOLDERS, build, one

pytestmark = [pytest.mark.slow, pytest.mark.envtest]

Pod = dict[str, Any]
NAMESPACES = ("lldap-operator", "lldap-operator-team", "lldap")


@pytest.fixture(scope="module")
def prepared(cluster: Cluster) -> Cluster:
    """The server with the kinds, ours and the Prometheus operator's, and all namespaces."""
    cluster.install(DEPLOY / "crds")
    cluster.install(ROOT / "tests" / "data" / "deploy")
    for name in NAMESPACES:
        cluster.make_namespace(name)
    return cluster


@pytest.fixture
def admin(prepared: Cluster) -> Iterator[Api]:
    with prepared.api() as api:
        yield api


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_passes_a_dry_run_without_a_warning(prepared: Cluster, folder: str) -> None:
    ran = prepared.kubectl(
        "apply",
        "--server-side",
        "--dry-run=server",
        "--validate=strict",
        *(["--namespace=default"] if folder == "watched-namespace" else []),
        f"--kustomize={DEPLOY / folder}",
    )
    assert ran.stdout.count("serverside-applied") == len(build(folder))
    assert not ran.stderr


def test_a_strict_dry_run_sees_a_misspelt_field(prepared: Cluster) -> None:
    built = (DEPLOY / "operator" / "poddisruptionbudget.yaml").read_text()
    ran = prepared.kubectl(
        *("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-"),
        text=built.replace("maxUnavailable", "maxUnvailable"),
        check=False,
    )
    assert "maxUnvailable" in ran.stderr


# --- Pod Security --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def restricted(prepared: Cluster) -> str:
    """The namespace as we ship it."""
    prepared.kubectl("apply", "-f", str(DEPLOY / "operator" / "namespace.yaml"))
    prepared.kubectl("apply", "-f", str(DEPLOY / "lldap" / "namespace.yaml"))
    return "lldap-operator"


def pod_of(manifest: dict[str, Any]) -> Pod:
    template = manifest["spec"]["template"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "p-", "labels": template["metadata"]["labels"]},
        "spec": copy.deepcopy(template["spec"]),
    }


def admitted(admin: Api, namespace: str, pod: Pod) -> Answer:
    return admin.call("POST", f"/api/v1/namespaces/{namespace}/pods", pod, dryRun="All")


@pytest.mark.parametrize(
    "folder", ["operator", "operator-namespaced", "second-instance", "all-in-one"]
)
def test_the_pod_is_admitted(admin: Api, restricted: str, folder: str) -> None:
    deployment = next(
        each
        for each in build(folder)
        if each["kind"] == "Deployment" and "operator" in each["metadata"]["name"]
    )
    answer = admitted(admin, restricted, pod_of(deployment))
    assert answer.status == 201, answer.body
    assert not answer.warning


@pytest.mark.parametrize(
    ("kind", "name"), [("Deployment", "lldap"), ("StatefulSet", "lldap-postgres")]
)
def test_the_pods_of_the_sample_lldap_are_admitted(
    admin: Api, restricted: str, kind: str, name: str
) -> None:
    pod = pod_of(one(build("lldap"), kind, name))
    claims = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    pod["spec"]["volumes"] += claims if kind == "StatefulSet" else []
    answer = admitted(admin, "lldap", pod)
    assert answer.status == 201, answer.body


def _pod(**fields: Any) -> Callable[[Pod], None]:
    return lambda pod: pod["spec"].update(fields)


def _container(**fields: Any) -> Callable[[Pod], None]:
    return lambda pod: pod["spec"]["containers"][0].update(fields)


def _pod_security(**fields: Any) -> Callable[[Pod], None]:
    return lambda pod: pod["spec"]["securityContext"].update(fields)


def _container_security(**fields: Any) -> Callable[[Pod], None]:
    return lambda pod: pod["spec"]["containers"][0]["securityContext"].update(fields)


def _without(*path: str) -> Callable[[Pod], None]:
    def remove(pod: Pod) -> None:
        at = pod["spec"]
        for step in path[:-1]:
            at = at[step] if step != "container" else at["containers"][0]
        del at[path[-1]]

    return remove


def _all(*changes: Callable[[Pod], None]) -> Callable[[Pod], None]:
    def change(pod: Pod) -> None:
        for each in changes:
            each(pod)

    return change


def _volume(**source: Any) -> Callable[[Pod], None]:
    return lambda pod: pod["spec"]["volumes"].append({"name": "more", **source})


BROKEN = {
    "no runAsNonRoot": _without("securityContext", "runAsNonRoot"),
    "runAsNonRoot false": _pod_security(runAsNonRoot=False),
    "runAsUser 0": _pod_security(runAsUser=0),
    "container runAsUser 0": _container_security(runAsUser=0),
    "no seccompProfile": _without("securityContext", "seccompProfile"),
    "seccompProfile Unconfined": _pod_security(seccompProfile={"type": "Unconfined"}),
    "no allowPrivilegeEscalation": _without(
        "container", "securityContext", "allowPrivilegeEscalation"
    ),
    "allowPrivilegeEscalation": _container_security(allowPrivilegeEscalation=True),
    "no capabilities dropped": _without("container", "securityContext", "capabilities"),
    "some capabilities dropped": _container_security(capabilities={"drop": ["NET_RAW"]}),
    "a capability added": _container_security(capabilities={"drop": ["ALL"], "add": ["SYS_TIME"]}),
    "privileged": _container_security(privileged=True, allowPrivilegeEscalation=True),
    "procMount": _all(_container_security(procMount="Unmasked"), _pod(hostUsers=False)),
    "hostNetwork": _pod(hostNetwork=True),
    "hostPID": _pod(hostPID=True),
    "hostIPC": _pod(hostIPC=True),
    "hostPort": _container(ports=[{"containerPort": 8080, "hostPort": 8080}]),
    "hostPath": _volume(hostPath={"path": "/etc"}),
    "nfs": _volume(nfs={"server": "s", "path": "/p"}),
    "sysctl": _pod_security(sysctls=[{"name": "kernel.msgmax", "value": "1"}]),
    "seLinux user": _pod_security(seLinuxOptions={"user": "root"}),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_the_pod_is_refused_with_one_field_broken(admin: Api, restricted: str, broken: str) -> None:
    pod = pod_of(one(build("operator"), "Deployment"))
    BROKEN[broken](pod)
    answer = admitted(admin, restricted, pod)
    assert answer.status == 403, answer.body
    assert 'violates PodSecurity "restricted:latest"' in answer.body["message"]
