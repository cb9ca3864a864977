"""Plays a recording of a real API server to the sandbox's and compares the answers.

The sandbox takes its clock, its uids and its revisions from outside: here they are what the
recording has, so that answers are compared as they are, without mapping one to the other.
"""

import datetime
import json
import random
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import yaml

from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.authorization import ADMIN, Authenticator, Authorizer, Rule, User
from sandbox.apiserver.messages import Request, Response, parse_target, response_headers
from sandbox.apiserver.objects import Object, Value

DATA = Path(__file__).parent.parent / "data" / "kubernetes"
GROUP = "lldap-operator.lukidoescode.com"
BASE = f"/apis/{GROUP}/v1alpha1"
LABEL = f"{GROUP}/lldap-instance"
POLICY_BASE = "/apis/admissionregistration.k8s.io/v1"
CRD_BASE = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ADMIN_TOKEN = "admin-token"
SHORTENED = re.compile(r"(.*)(?:…|\.\.\.)\[shortened[^\]]*\]", re.DOTALL)
PATCHED_OBJECT = re.compile(r'Invalid value: "\{(?:[^"\\]|\\.)*"', re.DOTALL)


class RecordedSource(random.Random):
    """Gives the uids and suffixes of the recording."""

    def __init__(self) -> None:
        super().__init__(7)
        self.uid = ""
        self.suffix = ""

    def choices(self, *args: Value, **options: Value) -> list[Value]:
        return list(self.suffix)

    def getrandbits(self, k: int, /) -> int:
        if k == 128 and self.uid:
            return uuid.UUID(self.uid).int
        return super().getrandbits(k)


class RecordedClock:
    """Stands where the recording says."""

    def __init__(self) -> None:
        self.time = datetime.datetime(2026, 11, 29, 20, 52, 22, tzinfo=datetime.UTC)
        self.seconds = 0.0

    def now(self) -> datetime.datetime:
        return self.time

    def monotonic(self) -> float:
        return self.seconds


