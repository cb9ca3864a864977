"""The whole operator in one thread, over the sandbox's two stores, with a clock that is stepped."""

import base64
import functools
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import yaml

from controller.api import API_VERSION, INSTANCE_LABEL, KINDS
from controller.configuration.rules import Rules
from controller.events.objectevents import ObjectEvents
from controller.harness.reasons import BY_REASON, Reason
from controller.harness.resource import Object
from controller.metrics.metrics import Metrics
from controller.operator import Operator, Parts
from informers import RestClient
from lldap import Credentials, Session
from lldap.opaque import Client, ClientV07, ClientV40, KeyStretching
from lldap.passwords import OwnCredentials, Passwords
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.messages import Request
from sandbox.apiserver.transport import InProcessTransport as ApiTransport
from sandbox.lldap.opaque import cheap_stretching
from sandbox.lldap.server import Lldap
from sandbox.lldap.transport import InProcessTransport as LldapTransport
from tests.support.clock import FakeClock

ROOT = Path(__file__).parents[2]
ADMIN_PASSWORD = "admin-password-1"
HASH_KEY = b"k" * 32
CALL_SECONDS = 8.0
CLUSTER = "cluster-1"
NAMESPACES = ("lldap-system", "team-a", "team-b")
PLURALS = {kind.kind: kind.plural for kind in KINDS}


@functools.cache
def _definitions() -> list[Object]:
    """The CRDs: read once, and never changed."""
    documents = [
        document
        for path in sorted((ROOT / "deploy/crds").glob("*.yaml"))
        for document in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader)
    ]
    return [each for each in documents if each and each["kind"] == "CustomResourceDefinition"]


class RecordedEvents(ObjectEvents):
    """Keeps events instead of sending them."""

    def __init__(self) -> None:
        super().__init__(self)
        self.seen: list[tuple[str, str, str, str]] = []

    def event(self, reference: Any, kind: str, reason: str, action: str, note: str) -> None:
        self.seen.append((f"{reference.kind} {reference.name}", kind, reason, note))

    def reasons(self) -> list[str]:
        return [reason for _, _, reason, _ in self.seen]


