"""On both API servers: Secrets, of which only the metadata is asked for."""

import base64
import random
import time
import uuid
from collections.abc import Callable, Iterator

import pytest

from informers import (
    ApiClientTransport,
    ListWatch,
    Object,
    RestClient,
    SharedInformer,
    StatusError,
    StatusKind,
    drop_metadata,
)
from sandbox.controlplane import ControlPlane
from tests.informers.scripted import Recorder
from tests.informers.test_end_to_end import RealClock, running, wait_for

SECRET_VALUE = "hunter2"


@pytest.fixture
def rest(control_plane: ControlPlane) -> Iterator[RestClient]:
    with control_plane.client(control_plane.admin) as api_client:
        transport = ApiClientTransport(api_client, user_agent="lldap-operator/test")
        yield RestClient(transport, call_seconds=10.0)
        transport.close()


@pytest.fixture
def namespace(rest: RestClient) -> str:
    """A namespace of Secrets only; it needs none of our CRDs and ends with the server."""
    name = f"informers-{uuid.uuid4().hex[:8]}"
    rest.post("/api/v1/namespaces", {"metadata": {"name": name}})
    return name


def secret(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "annotations": {"copy": SECRET_VALUE}, "labels": {"a": "b"}},
        "data": {"password": base64.b64encode(SECRET_VALUE.encode()).decode()},
    }


def secrets_of(rest: RestClient, path: str) -> tuple[SharedInformer, Recorder]:
    informer = SharedInformer(
        ListWatch(rest, path, metadata_only=True),
        clock=RealClock(),
        random=random.Random(1),
        name="secrets",
        transform=drop_metadata("annotations", "managedFields"),
    )
    recorder = Recorder()
    informer.add_handler(recorder)
    return informer, recorder


def test_secrets_are_listed_and_watched_without_their_values(
    rest: RestClient, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/secrets"
    rest.post(path, secret("listed"))
    informer, recorder = secrets_of(rest, path)
    with running(informer):
        wait_for(lambda: informer.reflectors[0].state.name == "WATCHING")
        made = rest.post(path, secret("watched"))
        rest.patch(
            f"{path}/watched",
            {"data": {"password": "eA=="}},
            content_type="application/merge-patch+json",
        )
        wait_for(lambda: len(recorder.told) == 3)
        rest.delete(f"{path}/listed")
        wait_for(lambda: len(recorder.told) == 4)
        assert [told[:2] for told in recorder.told] == [
            ("add", f"{namespace}/listed"),
            ("add", f"{namespace}/watched"),
            ("update", f"{namespace}/watched"),
            ("delete", f"{namespace}/listed"),
        ]
        (left,) = informer.store.list()
        assert left["kind"] == "PartialObjectMetadata"
        assert left["metadata"]["uid"] == made["metadata"]["uid"]
        assert left["metadata"]["labels"] == {"a": "b"}
        assert SECRET_VALUE not in str(informer.store.list())
        assert "data" not in left
        started = time.monotonic()
        informer.stop()
        wait_for(lambda: informer.reflectors[0].state.name == "STOPPED")
        assert time.monotonic() - started < 1.0


def test_a_version_that_is_too_old_is_found_out_and_listed_anew(
    rest: RestClient, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/secrets"
    rest.post(path, secret("one"))
    informer, recorder = secrets_of(rest, path)
    reflector = informer.reflectors[0]
    reflector.step()
    reflector.last_sync_rv = "1"
    with running(informer):
        wait_for(lambda: reflector.last_sync_rv not in {"", "1"} and reflector.last_error is None)
        rest.post(path, secret("two"))
        wait_for(lambda: len(recorder.told) == 2)
    assert [told[0] for told in recorder.told] == ["add", "add"]


def test_refusals_of_a_server_have_their_kinds(rest: RestClient, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/secrets"
    rest.post(path, secret("x"))
    refused: list[tuple[StatusKind, Callable[[], object]]] = [
        (StatusKind.NOT_FOUND, lambda: rest.get(f"{path}/y")),
        (StatusKind.UNKNOWN_RESOURCE, lambda: rest.get("/apis/no.such/v1/things")),
        (StatusKind.ALREADY_EXISTS, lambda: rest.post(path, secret("x"))),
        (StatusKind.INVALID, lambda: rest.post(path, secret("X"))),
        (
            StatusKind.CONFLICT,
            lambda: rest.delete(f"{path}/x", {"preconditions": {"uid": "another"}}),
        ),
        (
            StatusKind.RESOURCE_VERSION_TOO_LARGE,
            lambda: rest.get(path, query=[("resourceVersion", "999999999")]),
        ),
        (StatusKind.REFUSED, lambda: rest.get(path, query=[("limit", "x")])),
    ]
    for kind, call in refused:
        with pytest.raises(StatusError) as caught:
            call()
        assert caught.value.kind is kind, caught.value
        assert SECRET_VALUE not in str(caught.value)