class Replay:
    """The sandbox in the state of the recording, and how to write to it without being recorded."""

    def __init__(self, recording: list[Object]) -> None:
        self.recording = recording
        self.clock = RecordedClock()
        self.source = RecordedSource()
        self.rules: dict[str, list[Rule]] = {}
        self.tokens: dict[str, User] = {ADMIN_TOKEN: ADMIN}
        self.server = ApiServer(
            self.clock,
            self.source,
            authenticator=Authenticator(self.tokens),
            authorizer=Authorizer(self.rules),
        )
        self.policies = yaml.safe_load((DATA / "replay-policies.yaml").read_text())

    def load_crds(self) -> None:
        for crd in json.loads((DATA / "kube-apiserver-1.37-crds.json").read_text()):
            self.send("POST", CRD_BASE, crd)

    def put_policy(self, name: str, key: str) -> None:
        """Bind a policy in the place of what was bound under its name."""
        self.drop_policy(name)
        head = {"metadata": {"name": name}}
        self.send(
            "POST",
            f"{POLICY_BASE}/validatingadmissionpolicies",
            {**head, "spec": self.policies[key]},
        )
        spec = {"policyName": name, "validationActions": ["Deny"]}
        self.send(
            "POST", f"{POLICY_BASE}/validatingadmissionpolicybindings", {**head, "spec": spec}
        )

    def set_actions(self, name: str, *actions: str) -> None:
        path = f"{POLICY_BASE}/validatingadmissionpolicybindings/{name}"
        self.patch(path, {"spec": {"validationActions": list(actions)}})

    def drop_policy(self, name: str) -> None:
        for kind in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
            self.call("DELETE", f"{POLICY_BASE}/{kind}/{name}")

    def call(
        self,
        method: str,
        path: str,
        body: Value = None,
        headers: dict[str, str] | None = None,
    ) -> Response:
        raw = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
        found, query = parse_target(path)
        sent = {"authorization": f"Bearer {ADMIN_TOKEN}", **(headers or {})}
        return self.server.request(Request(method, found, query, sent, raw))

    def send(
        self,
        method: str,
        path: str,
        body: Value = None,
        *,
        rv: int = 0,
        at: str = "",
        uid: str = "",
        **headers: str,
    ) -> Value:
        """Do what the recording shows the traces of only; it gets the revision `rv`."""
        if rv:
            self.server.store.advance(rv - 1)
        if at:
            self.clock.time = datetime.datetime.fromisoformat(f"2026-11-29T{at}+00:00")
        self.source.uid = uid
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        response = self.call(method, path, body, sent)
        assert response.status < 300, (method, path, response.body)
        return orjson.loads(response.body)

    def create(self, plural: str, name: str, **more: Value) -> Value:
        """Create a user of the recording, with the uid and at the time that it shows."""
        namespace = more.pop("namespace", "team-a")
        known = next(self._seen(namespace, name), {})
        labels = {LABEL: more.pop("instance", "default"), **more.pop("labels", {})}
        body = {
            "apiVersion": f"{GROUP}/v1alpha1",
            "kind": "LldapUser",
            "metadata": {"name": name, "labels": labels, **more.pop("metadata", {})},
            "spec": {
                "username": name,
                "email": f"{name}@example.org",
                "passwordPolicy": "Ignore",
                **more.pop("spec", {}),
            },
        }
        at = more.pop("at", "") or known["creationTimestamp"][11:19]
        path = f"{BASE}/namespaces/{namespace}/{plural}"
        return self.send("POST", path, body, at=at, uid=more.pop("uid", "") or known["uid"], **more)

    def patch(self, path: str, body: Value, **more: Value) -> Value:
        return self.send("PATCH", path, body, content_type="application/merge-patch+json", **more)

    def _seen(self, namespace: str, name: str) -> Iterator[Object]:
        for exchange in self.recording:
            yield from _metadata_of(exchange.get("body"), namespace, name)
            yield from _metadata_of(exchange["request"].get("body"), namespace, name)

    # Exchanges

    def play(
        self,
        exchange: Object,
        during: Callable[[], None] | None = None,
        claimed: Callable[[Value], Value] = lambda body: body,
    ) -> list[str]:
        """Send the request of an exchange; returns in what the answer differs.

        `during` is run while a watch is open; `claimed` takes out of both answers what counts.
        """
        request, recorded = exchange["request"], exchange["body"]
        self._set_up(request, recorded)
        path, query = parse_target(request["path"])
        headers = {name.lower(): value for name, value in request["headers"].items()}
        self._authenticate(headers)
        body = request.get("body")
        raw = body.encode() if isinstance(body, str) else b"" if body is None else _dump(body)
        response = self.server.request(Request(request["method"], path, query, headers, raw))
        if response.stream is not None:
            found = {"stream": self._drain(response, query, during), "ended_by": "server"}
        else:
            found, recorded = _parse(response), _unwrap(recorded)
        return [
            *_headers_differ(exchange, response),
            *differences(claimed(recorded), claimed(found), ""),
        ]

    def _authenticate(self, headers: dict[str, str]) -> None:
        given = headers.pop("authorization", f"Bearer {ADMIN_TOKEN}")
        if given != "none":
            token = self.bearer if "<other>" in given else given.removeprefix("Bearer ")
            headers["authorization"] = f"Bearer {token}"

    bearer = "unknown"  # what `Bearer <other>` stands for

    def _set_up(self, request: Object, recorded: Value) -> None:
        if told := re.search(r"current: (\d+)", json.dumps(recorded)):
            self.server.store.advance(int(told.group(1)))
        if not isinstance(recorded, dict):
            return
        metadata = recorded.get("metadata") or {}
        body = request.get("body")
        if isinstance(body, dict) and "generateName" in body.get("metadata", {}):
            name = metadata.get("name") or recorded.get("details", {}).get("name", "")
            self.source.suffix = name.removeprefix(body["metadata"]["generateName"])
        self.source.uid = metadata.get("uid", "")
        for stamp in _stamps(metadata):
            time = datetime.datetime.fromisoformat(stamp)
            self.clock.time = max(self.clock.time, time)
        version = metadata.get("resourceVersion")
        if version and "dryRun" not in request["path"]:
            writes = request["method"] != "GET" and "items" not in recorded
            self.server.store.advance(int(version) - writes)

    def _drain(
        self, response: Response, query: dict[str, str], during: Callable[[], None] | None
    ) -> list[Value]:
        assert response.stream is not None
        lines = response.stream.read() or b""
        if during is not None:
            during()
        for step in (0.5, float(query.get("timeoutSeconds", 0)) - 2.0, 1.5, 0.0):
            while piece := response.stream.read():
                lines += piece
            if piece == b"":
                break
            self.clock.seconds += max(step, 0.0)
        assert piece == b"", "the watch did not end in its time"
        return [{"event": orjson.loads(line)} for line in lines.splitlines()]


def _unwrap(recorded: Value) -> Value:
    """A whole answer that was recorded line by line, or as text."""
    if isinstance(recorded, dict) and "stream" in recorded:
        events = [each["event"] for each in recorded["stream"]]
        recorded = "".join(events) if isinstance(events[0], str) else events[0]
    is_yaml = isinstance(recorded, str) and recorded.startswith("apiVersion")
    return yaml.load(recorded, Loader=yaml.BaseLoader) if is_yaml else recorded


def _dump(body: Value) -> bytes:
    return json.dumps(body).encode()


