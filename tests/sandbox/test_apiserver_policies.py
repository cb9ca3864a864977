"""The shipped CRDs and policies do on the sandbox what they do on a real server."""

import pytest

from sandbox.apiserver.authorization import (
    ADMIN,
    ANYTHING,
    AUTHENTICATED,
    Authenticator,
    Authorizer,
    Rule,
    User,
)
from sandbox.apiserver.objects import Object
from tests.sandbox.apiserver_client import ADMISSION, APPLY, GROUP, LABEL, USERS, Client, user

OPERATOR = User("operator", groups=(AUTHENTICATED,))
TENANT = User("tenant", groups=(AUTHENTICATED,))
OPERATE = Rule(verbs=["operate"], groups=[GROUP], resources=["*"], namespaces=["default"])
BUILT_IN = "lldap-resources-operator.lukidoescode.com/built-in"
ALLOWED = pytest.mark.parametrize(
    ("token", "allowed"), [("tenant", False), ("operator", True), ("admin", True)]
)
READY = {
    "type": "Ready",
    "status": "True",
    "reason": "Verified",
    "message": "",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


@pytest.fixture
def client() -> Client:
    client = Client(
        authenticator=Authenticator({"admin": ADMIN, "operator": OPERATOR, "tenant": TENANT}),
        authorizer=Authorizer({"operator": [ANYTHING, OPERATE], "tenant": [ANYTHING]}),
    )
    client.token = "admin"
    client.install("crds", "policies")
    client.token = "tenant"
    return client


def status(**fields: object) -> Object:
    kind = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "LldapUser"}
    return {**kind, "metadata": {"name": "ann"}, "status": fields}


def test_the_instance_label_is_required(client: Client) -> None:
    body = user("ann")
    for labels in ({}, {LABEL: ""}, {LABEL: "Upper"}, {LABEL: "x" * 41}):
        body["metadata"]["labels"] = labels
        assert "is required" in client.refused(422, "POST", USERS, body)
    body["metadata"]["labels"] = {LABEL: "x" * 40}
    assert client.ok("POST", USERS, body)


def test_the_instance_label_is_kept(client: Client) -> None:
    client.ok("POST", USERS, user("ann"))
    for value in ("other", None):
        body = {"metadata": {"labels": {LABEL: value}}}
        told = client.refused(
            403, "PATCH", f"{USERS}/ann", body, content_type="application/merge-patch+json"
        )
        assert "cannot be changed" in told
    client.patch(f"{USERS}/ann", {"metadata": {"labels": {"other": "x"}}})


@pytest.mark.parametrize(
    ("token", "allowed"), [("tenant", False), ("operator", True), ("admin", True)]
)
def test_the_built_in_annotation_is_the_operator_s(
    client: Client, token: str, allowed: bool
) -> None:
    client.token = token
    body = user("ann")
    body["metadata"]["annotations"] = {BUILT_IN: "true"}
    assert client.call("POST", USERS, body).status == (201 if allowed else 403)


@pytest.mark.parametrize(
    ("token", "allowed"), [("tenant", False), ("operator", True), ("admin", True)]
)
def test_status_is_the_operator_s(client: Client, token: str, allowed: bool) -> None:
    client.ok("POST", USERS, user("ann"))
    client.token = token
    path = f"{USERS}/ann/status?fieldManager=m"
    answer = client.call("PATCH", path, status(conditions=[READY]), content_type=APPLY)
    assert answer.status == (200 if allowed else 403)


def test_others_may_add_conditions_of_their_own(client: Client) -> None:
    client.ok("POST", USERS, user("ann"))
    path = f"{USERS}/ann/status?fieldManager=backup"
    assert client.apply(path, status(conditions=[{**READY, "type": "Backup"}]))


def test_what_is_being_deleted_is_let_pass(client: Client) -> None:
    client.ok("POST", USERS, user("ann"))
    client.patch(f"{USERS}/ann", {"metadata": {"finalizers": ["a.b/c"]}})
    client.ok("DELETE", f"{USERS}/ann")
    client.patch(f"{USERS}/ann", {"metadata": {"labels": {LABEL: None}, "finalizers": None}})
    client.refused(404, "GET", f"{USERS}/ann")


def test_a_policy_without_its_binding_does_nothing(client: Client) -> None:
    client.token = "admin"
    name = "lldap-operator-instance-label"
    client.ok("DELETE", f"{ADMISSION}/validatingadmissionpolicybindings/{name}")
    body = user("ann")
    del body["metadata"]["labels"]
    assert client.ok("POST", USERS, body)


def test_a_warning_policy_warns(client: Client) -> None:
    client.token = "admin"
    path = f"{ADMISSION}/validatingadmissionpolicybindings/lldap-operator-instance-label"
    client.patch(path, {"spec": {"validationActions": ["Warn"]}})
    body = user("ann")
    del body["metadata"]["labels"]
    answer = client.call("POST", USERS, body)
    assert answer.status == 201
    assert "is required" in answer.warnings[0]


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        (["MAIL"], "set spec.email"),
        (["uuid"], "lldap itself sets"),
        (["Kubernetes-Owner"], "operator's mark"),
        (["a", "A"], "do not differ by letter case"),
    ],
)
def test_attributes_that_cannot_be_are_refused(
    client: Client, attributes: list[str], problem: str
) -> None:
    listed = [{"name": name, "value": ["x"]} for name in attributes]
    assert problem in client.refused(422, "POST", USERS, user("ann", attributes=listed))


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"username": ".."}, "dots only"),
        ({"username": "ann\n"}, "should match"),
        ({"email": "a\u00a0b@c.d"}, "invisible"),
        ({"email": "nope"}, "should match"),
        ({"passwordPolicy": "Manage"}, "passwordSecretRef is required"),
        ({"displayName": "\u00f6" * 256}, "Too long"),
    ],
)
def test_a_spec_that_cannot_be_is_refused(client: Client, spec: Object, problem: str) -> None:
    assert problem in client.refused(422, "POST", USERS, user("ann", **spec))


def test_null_on_an_optional_field_is_stored_by_apply_and_post(client: Client) -> None:
    created = client.ok("POST", USERS, user("ann", displayName=None))
    assert created["spec"]["displayName"] is None
    body = user("bob", displayName=None)
    applied = client.apply(f"{USERS}/bob?fieldManager=m", body)
    assert applied["spec"]["displayName"] is None
