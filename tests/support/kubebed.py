"""The sandbox's API server with our users, and what of the operator writes to it: no lldap."""

import functools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import yaml

from controller.api import API_VERSION, INSTANCE_LABEL, LLDAP_USER
from controller.harness.resource import Object, Resource
from controller.harness.statuswriter import OnStatusWrite, StatusWriter
from controller.kube import Kube
from controller.watching.ownwrites import OwnWrites
from informers import RawResponse, RestClient
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.transport import Call, InProcessTransport
from tests.support.clock import FakeClock

ROOT = Path(__file__).parents[2]
FINALIZER = LLDAP_USER.finalizer


@functools.cache
def _definition() -> Object:
    for path in (ROOT / "deploy/crds").glob("*.yaml"):
        for document in yaml.safe_load_all(path.read_text()):
            if document and document["metadata"]["name"] == LLDAP_USER.crd_name:
                found: Object = document
                return found
    raise AssertionError("deploy/crds lacks the users")


class KubeBed:
    """One API server, a person with all rights, and the operator's own hand on it."""

    def __init__(self, on_status_write: OnStatusWrite | None = None) -> None:
        self.clock = FakeClock()
        self.api = ApiServer(self.clock, random.Random(1))
        self.admin = RestClient(InProcessTransport(self.api, user="admin"), call_seconds=8.0)
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        self.admin.post(path, _definition())
        self.clock.advance(5)
        self.api.step()
        self.namespace("team-a")
        self.transport = InProcessTransport(self.api, user="operator")
        self.own_writes = OwnWrites()
        self.kube = Kube(RestClient(self.transport, call_seconds=8.0), self.own_writes)
        self.status = StatusWriter(self.kube, on_status_write)

    def namespace(self, name: str) -> None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        self.admin.post("/api/v1/namespaces", body)

    def path(self, name: str) -> str:
        return f"/apis/{API_VERSION}/namespaces/team-a/{LLDAP_USER.plural}/{name}"

    def create(self, name: str = "alice", **metadata: Any) -> Resource:
        """A user that nobody has looked at yet."""
        labels = {INSTANCE_LABEL: "default", **metadata.pop("labels", {})}
        spec = {"username": name, "email": f"{name}@example.org", "passwordPolicy": "Ignore"}
        body = {
            "apiVersion": API_VERSION,
            "kind": "LldapUser",
            "metadata": {"name": name, "namespace": "team-a", "labels": labels, **metadata},
            "spec": spec,
        }
        return Resource(self.admin.post(self.path(name).rpartition("/")[0], body))

    def get(self, name: str = "alice") -> Resource:
        return Resource(self.admin.get(self.path(name)))

    def exists(self, name: str = "alice") -> bool:
        listed = self.admin.get(self.path(name).rpartition("/")[0])
        return any(item["metadata"]["name"] == name for item in listed["items"])

    def merge(self, change: Object, name: str = "alice") -> Resource:
        """Change the object as a person, or another controller, does."""
        answer = self.admin.patch(
            self.path(name), change, content_type="application/merge-patch+json"
        )
        return Resource(answer)

    def delete(self, name: str = "alice") -> Resource | None:
        """Delete it; what is left of it, if finalizers hold it."""
        self.admin.delete(self.path(name))
        return self.get(name) if self.exists(name) else None

    def writes(self) -> list[Call]:
        """What the operator tried to write."""
        return [a.call for a in self.transport.calls if a.call.method not in {"GET", "HEAD"}]

    def ready(self, name: str = "alice") -> Object:
        conditions = self.get(name).recorded.get("conditions", [])
        found: Object = next((c for c in conditions if c["type"] == "Ready"), {})
        return found


Fault = Callable[[Call], RawResponse | None]


def status_answer(code: int, reason: str, message: str = "no", **details: Any) -> RawResponse:
    """A Status, as the API server answers a refusal."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
        "details": details,
    }
    return RawResponse(code, {"Content-Type": "application/json"}, orjson.dumps(body))


def raw_answer(code: int, body: bytes, **headers: str) -> RawResponse:
    return RawResponse(code, headers, body)


def on_write(answer: RawResponse | Exception, *, part: str = "", times: int = 10**6) -> Fault:
    """Answer the first `times` writes whose path ends in `part` so, or fail so."""
    left = iter(range(times))

    def before(call: Call) -> RawResponse | None:
        if call.method == "GET" or not call.path.endswith(part) or next(left, None) is None:
            return None
        if isinstance(answer, Exception):
            raise answer
        return answer

    return before