def _parse(response: Response) -> Value:
    if response.content_type == "application/yaml":
        return yaml.load(response.body, Loader=yaml.BaseLoader)
    if response.content_type.startswith("application/json"):
        return orjson.loads(response.body)
    text = response.body.decode()
    return orjson.loads(text) if text.startswith("{") else text


def _metadata_of(body: Value, namespace: str, name: str) -> Iterator[Object]:
    if isinstance(body, dict):
        metadata = body.get("metadata")
        if (
            isinstance(metadata, dict)
            and metadata.get("name") == name
            and metadata.get("namespace") == namespace
            and "uid" in metadata
            and "creationTimestamp" in metadata
        ):
            yield metadata
        for each in body.values():
            yield from _metadata_of(each, namespace, name)
    elif isinstance(body, list):
        for each in body:
            yield from _metadata_of(each, namespace, name)


def _stamps(metadata: Object) -> Iterator[str]:
    for key in ("creationTimestamp", "deletionTimestamp"):
        if metadata.get(key):
            yield metadata[key]
    for entry in metadata.get("managedFields", ()):
        if isinstance(entry, dict) and "time" in entry:
            yield entry["time"]


def _headers_differ(exchange: Object, response: Response) -> list[str]:
    found = response_headers(response)
    told = exchange["headers"].get("Warning")
    problems = []
    if response.status != exchange["status"]:
        problems.append(f"status {response.status}, recorded {exchange['status']}")
    if found.get("Warning") != told:
        problems.append(f"Warning {found.get('Warning')}, recorded {told}")
    kind = exchange["headers"].get("Content-Type", "application/json")
    if found["Content-Type"] != kind:
        problems.append(f"Content-Type {found['Content-Type']}, recorded {kind}")
    return problems


def differences(recorded: Value, found: Value, path: str) -> list[str]:
    """Every place in which an answer is not the recorded one."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        return _maps_differ(recorded, found, path)
    if isinstance(recorded, list) and isinstance(found, list):
        return _lists_differ(recorded, found, path)
    if isinstance(recorded, str) and isinstance(found, str):
        return [] if _same_text(recorded, found) else [f"{path}: {found!r}, recorded {recorded!r}"]
    return [] if recorded == found else [f"{path}: {found!r}, recorded {recorded!r}"]


def _maps_differ(recorded: Object, found: Object, path: str) -> list[str]:
    if recorded.get("reason") in {"Invalid", "Conflict"} and "details" in recorded:
        recorded, found = _in_order(recorded), _in_order(found)
    problems = [
        f"{path}.{key}: missing, recorded {recorded[key]!r}" for key in recorded if key not in found
    ]
    problems += [
        f"{path}.{key}: {found[key]!r}, not recorded" for key in found if key not in recorded
    ]
    common = recorded.keys() & found.keys()
    if not str(recorded.get("description", "Custom")).startswith("Custom"):
        common -= {"description"}  # of a built-in column: its text is the documentation's
    for key in common:
        problems += differences(recorded[key], found[key], f"{path}.{key}")
    return problems


def _in_order(status: Object) -> Object:
    """The server walks the fields of an object in no order: the causes come in any."""
    causes = status.get("details", {}).get("causes", [])
    if len(causes) < 2:
        return status
    ordered = sorted(causes, key=lambda cause: (cause["field"], cause.get("message", "")))
    message = status["message"]
    for cause in sorted(causes, key=lambda cause: -len(cause.get("message", ""))):
        message = message.replace(f"{cause['field']}: {cause.get('message', '')}", "", 1)
    return {**status, "message": message, "details": {**status["details"], "causes": ordered}}


def _lists_differ(recorded: list[Value], found: list[Value], path: str) -> list[str]:
    if recorded == ["[shortened]"]:
        return []
    more = 0
    if recorded and isinstance(recorded[-1], str) and recorded[-1].startswith("[shortened: "):
        more = int(recorded[-1].split()[1])
        recorded = recorded[:-1]
    if len(found) != len(recorded) + more:
        return [f"{path}: {len(found)} items, recorded {len(recorded) + more}"]
    problems = []
    for i, (each, other) in enumerate(zip(recorded, found, strict=False)):
        timed = isinstance(each, dict) and "t" in each and "event" in each
        expected = {"event": each["event"]} if timed else each
        problems += differences(expected, other, f"{path}[{i}]")
    return problems


def _same_text(recorded: str, found: str) -> bool:
    """Equal, up to where the recording was shortened and for the object that a text shows."""
    cut = SHORTENED.fullmatch(recorded)
    if cut is not None:
        return found.startswith(cut.group(1))
    return PATCHED_OBJECT.sub("{object}", recorded) == PATCHED_OBJECT.sub("{object}", found)
