"""On both API servers: what finalizers and statuses rely on of it."""

from collections.abc import Iterator
from typing import Any

import pytest

from controller.api import API_VERSION, INSTANCE_LABEL, LLDAP_USER
from controller.harness.conditions import ready_true
from controller.harness.explain import explain
from controller.harness.finalizers import (
    ObjectGone,
    StaleObject,
    ensure_finalizer,
    remove_finalizer,
)
from controller.harness.reasons import Reason
from controller.harness.resource import Object, Resource
from controller.harness.statuswriter import StatusWriter
from controller.kube import Kube
from controller.watching.ownwrites import OwnWrites
from informers import ApiClientTransport, PatchType, RestClient, StatusError
from sandbox.controlplane import ControlPlane
from tests.support.clock import FakeClock
from tests.support.envtest import Key

FINALIZER = LLDAP_USER.finalizer
A, B = "example.org/a", "example.org/b"


class Server:
    """One user on the server, the operator's hand on it, and a person's."""

    def __init__(self, rest: RestClient, key: Key) -> None:
        self.rest, self.key = rest, key
        self.own_writes = OwnWrites()
        self.kube = Kube(rest, self.own_writes)
        self.status = StatusWriter(self.kube)
        self.now = FakeClock().now

    @property
    def path(self) -> str:
        return self.kube.path("LldapUser", self.key.namespace, self.key.name)

    def create(self, *finalizers: str) -> Resource:
        name = self.key.name
        body = {
            "apiVersion": API_VERSION,
            "kind": "LldapUser",
            "metadata": {
                "name": name,
                "labels": {INSTANCE_LABEL: "default"},
                "finalizers": list(finalizers),
            },
            "spec": {"username": name, "email": f"{name}@example.org", "passwordPolicy": "Ignore"},
        }
        return Resource(self.rest.post(self.path.rpartition("/")[0], body))

    def get(self) -> Resource:
        return Resource(self.rest.get(self.path))

    def merge(self, change: Object) -> None:
        self.rest.patch(self.path, change, content_type=PatchType.MERGE)

    def delete(self) -> None:
        self.rest.delete(self.path)

    def ready(self, resource: Resource, **status: Any) -> Resource:
        resource.status |= {"instance": "default", **status}
        ready_true(resource, "Verified", "it is there", now=self.now)
        return resource


@pytest.fixture
def server(crds: ControlPlane, key: Key) -> Iterator[Server]:
    with crds.client(crds.admin) as api_client:
        transport = ApiClientTransport(api_client, user_agent="lldap-operator/test")
        yield Server(RestClient(transport, call_seconds=10.0), key)
        transport.close()


def test_E01_only_our_entry_changes_whoever_else_is_at_it(server: Server) -> None:
    stale = server.create(A, B)
    server.merge({"metadata": {"finalizers": [B]}})
    assert ensure_finalizer(server.kube, stale, FINALIZER)
    assert server.get().finalizers == [B, FINALIZER]
    before = server.get()
    server.merge({"metadata": {"finalizers": [FINALIZER, B, A]}})
    assert remove_finalizer(server.kube, before, FINALIZER)
    assert server.get().finalizers == [B, A]


def test_E01_one_that_came_in_between_is_not_replaced(server: Server) -> None:
    stale = server.create()
    server.merge({"metadata": {"finalizers": [A]}})
    assert ensure_finalizer(server.kube, stale, FINALIZER)
    assert server.get().finalizers == [A, FINALIZER]


def test_an_object_that_is_being_deleted_gets_no_finalizer(server: Server) -> None:
    stale = server.create(A)
    server.delete()
    with pytest.raises(StaleObject):
        ensure_finalizer(server.kube, stale, FINALIZER)
    assert server.get().finalizers == [A]


def test_the_last_finalizer_lets_the_object_go_and_leaves_no_echo_to_wait_for(
    server: Server,
) -> None:
    server.create(FINALIZER)
    server.delete()
    deleted = server.get()
    assert remove_finalizer(server.kube, deleted, FINALIZER)
    assert len(server.own_writes) == 0
    assert not remove_finalizer(server.kube, Resource(deleted.raw), FINALIZER)
    with pytest.raises(StatusError):
        server.get()


def test_a_status_is_written_once_and_a_change_of_nothing_is_none(server: Server) -> None:
    assert server.status.persist(server.ready(server.create()))
    version = server.get().resource_version
    assert not server.status.persist(server.ready(server.get()))
    assert server.get().resource_version == version
    recorded = server.get().recorded
    assert recorded["conditions"][0]["observedGeneration"] == 1


def test_a_status_survives_a_label_and_not_an_edit_of_the_spec(server: Server) -> None:
    stale = server.ready(server.create())
    server.merge({"metadata": {"labels": {"team": "blue"}}})
    assert server.status.persist(stale)
    stale = server.ready(server.get(), userId="alice")
    server.merge({"spec": {"displayName": "Al"}})
    with pytest.raises(StaleObject):
        server.status.persist(stale)
    assert "userId" not in server.get().recorded


def test_a_late_status_lands_on_no_namesake_and_makes_no_object(server: Server) -> None:
    late = server.ready(server.create())
    server.delete()
    with pytest.raises(ObjectGone):
        server.status.persist(late)
    server.create()
    with pytest.raises(ObjectGone):
        server.status.persist(late)
    assert server.get().recorded == {}


def test_clearing_gives_the_whole_status_back(server: Server) -> None:
    server.status.persist(server.ready(server.create()))
    server.status.clear(server.get())
    assert server.get().recorded == {}


def test_a_field_that_the_crd_lacks_is_refused_for_good(server: Server) -> None:
    with pytest.raises(StatusError) as raised:
        server.status.persist(server.ready(server.create(), unheard="of"))
    known = explain(raised.value)
    assert known is not None
    assert known.reason == Reason.UNSUPPORTED_SERVER
