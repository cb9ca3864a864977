"""A server under the admission policies: a tenant, an operator, and objects older than those."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from controller.api import BUILT_IN_ANNOTATION, LLDAP_USER
from sandbox.controlplane import INSTALLABLE, ControlPlane, User
from tests.support.envtest import ROOT, Answer, Api, Key, manifest, new_namespace
from tests.support.roles import ROLES
from tests.support.sandboxplane import SandboxPlane

FOLDER = ROOT / "deploy" / "policies"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
MARKED = {BUILT_IN_ANNOTATION: "true"}
SPEC = {"username": "alice", "email": "alice@example.org", "passwordPolicy": "Ignore"}


def documents() -> list[dict[str, Any]]:
    return [
        d for file in sorted(FOLDER.glob("*.yaml")) for d in yaml.safe_load_all(file.read_text())
    ]


Unlabelled = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class PolicyNamespace:
    """A namespace with people in it, and objects older than the policies."""

    plane: ControlPlane
    namespace: str
    unlabelled: Unlabelled


@pytest.fixture(scope="module")
def policy_namespace(crds: ControlPlane) -> Iterator[PolicyNamespace]:
    with new_namespace(crds) as namespace:
        with admin_of(crds) as admin:
            grant(admin, namespace, crds)
            unlabelled = {
                name: unlabelled_object(admin, Key(namespace, name))
                for name in ("loses-finalizer", "gets-label", "gets-wrong-label", "stays")
            }
        with policies_on(crds, namespace):
            yield PolicyNamespace(crds, namespace, unlabelled)


@contextmanager
def admin_of(plane: ControlPlane) -> Iterator[Api]:
    with plane.session(plane.admin) as session:
        yield Api(plane.url, session)


def grant(admin: Api, namespace: str, plane: ControlPlane) -> None:
    if isinstance(plane, SandboxPlane):
        return  # its users have their rights from the start
    for role, user in (("tenant", plane.tenant), ("operator", plane.operator)):
        metadata = {"name": role}
        ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user.name}
        for resource, body in (
            ("roles", {"metadata": metadata, "rules": ROLES[role]}),
            ("rolebindings", {"metadata": metadata, "roleRef": ref, "subjects": [subject]}),
        ):
            answer = admin.call("POST", f"{RBAC}/namespaces/{namespace}/{resource}", body)
            assert answer.status == 201, answer.body


def unlabelled_object(admin: Api, key: Key) -> dict[str, Any]:
    obj = manifest(LLDAP_USER, key, SPEC, labels={}, finalizers=[LLDAP_USER.finalizer])
    assert admin.create(LLDAP_USER, obj).status == 201
    return obj


@contextmanager
def policies_on(plane: ControlPlane, namespace: str) -> Iterator[None]:
    """Install the policies until the end of the block, and see that they are on, then off.

    They are the server's, so tests of other modules would meet them.
    """
    plane.install(FOLDER)
    with admin_of(plane) as admin:
        wait_for(lambda: all(denials(plane, admin, namespace)))
        try:
            yield
        finally:
            for document in documents():
                resource, name = INSTALLABLE[document["kind"]], document["metadata"]["name"]
                assert admin.call("DELETE", f"{ADMISSION}/{resource}/{name}").ok
            wait_for(lambda: not any(denials(plane, admin, namespace)))


def denials(plane: ControlPlane, admin: Api, namespace: str) -> list[bool]:
    """Ask something that each policy in turn denies, without doing it."""
    key = Key(namespace, "stays")
    labelled = manifest(LLDAP_USER, key.also("x"), SPEC)
    unlabelled = manifest(LLDAP_USER, key.also("x"), SPEC, labels={})
    marked = manifest(LLDAP_USER, key.also("x"), SPEC, annotations=MARKED)
    with plane.session(plane.tenant) as session:
        tenant = Api(plane.url, session)
        return [
            not admin.create(LLDAP_USER, unlabelled, dryRun="All").ok,
            not tenant.create(LLDAP_USER, marked, dryRun="All").ok,
            not tenant.patch(
                LLDAP_USER,
                labelled | {"metadata": key._asdict()},
                {"status": {"instance": "x"}},
                subresource="/status",
                dryRun="All",
            ).ok,
        ]


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the policies did not come on or go off"
        time.sleep(0.05)


@pytest.fixture
def tenant(policy_namespace: PolicyNamespace, api_of: Callable[[User], Api]) -> Api:
    return api_of(policy_namespace.plane.tenant)


@pytest.fixture
def operator(policy_namespace: PolicyNamespace, api_of: Callable[[User], Api]) -> Api:
    return api_of(policy_namespace.plane.operator)


@pytest.fixture
def unlabelled(policy_namespace: PolicyNamespace) -> Unlabelled:
    """Objects without the instance label, by name: older than the policies."""
    return policy_namespace.unlabelled


def assert_denied(answer: Answer, policy: str, *says: str) -> None:
    assert answer.status in {403, 422}, answer.body
    message = answer.body["message"]
    assert f"ValidatingAdmissionPolicy 'lldap-operator-{policy}'" in message
    for part in says:
        assert part in message
