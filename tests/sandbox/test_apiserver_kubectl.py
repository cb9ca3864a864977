"""What people do with kubectl works on both API servers."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from controller.api import GROUP
from sandbox.controlplane import ControlPlane
from tests.support.envtest import Api
from tests.support.kustomize import KUBECTL, NO_KUBECTL

SECONDS = 30.0

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not KUBECTL, reason=NO_KUBECTL)]

USER = f"""
apiVersion: {GROUP}/v1alpha1
kind: LldapUser
metadata: {{name: NAME, labels: {{{GROUP}/lldap-instance: default}}}}
spec: {{username: NAME, email: NAME@example.org, displayName: SHOWN, passwordPolicy: Ignore}}
"""
READY = {"type": "Ready", "status": "True", "reason": "Verified", "message": "m"}


@dataclass
class Kubectl:
    """kubectl, with a home of its own."""

    environment: dict[str, str]
    folder: Path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [KUBECTL, *arguments],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: str, stdin: str = "", fails: bool = False) -> str:
        with self.start(*arguments) as process:
            output, errors = process.communicate(stdin, timeout=SECONDS)
        assert (process.returncode != 0) == fails, output + errors
        return errors if fails else output

    def apply(self, name: str, shown: str, *more: str, fails: bool = False) -> str:
        text = USER.replace("NAME", name).replace("SHOWN", shown)
        return self("apply", "-f", "-", *more, stdin=text, fails=fails)


@pytest.fixture
def kubectl(crds: ControlPlane, namespace: str, tmp_path: Path) -> Kubectl:
    """kubectl in a namespace of its own."""
    config = crds.write_kubeconfig(crds.admin)
    shutil.copy(config, tmp_path / "config")
    path = os.environ["PATH"]
    environment = {"KUBECONFIG": str(tmp_path / "config"), "HOME": str(tmp_path), "PATH": path}
    kubectl = Kubectl(environment, tmp_path)
    kubectl("config", "set-context", "--current", f"--namespace={namespace}")
    return kubectl


def test_get_shows_the_columns(kubectl: Kubectl) -> None:
    kubectl.apply("ann", "Ann")
    head, row = kubectl("get", "llu").splitlines()
    assert head.split() == ["NAME", "USERNAME", "EMAIL", "READY", "REASON", "AGE"]
    assert row.split()[:3] == ["ann", "ann", "ann@example.org"]
    assert "ann@example.org" in kubectl("get", "lldap", "-A")
    assert "lldapuser." in kubectl("get", "llu,llg", "-o", "name")
    assert json.loads(kubectl("get", "llu", "ann", "-o", "json"))["spec"]["displayName"] == "Ann"
    assert "displayName: Ann" in kubectl("get", "llu", "ann", "-o", "yaml")
    assert "not found" in kubectl("get", "llu", "bob", fails=True)


def test_get_in_chunks_gets_all(kubectl: Kubectl) -> None:
    for name in "abcdefg":
        kubectl.apply(name, name)
    names = kubectl("get", "llu", "--chunk-size=2", "-o", "name").split()
    assert [name[-1] for name in names] == list("abcdefg")


def test_get_watches(kubectl: Kubectl) -> None:
    kubectl.apply("ann", "Ann")
    with kubectl.start("get", "llu", "-w", "-o", "name") as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline().endswith("/ann\n")
            kubectl.apply("bob", "Bob")
            assert process.stdout.readline().endswith("/bob\n")
        finally:
            process.kill()
            process.communicate()


def test_apply_creates_changes_and_says_so(kubectl: Kubectl) -> None:
    assert kubectl.apply("ann", "Ann").endswith("created\n")
    assert kubectl.apply("ann", "Ann").endswith("unchanged\n")
    assert kubectl.apply("ann", "Anna").endswith("configured\n")
    assert "username cannot be changed" in kubectl(
        "patch", "llu", "ann", "--type=merge", "-p", '{"spec":{"username":"bob"}}', fails=True
    )


def test_server_side_apply_conflicts_until_it_is_forced(kubectl: Kubectl) -> None:
    kubectl.apply("ann", "Ann", "--server-side")
    kubectl("patch", "llu", "ann", "--type=merge", "-p", '{"spec":{"displayName":"P"}}')
    told = kubectl.apply("ann", "Anna", "--server-side", fails=True)
    assert 'conflict with "kubectl-patch"' in told
    assert ".spec.displayName" in told
    kubectl.apply("ann", "Anna", "--server-side", "--force-conflicts")
    assert kubectl("get", "llu", "ann", "-o", "jsonpath={.spec.displayName}") == "Anna"


def test_server_side_apply_takes_over_from_client_side(kubectl: Kubectl) -> None:
    kubectl.apply("ann", "Ann")
    assert kubectl.apply("ann", "Anna", "--server-side").endswith("serverside-applied\n")
    assert kubectl.apply("ann", "Ann", "--server-side").endswith("serverside-applied\n")


def test_an_unknown_field_is_refused(kubectl: Kubectl) -> None:
    text = USER.replace("NAME", "ann").replace("SHOWN", "A, bogus: 1")
    assert 'unknown field "spec.bogus"' in kubectl("create", "-f", "-", stdin=text, fails=True)


def test_secrets_are_made_and_shown(kubectl: Kubectl) -> None:
    kubectl("create", "secret", "generic", "s", "--from-literal=password=x")
    row = kubectl("get", "secret").splitlines()[1]
    assert row.split()[:3] == ["s", "Opaque", "1"]
    assert kubectl("get", "secret", "s", "-o", "jsonpath={.data.password}") == "eA=="
    kubectl("patch", "secret", "s", "-p", '{"stringData":{"password":"y"}}')
    assert kubectl("get", "secret", "s", "-o", "jsonpath={.data.password}") == "eQ=="
    kubectl("delete", "secret", "s")


def test_edit_label_annotate_replace(kubectl: Kubectl) -> None:
    kubectl.apply("ann", "Ann")
    editor = kubectl.folder / "editor.sh"
    editor.write_text("#!/bin/sh\nsed -i 's/displayName: Ann/displayName: Edited/' \"$1\"\n")
    editor.chmod(0o700)
    kubectl.environment["EDITOR"] = str(editor)
    kubectl("edit", "llu", "ann")
    assert kubectl("get", "llu", "ann", "-o", "jsonpath={.spec.displayName}") == "Edited"
    kubectl("label", "llu", "ann", "a=b")
    kubectl("annotate", "llu", "ann", "c=d")
    assert len(kubectl("get", "llu", "-l", "a=b").splitlines()) == 2
    text = USER.replace("NAME", "ann").replace("SHOWN", "Replaced")
    assert kubectl("replace", "-f", "-", stdin=text).endswith("replaced\n")


def test_delete_waits_for_finalizers(kubectl: Kubectl) -> None:
    kubectl.apply("ann", "Ann")
    kubectl("patch", "llu", "ann", "--type=merge", "-p", '{"metadata":{"finalizers":["a.b/c"]}}')
    with kubectl.start("delete", "llu", "ann") as deletion:
        assert deletion.stdout is not None
        assert deletion.stdout.readline().endswith("deleted\n")
        assert kubectl("get", "llu", "ann", "-o", "jsonpath={.metadata.deletionTimestamp}")
        remove = '[{"op":"remove","path":"/metadata/finalizers/0"}]'
        kubectl("patch", "llu", "ann", "--type=json", "-p", remove)
        deletion.communicate(timeout=SECONDS)
    assert deletion.returncode == 0
    kubectl("wait", "--for=delete", "llu/ann", "--timeout=5s")


def test_wait_sees_a_condition_come(kubectl: Kubectl) -> None:
    kubectl.apply("ann", "Ann")
    with kubectl.start("wait", "--for=condition=Ready", "llu/ann", "--timeout=20s") as waiting:
        condition = {**READY, "lastTransitionTime": "2026-01-01T00:00:00Z"}
        patch = json.dumps({"status": {"conditions": [condition]}})
        kubectl("patch", "llu", "ann", "--subresource=status", "--type=merge", "-p", patch)
        output, errors = waiting.communicate(timeout=SECONDS)
    assert output.endswith("condition met\n"), errors


def test_describe_shows_events(kubectl: Kubectl, admin: Api) -> None:
    kubectl.apply("ann", "Ann")
    live = json.loads(kubectl("get", "llu", "ann", "-o", "json"))["metadata"]
    event = {
        "metadata": {"name": "ann.1"},
        "eventTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "reportingController": GROUP,
        "reportingInstance": "pod",
        "action": "Create",
        "reason": "UserCreated",
        "type": "Normal",
        "note": "it is there now",
        "regarding": {
            "kind": "LldapUser",
            "name": "ann",
            "namespace": live["namespace"],
            "uid": live["uid"],
            "apiVersion": f"{GROUP}/v1alpha1",
        },
    }
    path = f"/apis/events.k8s.io/v1/namespaces/{live['namespace']}/events"
    answer = admin.call("POST", path, event)
    assert answer.status == 201, answer.body
    assert re.search(r"Normal\s+UserCreated.*it is there now", kubectl("describe", "llu", "ann"))
    assert "it is there now" in kubectl("get", "events")
    assert "it is there now" in kubectl("events", "--for", "llu/ann")


def test_what_there_is_can_be_asked(kubectl: Kubectl) -> None:
    assert "<[]Object>" in kubectl("explain", "llu.spec.attributes")
    assert "llas" in kubectl("api-resources", "--categories=lldap")
    for name in ("secrets", "namespaces", "events", "leases", "customresourcedefinitions"):
        assert f"{name} " in kubectl("api-resources")
    assert f"{GROUP}/v1alpha1" in kubectl("api-versions")
    assert kubectl("auth", "can-i", "create", "llu") == "yes\n"
    assert "admin" in kubectl("auth", "whoami")
    assert "resource type" in kubectl("get", "nosuchthing", fails=True)


@pytest.mark.sandbox
def test_a_namespace_ends_with_all_that_is_in_it(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "short-lived")
    kubectl.apply("ann", "Ann", "--namespace=short-lived")
    kubectl("delete", "namespace", "short-lived")
    assert "short-lived" not in kubectl("get", "namespaces")
    assert "not found" in kubectl.apply("bob", "Bob", "--namespace=short-lived", fails=True)
