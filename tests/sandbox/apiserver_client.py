"""A short way to call the sandbox's API server in tests."""

import random
from collections.abc import Callable
from pathlib import Path

import orjson
import yaml

from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.authorization import Authenticator, Authorizer
from sandbox.apiserver.messages import Request, Response, parse_target
from sandbox.apiserver.objects import Object, Value
from tests.support.clock import FakeClock

ROOT = Path(__file__).parent.parent.parent
GROUP = "lldap-operator.lukidoescode.com"
LABEL = f"{GROUP}/lldap-instance"
KINDS = f"/apis/{GROUP}/v1alpha1"
USERS = f"{KINDS}/namespaces/default/lldapusers"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
INSTALLED = {
    "CustomResourceDefinition": CRDS,
    "ValidatingAdmissionPolicy": f"{ADMISSION}/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": f"{ADMISSION}/validatingadmissionpolicybindings",
}


class Client:
    """Calls a server of its own, with its own clock."""

    def __init__(
        self,
        *,
        authenticator: Authenticator | None = None,
        authorizer: Authorizer | None = None,
        folder: Path | None = None,
    ) -> None:
        self.clock = FakeClock()
        self.server = ApiServer(
            self.clock,
            random.Random(5),
            authenticator=authenticator,
            authorizer=authorizer,
            folder=folder,
        )
        self.token = ""

    def install(self, *folders: str) -> None:
        """Create what the YAML files of folders in deploy/ hold."""
        for folder in folders:
            for file in sorted((ROOT / "deploy" / folder).glob("*.yaml")):
                for document in yaml.safe_load_all(file.read_text()):
                    self.ok("POST", INSTALLED[document["kind"]], document)

    def call(self, method: str, target: str, body: Value = None, **headers: str) -> Response:
        path, query = parse_target(target)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            sent["authorization"] = f"Bearer {self.token}"
        raw = b"" if body is None else orjson.dumps(body)
        return self.server.request(Request(method, path, query, sent, raw))

    def ok(self, method: str, target: str, body: Value = None, **headers: str) -> Value:
        answer = self.call(method, target, body, **headers)
        assert answer.status in {200, 201}, answer.body
        return orjson.loads(answer.body)

    def refused(
        self, status: int, method: str, target: str, body: Value = None, **more: str
    ) -> str:
        """Return the message of a call that is refused."""
        answer = self.call(method, target, body, **more)
        assert answer.status == status, (answer.status, answer.body)
        message: str = orjson.loads(answer.body)["message"]
        return message

    def patch(self, target: str, body: Value) -> Value:
        return self.ok("PATCH", target, body, content_type=MERGE)

    def apply(self, target: str, body: Value) -> Value:
        return self.ok("PATCH", target, body, content_type=APPLY)

    def watch(self, target: str, **headers: str) -> Callable[[], list[Object] | None]:
        """Open a watch; what is returned reads the events that there are, None after the end."""
        answer = self.call("GET", target, **headers)
        assert answer.stream is not None, answer.body
        stream = answer.stream

        def read() -> list[Object] | None:
            piece = stream.read()
            if piece == b"":
                return None
            return [orjson.loads(line) for line in (piece or b"").splitlines()]

        return read


def user(name: str, *, labels: Object | None = None, **spec: Value) -> Object:
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "LldapUser",
        "metadata": {"name": name, "labels": {LABEL: "default", **(labels or {})}},
        "spec": {
            "username": name,
            "email": f"{name}@example.org",
            "passwordPolicy": "Ignore",
            **spec,
        },
    }
