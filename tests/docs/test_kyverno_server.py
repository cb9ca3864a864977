"""The Kyverno patterns and the manifests for other tools on a real API server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from sandbox.controlplane import INSTALLABLE, ControlPlane
from tests.support.docpages import DOCS, ROOT
from tests.support.envtest import JSON_PATCH, Answer, Api, drop_finalizers, end_namespace
from tests.support.kyverno import CASES, CRDS, FOLDER, PATTERNS, Case, as_admission_policy, policy
from tests.support.policies import admin_of, grant, wait_for

pytestmark = [pytest.mark.envtest, pytest.mark.slow]

EXTERNAL = ROOT / "tests" / "data" / "external-secrets"
MANIFESTS = [*sorted(FOLDER.glob("*.yaml")), DOCS / "examples/rotation/rotation.yaml"]
PLACES = {
    "ValidatingPolicy": "validatingpolicies",
    "GeneratingPolicy": "generatingpolicies",
    "ClusterRole": "clusterroles",
    "Password": "namespaces/default/passwords",
    "ExternalSecret": "namespaces/default/externalsecrets",
    "LldapUser": "namespaces/default/lldapusers",
}


def remove(plane: ControlPlane, session: requests.Session, document: dict[str, Any]) -> None:
    kind, name = INSTALLABLE[document["kind"]], document["metadata"]["name"]
    answer = session.delete(f"{plane.url}/apis/{document['apiVersion']}/{kind}/{name}", timeout=10)
    assert answer.ok, answer.text


@pytest.fixture(scope="module")
def others_crds(crds: ControlPlane) -> Iterator[ControlPlane]:
    """With the kinds of Kyverno and External Secrets until the end of the module."""
    folders = (CRDS, EXTERNAL)
    for folder in folders:
        crds.install(folder)
    yield crds
    with crds.session(crds.admin) as session:
        for path in (path for folder in folders for path in folder.glob("*.yaml")):
            remove(crds, session, yaml.safe_load(path.read_text()))


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_the_manifests_fit_the_schemas_of_those_who_read_them(
    path: Path, others_crds: ControlPlane, admin: Api
) -> None:
    for document in yaml.safe_load_all(path.read_text()):
        at = f"/apis/{document['apiVersion']}/{PLACES[document['kind']]}"
        answer = admin.call("POST", at, document, dryRun="All", fieldValidation="Strict")
        assert answer.status == 201, answer.body
        assert not answer.warning
        document.setdefault("spec", {})["nonsense"] = 1
        refused = admin.call("POST", at, document, dryRun="All", fieldValidation="Strict")
        assert refused.status == 400
        assert "unknown field" in refused.body["message"]


# --- the validating patterns as Kubernetes' own policies ------------------------------------------

NAMESPACES = sorted({case.namespace for case in CASES})
DENIED = [case for case in CASES if case.says]
OLD = {str(case): f"old-{number}" for number, case in enumerate(DENIED)}


@pytest.fixture(scope="module")
def guarded(crds: ControlPlane) -> Iterator[ControlPlane]:
    """A server with namespaces, objects that are older than the policies, and the policies."""
    translated = [d for name in PATTERNS[1:] for d in as_admission_policy(policy(name))]
    with admin_of(crds) as admin, crds.session(crds.admin) as session:
        for name in NAMESPACES:
            answer = admin.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
            assert answer.status == 201, answer.body
            grant(admin, name, crds)
        for case in DENIED:
            obj = case.new(OLD[str(case)])
            obj["metadata"]["finalizers"] = [case.kind.finalizer]
            assert admin.create(case.kind, obj).status == 201
        for document in translated:
            crds._apply(session, document)
        wait_for(lambda: all(stopped(admin)))
        yield crds
        for document in translated:
            remove(crds, session, document)
        wait_for(lambda: not any(stopped(admin)))
        with crds.client(crds.admin) as client:
            for name in NAMESPACES:
                drop_finalizers(client, name)
                end_namespace(client, name)


def stopped(admin: Api) -> list[bool]:
    return [not admin.create(case.kind, case.new("x"), dryRun="All").ok for case in DENIED]


@pytest.fixture
def session(guarded: ControlPlane) -> Iterator[requests.Session]:
    with guarded.session(guarded.admin) as session:
        yield session


def as_tenant(plane: ControlPlane, session: requests.Session, case: Case) -> Api:
    """The tenant, in the one group of the case."""
    session.headers["Impersonate-User"] = plane.tenant.name
    for group in case.groups:
        session.headers["Impersonate-Group"] = group
    return Api(plane.url, session)


def assert_denied(answer: Answer, case: Case) -> None:
    assert answer.status == 422
    assert f"ValidatingAdmissionPolicy 'lldap-{case.policy}'" in answer.body["message"]
    assert case.says in answer.body["message"]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_who_may_write_what(case: Case, guarded: ControlPlane, session: requests.Session) -> None:
    answer = as_tenant(guarded, session, case).create(case.kind, case.new("new"), dryRun="All")
    if case.says:
        assert_denied(answer, case)
    else:
        assert answer.status == 201, answer.body


@pytest.mark.parametrize("case", DENIED, ids=str)
def test_what_is_older_than_the_policy_is_not_held_up(
    case: Case, guarded: ControlPlane, session: requests.Session
) -> None:
    api, obj = as_tenant(guarded, session, case), case.new(OLD[str(case)])
    finalizers = {"metadata": {"finalizers": [case.kind.finalizer, "example.org/another"]}}
    assert api.patch(case.kind, obj, finalizers).status == 200
    changed = {"spec": {"deletionPolicy": "Retain"}}
    assert_denied(api.patch(case.kind, obj, changed, dryRun="All"), case)
    metadata = obj["metadata"]
    assert api.delete(case.kind, metadata["namespace"], metadata["name"]).status == 200
    off = [{"op": "remove", "path": "/metadata/finalizers"}]
    assert api.patch(case.kind, obj, off, content_type=JSON_PATCH).status == 200
    assert api.get(case.kind, metadata["namespace"], metadata["name"]).status == 404


def test_the_generating_expression_is_one_for_kubernetes_cel(crds: ControlPlane) -> None:
    """Its types are checked when it is admitted; `generator` is Kyverno's and is left out."""
    pattern = policy("default-group")["spec"]
    checked = {
        "metadata": {"name": "default-group"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": pattern["matchConstraints"],
            "matchConditions": pattern["matchConditions"],
            "variables": pattern["variables"],
            "validations": [{"expression": "variables.memberships.size() == 1"}],
        },
    }
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    with admin_of(crds) as admin:
        answer = admin.call("POST", path, checked, dryRun="All", fieldValidation="Strict")
        assert answer.status == 201, answer.body
        pattern["variables"][0]["expression"] += " + 1"
        assert admin.call("POST", path, checked, dryRun="All").status == 422
