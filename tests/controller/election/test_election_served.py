"""The election and the recorder on both API servers."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest
import requests

from controller.clock import SystemClock
from controller.election.election import LeaderElector, new_identity
from controller.election.leadership import NotLeader, Term, Times
from controller.election.lease import LeaseLock
from controller.events.eventseries import ObjectReference
from controller.events.recorder import EventRecorder
from controller.metrics.metrics import Metrics
from informers import RawResponse, RawStream, RestClient
from informers.transport import NO_HEADERS, BeforeSend, Query
from sandbox.controlplane import ControlPlane
from tests.controller.test_recorder import reference
from tests.support.envtest import Api

TIMES = Times(lease=15, renew=10.0, retry=2.0, call=8.0)


class SessionTransport:
    """What RestClient needs of a transport, on a session of the control plane."""

    def __init__(self, url: str, session: requests.Session) -> None:
        self._url = url
        self._session = session

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        headers: Mapping[str, str] = NO_HEADERS,
        body: bytes | None = None,
        timeout: float,
        before_send: BeforeSend | None = None,
    ) -> RawResponse:
        if before_send is not None:
            before_send(timeout)
        answer = self._session.request(
            method,
            self._url + path,
            params=list(query),
            headers=dict(headers),
            data=body,
            timeout=timeout,
        )
        return RawResponse(answer.status_code, answer.headers, answer.content)

    def stream(self, path: str, **options: object) -> RawStream:
        raise NotImplementedError


@pytest.fixture
def rest(crds: ControlPlane) -> Iterator[RestClient]:
    with crds.session(crds.admin) as session:
        yield RestClient(SessionTransport(crds.url, session), call_seconds=5.0)


def elector(rest: RestClient, namespace: str, lost: list[str]) -> LeaderElector:
    led: list[Term] = []
    return LeaderElector(
        LeaseLock(rest, namespace, "lldap-operator-default"),
        new_identity("pod"),
        TIMES,
        clock=SystemClock(),
        rng=random.Random(1),
        metrics=Metrics(clock=SystemClock(), kinds=()).election,
        on_leading=led.append,
        on_lost=lost.append,
    )


def spec(admin: Api, namespace: str) -> dict[str, object]:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/lldap-operator-default"
    found: dict[str, object] = admin.call("GET", path).body["spec"]
    return found


def test_a_lease_is_taken_renewed_given_back_and_taken_again(
    rest: RestClient, admin: Api, namespace: str
) -> None:
    lost: list[str] = []
    a, b = elector(rest, namespace, lost), elector(rest, namespace, lost)
    a.step()
    assert a.term is not None
    taken = spec(admin, namespace)
    assert taken["holderIdentity"] == a.identity

    a.step()
    renewed = spec(admin, namespace)
    assert renewed["renewTime"] != taken["renewTime"]
    assert renewed["acquireTime"] == taken["acquireTime"]

    b.step()
    with pytest.raises(NotLeader):
        b.fence(0.0)
    a.release()
    assert spec(admin, namespace)["holderIdentity"] == ""
    b.step()
    assert b.term is not None
    assert b.term.found_released
    b.fence(TIMES.call)
    with pytest.raises(NotLeader):
        a.fence(0.0)
    assert spec(admin, namespace)["leaseTransitions"] == 1
    assert lost == []


def test_a_leader_notices_another_holder_and_mends_a_lease_that_was_deleted(
    rest: RestClient, admin: Api, namespace: str
) -> None:
    lost: list[str] = []
    a = elector(rest, namespace, lost)
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/lldap-operator-default"
    a.step()
    assert admin.call("DELETE", path).ok
    a.step()
    assert spec(admin, namespace)["holderIdentity"] == a.identity

    merge = "application/merge-patch+json"
    edit = {"spec": {"holderIdentity": "b"}}
    assert admin.call("PATCH", path, edit, content_type=merge).ok
    a.step()

    assert lost == ["b holds it"]
    assert spec(admin, namespace)["holderIdentity"] == "b"


def test_I06_events_are_taken_and_counted_up(rest: RestClient, admin: Api, namespace: str) -> None:
    counts: Counter[str] = Counter()

    def count(outcome: str) -> None:
        counts[outcome] += 1

    recorder = EventRecorder(
        rest,
        clock=SystemClock(),
        rng=random.Random(),
        controller="lldap-operator",
        instance="pod-1",
        count=count,
    )
    about = ObjectReference.of(
        {
            "apiVersion": "lldap-operator.lukidoescode.com/v1alpha1",
            "kind": "LldapUser",
            "metadata": {
                "namespace": namespace,
                "name": "a" * 253,
                "uid": reference().uid,
                "resourceVersion": "1",
            },
        }
    )
    recorder.event(about, "Warning", "R" * 500, "", "é王😀" * 1000)
    recorder.flush(5.0)
    for _ in range(3):
        recorder.event(about, "Warning", "R" * 500, "", "é王😀" * 1000)
    recorder.flush(5.0)

    (event,) = admin.call("GET", f"/apis/events.k8s.io/v1/namespaces/{namespace}/events").body[
        "items"
    ]
    assert event["series"]["count"] == 4
    assert "…" in event["note"]
    assert len(event["note"].encode()) <= 512
    assert counts == {"created": 1, "updated": 1}
