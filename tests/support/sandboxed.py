"""The sandbox's API server on loopback with our CRDs, for programs that run as subprocesses."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import yaml

from controller.api import GROUP, INSTANCE_LABEL, VERSION
from controller.clock import SystemClock
from informers import RestClient, StatusError
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.authorization import ADMIN, MASTERS, Authenticator, User
from sandbox.apiserver.http import ApiServerHttp
from sandbox.apiserver.transport import InProcessTransport
from tests.support.cluster import wait_until
from tests.support.kustomize import DEPLOY

APPLY = "application/apply-patch+yaml"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PLURALS = {
    "LldapUser": "lldapusers",
    "LldapGroup": "lldapgroups",
    "LldapMembership": "lldapmemberships",
}
Object = dict[str, Any]


def _plain(authenticator: Authenticator) -> ApiServer:
    return ApiServer(SystemClock(), random.Random(1), authenticator=authenticator)


class Sandbox:
    """Its objects are in the namespace `team-a`; `tokens` says who calls, and may change."""

    def __init__(self, make: Callable[[Authenticator], ApiServer] | None = None) -> None:
        """`make` may make an API server of a kind of its own."""
        self.tokens: dict[str, User] = {}
        self.api = (make or _plain)(Authenticator(self.tokens, without_token=ADMIN))
        self.admin = RestClient(InProcessTransport(self.api, user="admin"), call_seconds=5.0)
        for name in ("lldap-operator", "team-a"):
            self.admin.post("/api/v1/namespaces", {"metadata": {"name": name}})
        for file in sorted((DEPLOY / "crds").glob("*.yaml")):
            self.admin.post(DEFINITIONS, yaml.safe_load(file.read_text()))

    def let_in(self, token: str, name: str) -> None:
        """From now on `token` is an account that may do everything."""
        self.tokens[token] = User(name, groups=(MASTERS, "system:authenticated"))

    @contextmanager
    def served(self) -> Iterator[ApiServerHttp]:
        """On a port of 127.0.0.1."""
        with ApiServerHttp(self.api) as server:
            wait_until(self._serves, "the kinds are served")
            yield server

    def _serves(self) -> bool:
        try:
            for plural in PLURALS.values():
                self.admin.get(f"/apis/{GROUP}/{VERSION}/{plural}")
        except StatusError:  # of which the only one can be that a kind is not served yet
            return False
        return True

    def path(self, kind: str, name: str) -> str:
        return f"/apis/{GROUP}/{VERSION}/namespaces/team-a/{PLURALS[kind]}/{name}"

    def apply(self, kind: str, name: str, spec: Object) -> None:
        labels = {INSTANCE_LABEL: "default"}
        body = {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": kind,
            "metadata": {"name": name, "namespace": "team-a", "labels": labels},
            "spec": spec,
        }
        path = self.path(kind, name)
        self.admin.patch(path, body, content_type=APPLY, field_manager="people", force=True)

    def user(self, name: str, **spec: Any) -> None:
        whole = {"username": name, "email": f"{name}@example.org", "passwordPolicy": "Ignore"}
        self.apply("LldapUser", name, whole | spec)

    def reason(self, kind: str, name: str) -> str:
        """The reason of Ready, of the generation that is there."""
        obj = self.admin.get(self.path(kind, name))
        for condition in obj.get("status", {}).get("conditions", []):
            if condition["type"] == "Ready":
                current = condition["observedGeneration"] == obj["metadata"]["generation"]
                return str(condition["reason"]) if current else ""
        return ""

    def wait(
        self, name: str, reason: str = "Verified", kind: str = "LldapUser", seconds: float = 40.0
    ) -> None:
        wait_until(lambda: self.reason(kind, name) == reason, f"{kind} {name} is {reason}", seconds)
