"""Namespaces and CRDs end with what they hold, as soon as finalizers let them."""

import pytest

from sandbox.apiserver.objects import Object
from tests.sandbox.apiserver_client import CRDS, GROUP, KINDS, USERS, Client, user

NAMESPACE = "/api/v1/namespaces/team"
TEAM_USERS = f"{KINDS}/namespaces/team/lldapusers"
CRD = f"{CRDS}/lldapusers.{GROUP}"
PINNED: Object = {"finalizers": ["a.b/c"]}


@pytest.fixture
def client() -> Client:
    client = Client()
    client.install("crds")
    client.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "team"}})
    return client


def pin(client: Client, path: str) -> None:
    client.patch(path, {"metadata": PINNED})


def unpin(client: Client, path: str) -> None:
    client.patch(path, {"metadata": {"finalizers": None}})


def test_a_namespace_goes_when_it_is_empty(client: Client) -> None:
    client.ok("POST", TEAM_USERS, user("ann"))
    client.ok("POST", f"{NAMESPACE}/secrets", {"metadata": {"name": "s"}})
    assert client.ok("DELETE", NAMESPACE)["status"] == {"phase": "Terminating"}
    client.server.step()
    client.refused(404, "GET", f"{TEAM_USERS}/ann")
    client.refused(404, "GET", NAMESPACE)


def test_a_finalizer_holds_its_namespace(client: Client) -> None:
    client.ok("POST", TEAM_USERS, user("ann"))
    pin(client, f"{TEAM_USERS}/ann")
    client.ok("DELETE", NAMESPACE)
    client.server.step()
    assert client.ok("GET", f"{TEAM_USERS}/ann")["metadata"]["deletionTimestamp"]
    assert "being terminated" in client.refused(403, "POST", TEAM_USERS, user("bob"))
    client.server.step()
    unpin(client, f"{TEAM_USERS}/ann")
    client.server.step()
    client.refused(404, "GET", NAMESPACE)


def test_other_namespaces_keep_what_they_have(client: Client) -> None:
    client.ok("POST", USERS, user("ann"))
    client.ok("DELETE", NAMESPACE)
    client.server.step()
    assert client.ok("GET", f"{USERS}/ann")


def test_a_namespace_can_come_again(client: Client) -> None:
    first = client.ok("GET", NAMESPACE)["metadata"]["uid"]
    client.ok("DELETE", NAMESPACE)
    client.server.step()
    again = client.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "team"}})
    assert again["metadata"]["uid"] != first


def test_a_crd_takes_its_objects_with_it(client: Client) -> None:
    client.ok("POST", USERS, user("ann"))
    client.ok("DELETE", CRD)
    client.server.step()
    assert client.call("GET", USERS).status == 404
    client.refused(404, "GET", CRD)


def test_a_finalizer_holds_its_crd(client: Client) -> None:
    client.ok("POST", USERS, user("ann"))
    pin(client, f"{USERS}/ann")
    client.ok("DELETE", CRD)
    client.server.step()
    assert client.ok("GET", CRD)["metadata"]["deletionTimestamp"]
    assert client.ok("GET", f"{USERS}/ann")["metadata"]["deletionTimestamp"]
    assert "terminating" in client.refused(403, "POST", USERS, user("bob"))
    unpin(client, f"{USERS}/ann")
    client.server.step()
    client.refused(404, "GET", CRD)


def test_a_crd_that_comes_again_serves_no_old_objects(client: Client) -> None:
    client.ok("POST", USERS, user("ann"))
    crd = client.ok("GET", CRD)
    client.ok("DELETE", CRD)
    client.server.step()
    fresh = {key: crd[key] for key in ("apiVersion", "kind", "spec")}
    client.ok("POST", CRDS, {**fresh, "metadata": {"name": crd["metadata"]["name"]}})
    assert client.ok("GET", USERS)["items"] == []


def test_a_crd_with_a_rule_that_does_not_compile_is_refused(client: Client) -> None:
    crd = client.ok("GET", CRD)
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"][
        "x-kubernetes-validations"
    ] = [{"rule": "self.username =="}]
    assert "openAPIV3Schema" in client.refused(422, "PUT", CRD, crd)


def test_step_does_nothing_when_nothing_is_due(client: Client) -> None:
    revision = client.server.store.revision
    client.server.step()
    assert client.server.store.revision == revision
