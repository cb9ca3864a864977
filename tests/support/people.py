"""Objects of the four kinds on a real API server, as people handle them."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from controller.api import GROUP, INSTANCE_LABEL, KINDS, VERSION
from tests.support.cluster import Cluster, wait_until
from tests.support.envtest import APPLY, Api

PLURALS = {kind.kind: kind.plural for kind in KINDS}
Object = dict[str, Any]


class People:
    """Works in one namespace, as an administrator of the cluster. One thread."""

    def __init__(self, api: Api, namespace: str, instance: str = "default") -> None:
        self.api = api
        self.namespace = namespace
        self.instance = instance

    def path(self, kind: str, name: str = "") -> str:
        base = f"/apis/{GROUP}/{VERSION}/namespaces/{self.namespace}/{PLURALS[kind]}"
        return f"{base}/{name}" if name else base

    def apply(self, kind: str, name: str, spec: Object, **metadata: Any) -> Object:
        """Create the object, or bring it to this spec."""
        labels = {INSTANCE_LABEL: self.instance}
        body = {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": kind,
            "metadata": {"name": name, "namespace": self.namespace, "labels": labels, **metadata},
            "spec": spec,
        }
        answer = self.api.call(
            "PATCH",
            self.path(kind, name),
            body,
            content_type=APPLY,
            fieldManager="people",
            force="true",
        )
        assert answer.ok, answer.body
        return dict(answer.body)

    def user(self, name: str, **spec: Any) -> Object:
        whole = {"username": name, "email": f"{name}@example.org", "passwordPolicy": "Ignore"}
        return self.apply("LldapUser", name, whole | spec)

    def group(self, name: str, **spec: Any) -> Object:
        return self.apply("LldapGroup", name, {"displayName": name} | spec)

    def membership(self, user: str, group: str, **spec: Any) -> Object:
        whole = {"userName": user, "groupName": group} | spec
        return self.apply("LldapMembership", f"{user}-{group}", whole)

    def attribute(self, name: str, **spec: Any) -> Object:
        whole = {"attributeName": name, "attributeType": "String", "target": "User"} | spec
        return self.apply("LldapAttributeSchema", name, whole)

    def secret(self, name: str, password: str) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": self.namespace},
            "data": {"password": base64.b64encode(password.encode()).decode()},
        }
        path = f"/api/v1/namespaces/{self.namespace}/secrets/{name}"
        answer = self.api.call(
            "PATCH", path, body, content_type=APPLY, fieldManager="people", force="true"
        )
        assert answer.ok, answer.body

    def get(self, kind: str, name: str) -> Object | None:
        answer = self.api.call("GET", self.path(kind, name))
        return dict(answer.body) if answer.ok else None

    def delete(self, kind: str, name: str) -> None:
        assert self.api.call("DELETE", self.path(kind, name)).ok

    def state(self, kind: str, name: str) -> tuple[str, str]:
        """Status and reason of Ready, of the generation that is there."""
        obj = self.get(kind, name) or {}
        for condition in obj.get("status", {}).get("conditions", []):
            current = condition.get("observedGeneration") == obj["metadata"]["generation"]
            if condition["type"] == "Ready" and current:
                return condition["status"], condition["reason"]
        return "", ""

    def wait(self, kind: str, name: str, reason: str = "Verified", seconds: float = 40.0) -> None:
        """Until Ready has that reason for the generation that is there."""
        wait_until(
            lambda: self.state(kind, name)[1] == reason,
            f"{kind} {name} {reason}: {(self.get(kind, name) or {}).get('status')}",
            seconds,
        )

    def wait_gone(self, kind: str, name: str, seconds: float = 40.0) -> None:
        wait_until(lambda: self.get(kind, name) is None, f"{kind} {name} gone", seconds)

    def wait_empty(self, kind: str) -> None:
        wait_until(lambda: not self.api.call("GET", self.path(kind)).body["items"], f"no {kind}")


@contextmanager
def people(cluster: Cluster, namespace: str, instance: str = "default") -> Iterator[People]:
    """People in a namespace, which is made."""
    cluster.make_namespace(namespace)
    with cluster.api() as api:
        yield People(api, namespace, instance)