class Bed:
    """An API server with our CRDs, an lldap, and any number of operators one after the other."""

    caller = "operator"  # its name in lldap's log

    def __init__(self, *, seed: int = 1, whole_seconds: bool = False, **rules: Any) -> None:
        self.clock = FakeClock()
        self.random = random.Random(seed)
        self.stretch: KeyStretching = cheap_stretching
        self.api = ApiServer(self.clock, random.Random(seed))
        self.lldap = Lldap(
            self.clock,
            admin_password=ADMIN_PASSWORD,
            whole_seconds=whole_seconds,
            rng=random.Random(seed),
            stretch=self.stretch,
        )
        self.admin = RestClient(ApiTransport(self.api, user="admin"), call_seconds=CALL_SECONDS)
        self._rules = rules
        self._install()
        self.start()

    def install_definitions(self) -> None:
        """Install our CRDs; they are served then."""
        for document in _definitions():
            self.admin.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", document)
        self.clock.advance(5)
        self.api.step()

    def _install(self) -> None:
        self.install_definitions()
        for name in NAMESPACES:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self.admin.post("/api/v1/namespaces", body)

    # --- the operator ----------------------------------------------------------------------

    def start(self, **options: Any) -> Operator:
        """Start an operator; one that ran before is simply no longer stepped (a crash)."""
        self.api_transport = self.operators_transport()
        self.lldap_transport = LldapTransport(self.lldap, caller=self.caller)
        self.events = RecordedEvents()
        self.metrics = Metrics(clock=self.clock, kinds=[kind.kind for kind in KINDS])
        own = OwnCredentials(lambda: Credentials("admin", ADMIN_PASSWORD))
        session = Session(self.lldap_transport, own, clock=self.clock, call_seconds=CALL_SECONDS)
        clients: list[Client] = [ClientV07(random=os.urandom, stretch=self.stretch), ClientV40()]
        rules = Rules(
            **{
                "instance": "default",
                "cluster": CLUSTER,
                "own_user": "admin",
                "virtual_group_namespace": "lldap-system",
                **self._rules,
                **options.pop("rules", {}),
            }
        )
        parts = {
            "rules": rules,
            "rest": RestClient(self.api_transport, call_seconds=CALL_SECONDS),
            "session": session,
            "passwords": Passwords(session, own, clients),
            "hash_key": HASH_KEY,
            "events": self.events,
            "metrics": self.metrics,
            "clock": self.clock,
            "rng": self.random,
            "own_namespace": "lldap-system",
            "max_deletions_per_minute": 60,
            "resync_seconds": 600.0,
            **options,
        }
        self.operator = Operator(Parts(**parts))
        return self.operator

    def operators_transport(self) -> ApiTransport:
        """A new way to the API server for the operator, with a log and hooks of its own."""
        return ApiTransport(self.api, user="operator")

    def step(self) -> bool:
        """One round over everything; whether anything was done."""
        operator, busy = self.operator, False
        self.api.step()
        for informer in operator.all_informers:
            for reflector in informer.reflectors:
                busy |= reflector.step() == 0.0
            for registration in informer.registrations:
                busy |= registration.pending > 0
                registration.step()
        if self.has_looked():
            operator.gate.step()
            operator.resync.step()
            if operator.gate.probed:
                while operator.pool.try_step():
                    busy = True
        return busy

    def has_looked(self) -> bool:
        """Whether the workers may begin."""
        return self.operator.has_synced()

    def settle(self, rounds: int = 60) -> None:
        """Work until nothing is left to do now; time does not move."""
        quiet = 0
        for _ in range(rounds * 20):
            quiet = 0 if self.step() else quiet + 1
            if quiet > 2:
                return
        raise AssertionError("the operator does not come to rest")

    def run(self, seconds: float, step: float = 1.0) -> None:
        """Let time pass, working as it does."""
        self.settle()
        passed = 0.0
        while passed < seconds:
            self.clock.advance(step)
            passed += step
            self.settle()

    def until(self, condition: Callable[[], bool], seconds: float = 60.0) -> None:
        """Let time pass until it is so; AssertionError after `seconds`."""
        self.settle()
        passed = 0.0
        while not condition():
            assert passed < seconds, "it did not come to that in time"
            self.clock.advance(1.0)
            passed += 1.0
            self.settle()

    def stop(self) -> None:
        """Stop the operator as in a crash: it is not stepped until `start`."""

    # --- what people do --------------------------------------------------------------------

    def path(self, kind: str, namespace: str, name: str = "") -> str:
        base = f"/apis/{API_VERSION}/namespaces/{namespace}/{PLURALS[kind]}"
        return f"{base}/{name}" if name else base

    def apply(
        self, kind: str, name: str, spec: Object, namespace: str = "team-a", **metadata: Any
    ) -> Object:
        """Create the object, or replace its spec and what of its metadata is given."""
        labels = {INSTANCE_LABEL: "default", **metadata.pop("labels", {})}
        body = {
            "apiVersion": API_VERSION,
            "kind": kind,
            "metadata": {"name": name, "namespace": namespace, "labels": labels, **metadata},
            "spec": spec,
        }
        return self.admin.patch(
            self.path(kind, namespace, name),
            body,
            content_type="application/apply-patch+yaml",
            field_manager="person",
            force=True,
        )

    def user(self, name: str, namespace: str = "team-a", **spec: Any) -> Object:
        metadata = {k: spec.pop(k) for k in ("annotations", "labels") if k in spec}
        named = spec.pop("object", name)
        whole = {
            "username": name,
            "email": f"{name}@example.org",
            "passwordPolicy": "Ignore",
            **spec,
        }
        return self.apply("LldapUser", named, whole, namespace, **metadata)

    def group(self, name: str, namespace: str = "team-a", **spec: Any) -> Object:
        whole = {"displayName": name, **spec}
        return self.apply("LldapGroup", name.lower().replace("_", "-"), whole, namespace)

    def membership(
        self, user: str, group: str, namespace: str = "team-a", name: str = "", **spec: Any
    ) -> Object:
        whole = {"userName": user, "groupName": group, **spec}
        key = name or f"{user}-{group}".lower().replace("_", "-")
        return self.apply("LldapMembership", key, whole, namespace)

    def schema(self, name: str, target: str = "User", kind: str = "String", **spec: Any) -> Object:
        whole = {"attributeName": name, "attributeType": kind, "target": target, **spec}
        return self.apply("LldapAttributeSchema", f"{target}-{name}".lower(), whole)

    def secret(
        self, name: str, value: bytes, namespace: str = "team-a", key: str = "password"
    ) -> None:
        path = f"/api/v1/namespaces/{namespace}/secrets"
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": namespace},
            "data": {key: base64.b64encode(value).decode()},
        }
        self.admin.patch(
            f"{path}/{name}",
            body,
            content_type="application/apply-patch+yaml",
            field_manager="person",
            force=True,
        )

    def get(self, kind: str, name: str, namespace: str = "team-a") -> Object:
        return self.admin.get(self.path(kind, namespace, name))

    def exists(self, kind: str, name: str, namespace: str = "team-a") -> bool:
        answer = self.api.request(Request("GET", self.path(kind, namespace, name), {}, {}, b""))
        return answer.status == 200

    def delete(self, kind: str, name: str, namespace: str = "team-a") -> None:
        self.admin.delete(self.path(kind, namespace, name))

    def delete_namespace(self, name: str) -> None:
        """Delete a namespace, and with it all that is in it."""
        self.admin.delete(f"/api/v1/namespaces/{name}")

    def names(self, kind: str, namespace: str) -> list[str]:
        """The names of the objects of a kind in a namespace."""
        items = self.admin.get(self.path(kind, namespace))["items"]
        return [item["metadata"]["name"] for item in items]

    def annotate(
        self, kind: str, name: str, namespace: str = "team-a", **values: str | None
    ) -> None:
        annotations = {key.replace("__", "/").replace("_", "-"): v for key, v in values.items()}
        self.admin.patch(
            self.path(kind, namespace, name),
            {"metadata": {"annotations": annotations}},
            content_type="application/merge-patch+json",
        )

    def forge(self, kind: str, name: str, status: Object | None, namespace: str = "team-a") -> None:
        """Write into a status as somebody with rights on it can; None wipes all of it."""
        path = self.path(kind, namespace, name) + "/status"
        old = self.get(kind, name, namespace).get("status") or {}
        change = dict.fromkeys(old) if status is None else status
        self.admin.patch(path, {"status": change}, content_type="application/merge-patch+json")

    def ready(self, kind: str, name: str, namespace: str = "team-a") -> tuple[str, str]:
        """Status and reason of Ready; the kind can have it by the table of reasons."""
        conditions = self.get(kind, name, namespace).get("status", {}).get("conditions", [])
        found: dict[str, str] = next((c for c in conditions if c["type"] == "Ready"), {})
        status, reason = found.get("status", "?"), found.get("reason", "?")
        assert reason == "?" or kind in {each.kind for each in BY_REASON[Reason(reason)].kinds}
        return status, reason

    def message(self, kind: str, name: str, namespace: str = "team-a") -> str:
        conditions = self.get(kind, name, namespace)["status"]["conditions"]
        return str(next(c["message"] for c in conditions if c["type"] == "Ready"))

    # --- what was done ---------------------------------------------------------------------

    def operations(self) -> list[str]:
        """The operator's calls to lldap, by name."""
        log = self.lldap.log
        return [entry.call.operation for entry in log if entry.call.caller == self.caller]

    def mutations(self) -> list[str]:
        """Those that change something."""
        prefixes = ("create", "update", "delete", "add", "remove")
        return [
            op
            for op in self.operations()
            if op.startswith(prefixes) or op.endswith("register/finish")
        ]

    def api_writes(self) -> list[tuple[str, str]]:
        """The operator's writes to the API server."""
        return [
            (answered.call.method, answered.call.path)
            for answered in self.api_transport.calls
            if answered.call.method not in {"GET", "HEAD"}
        ]

    def clear_logs(self) -> None:
        self.lldap.log.clear()
        self.api_transport.calls.clear()

    def login(self, user: str, password: str) -> int:
        """The status that lldap answers to a login of that user."""
        body = orjson.dumps({"username": user, "password": password})
        headers = {"content-type": "application/json"}
        return self.lldap.handle("POST", "/auth/simple/login", headers, body).status
