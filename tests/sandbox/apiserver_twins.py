"""Sends the same calls to a real API server and to the sandbox's and compares what they say."""

import random
import re
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import NamedTuple

import orjson
import requests
import yaml

from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.messages import Request, parse_target, response_headers
from sandbox.apiserver.objects import Object, Value
from tests.sandbox.apiserver_replay import GROUP, LABEL, RecordedClock, differences

BASE = f"/apis/{GROUP}/v1alpha1/namespaces"
INSTALLED = {
    "CustomResourceDefinition": "customresourcedefinitions",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}
PATCHES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
    "strategic": "application/strategic-merge-patch+json",
}
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Step(NamedTuple):
    """One call; its body may hold `{uid}` and `{rv}`, which each server fills in by itself."""

    method: str
    path: str
    body: Value = None
    content_type: str = "application/json"


class Twin:
    """One of the two servers: sends, and remembers what it last saw of each object."""

    def __init__(self) -> None:
        self.seen: dict[str, Object] = {}
        self.names: dict[
            str, dict[str, str]
        ] = {}  # uids and resourceVersions → in which order they came

    def send(self, step: Step) -> tuple[int, Value, str]:
        path, body = (self._fill(part) for part in (step.path, orjson.dumps(step.body).decode()))
        raw = b"" if step.body is None else body.encode()
        status, text, warning = self.call(step.method, path, raw, step.content_type)
        parsed = orjson.loads(text) if text.startswith(b"{") else text.decode()
        self._remember(parsed)
        return status, self._plain(parsed), warning

    def call(
        self, method: str, path: str, body: bytes, content_type: str
    ) -> tuple[int, bytes, str]:
        raise NotImplementedError

    def _fill(self, text: str) -> str:
        def fill(found: re.Match[str]) -> str:
            metadata = self.seen.get(found[2], {})
            return str(metadata.get({"uid": "uid", "rv": "resourceVersion"}[found[1]], "0"))

        return re.sub(r"<(uid|rv) ([\w.-]+)>", fill, text)

    def _remember(self, parsed: Value) -> None:
        if isinstance(parsed, dict):
            metadata = parsed.get("metadata")
            if isinstance(metadata, dict) and "uid" in metadata:
                self.seen[metadata["name"]] = metadata
            for each in parsed.get("items") or ():
                self._remember(each)

    def _plain(self, value: Value, key: str = "") -> Value:
        """Replace what differs by nature: times, and uids and versions by their order."""
        if isinstance(value, dict):
            return {name: self._plain(each, name) for name, each in value.items()}
        if isinstance(value, list):
            plain = [self._plain(each, key) for each in value]
            return sorted(plain, key=_sorted_text) if key == "managedFields" else plain
        if not isinstance(value, str):
            return value
        if key == "resourceVersion":
            return self._name(value, "rv")
        value = "\n".join(sorted(re.sub(r"got .*", "got VALUE", value).split("\n")))
        value = re.sub(r"(in record|in the precondition) \(\d+\)", r"\1 (rv)", value)
        return UID.sub(lambda found: self._name(found[0], "uid"), STAMP.sub("TIME", value))

    def _name(self, value: str, kind: str) -> str:
        known = self.names.setdefault(kind, {})
        return known.setdefault(value, f"{kind}-{len(known)}")


def _sorted_text(value: Value) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


class RealTwin(Twin):
    """A real API server."""

    def __init__(self, url: str, session: requests.Session) -> None:
        super().__init__()
        self._url = url
        self._session = session

    def call(
        self, method: str, path: str, body: bytes, content_type: str
    ) -> tuple[int, bytes, str]:
        headers = {"Content-Type": content_type, "Accept": "application/json"}
        headers["User-Agent"] = "twin/1"
        answer = self._session.request(
            method, self._url + path, data=body, headers=headers, timeout=10
        )
        self.time = parsedate_to_datetime(answer.headers["Date"])
        return answer.status_code, answer.content, answer.headers.get("Warning", "")


class SandboxTwin(Twin):
    """The sandbox's, in process."""

    def __init__(self, clock: RecordedClock) -> None:
        super().__init__()
        self.clock = clock
        self.server = ApiServer(clock, random.Random(1))

    def install(self, folder: Path) -> None:
        for file in sorted(folder.glob("*.yaml")):
            for document in yaml.safe_load_all(file.read_text()):
                path = f"/apis/{document['apiVersion']}/{INSTALLED[document['kind']]}"
                status, text, _ = self.call("POST", path, orjson.dumps(document), "")
                assert status == 201, text

    def call(
        self, method: str, path: str, body: bytes, content_type: str
    ) -> tuple[int, bytes, str]:
        found, query = parse_target(path)
        headers = {"content-type": content_type, "accept": "application/json"}
        headers["user-agent"] = "twin/1"
        answer = self.server.request(Request(method, found, query, headers, body))
        return answer.status, answer.body, response_headers(answer).get("Warning", "")


def compare(real: RealTwin, sandbox: SandboxTwin, step: Step) -> list[str]:
    """Send one call to both, at one time; returns in what the answers differ."""
    expected = real.send(step)
    sandbox.clock.time = real.time
    found = sandbox.send(step)
    problems = []
    if expected[0] != found[0]:
        problems.append(f"status {found[0]}, really {expected[0]}: {expected[1]}")
    if expected[2] != found[2]:
        problems.append(f"Warning {found[2]!r}, really {expected[2]!r}")
    return problems + differences(expected[1], found[1], "")


class Steps:
    """Random calls that touch few objects in many ways."""

    def __init__(self, source: random.Random, namespace: str) -> None:
        self._random = source
        self._namespace = namespace
        self._makers = (self._create, self._put, self._merge, self._json, self._apply, self._status)

    def __iter__(self) -> Iterator[Step]:
        while True:
            chance = self._random.random()
            if chance < 0.75:
                yield self._random.choice(self._makers)()
            elif chance < 0.9:
                yield self._delete()
            else:
                yield Step("GET", self._path())

    def _one(self, *choices: Value) -> Value:
        return self._random.choice(choices)

    def _maybe(self, chance: float = 0.5) -> bool:
        return self._random.random() < chance

    def _path(self, name: str = "", query: str = "", subresource: str = "") -> str:
        return f"{BASE}/{self._namespace}/lldapusers/{name or self._name()}{subresource}{query}"

    def _name(self) -> str:
        return str(self._one("ann", "bob", "cid"))

    def _options(self, *, apply: bool = False) -> str:
        options = []
        if apply or self._maybe(0.3):
            options.append(f"fieldManager={self._one('one', 'two', 'three')}")
        if apply and self._maybe():
            options.append("force=true")
        if self._maybe(0.1):
            options.append("dryRun=All")
        if self._maybe(0.2):
            options.append(f"fieldValidation={self._one('Strict', 'Warn', 'Ignore')}")
        return "?" + "&".join(options) if options else ""

    def _spec(self, *, whole: bool, wrong: tuple[Value, ...] = (1,)) -> Object:
        spec: Object = {}
        if whole or self._maybe():
            spec["username"] = self._one("ann", "ann", "ann", "..", "a b", None)
        if whole or self._maybe():
            spec["email"] = self._one("a@b.c", "a@b.cd", "nope", *wrong)
        if whole or self._maybe():
            spec["passwordPolicy"] = self._one("Ignore", "Ignore", "Ignore", "Manage", "X", None)
        for key, values in {
            "displayName": ("A", "B", "", None, "x" * 300),
            "firstName": ("F", None),
            "bogus": (1, {"a": [1]}),
            "deletionPolicy": ("Delete", "Retain", None),
            "passwordSecretRef": ({"name": "s", "key": "k"}, {"name": "s"}, None),
            "attributes": (self._attributes(), self._attributes(), [], None),
        }.items():
            if self._maybe(0.05 if key == "bogus" else 0.3):
                spec[key] = self._one(*values)
        return spec

    def _attributes(self) -> list[Value]:
        names = self._random.sample(
            ["dept", "loc", "Dept", "mail", "x" * 70, "y"], k=self._one(1, 2, 3)
        )
        return [{"name": name, "value": self._one([], ["a"], ["a", "b"])} for name in names]

    def _metadata(self, name: str, *, whole: bool) -> Object:
        metadata: Object = {"name": name}
        if whole:
            metadata["labels"] = {LABEL: "default"}
        if self._maybe(0.3):
            label = {self._one("a", "b/c", "b d"): self._one("1", "2", "", "u v")}
            metadata["labels"] = {**metadata.get("labels", {}), **label}
        if self._maybe(0.2):
            metadata["annotations"] = self._one({"a": "1"}, {"b": "2", "c": "3"}, {}, None)
        if self._maybe(0.3):
            metadata["finalizers"] = self._one(["x.y/a"], ["x.y/b", "x.y/a"], ["plain"], [], None)
        if self._maybe(0.15):
            metadata["resourceVersion"] = self._one(f"<rv {name}>", f"<rv {name}>", "1")
        if self._maybe(0.1):
            metadata["uid"] = self._one(f"<uid {name}>", "11111111-1111-1111-1111-111111111111")
        return metadata

    def _object(self, name: str, **parts: Value) -> Object:
        return {"apiVersion": f"{GROUP}/v1alpha1", "kind": "LldapUser", **parts}

    def _create(self) -> Step:
        name = self._name()
        metadata = self._metadata(name, whole=True)
        body = self._object(name, metadata=metadata, spec=self._spec(whole=True))
        path = f"{BASE}/{self._namespace}/lldapusers{self._options()}"
        return Step("POST", path, body)

    def _put(self) -> Step:
        name = self._name()
        metadata = self._metadata(name, whole=True)
        if self._maybe(0.8):
            metadata["resourceVersion"] = f"<rv {name}>"
        subresource = self._one("", "", "", "/status")
        # A body that is not even of the right types is not looked at for who owns its fields.
        spec = self._spec(whole=True, wrong=() if subresource else (1,))
        body = self._object(name, metadata=metadata, spec=spec)
        if self._maybe(0.3):
            body["status"] = self._status_body(wrong=("1",) if subresource else ())
        return Step("PUT", self._path(name, self._options(), subresource), body)

    def _merge(self) -> Step:
        name = self._name()
        body: Object = {}
        if self._maybe():
            body["metadata"] = self._metadata(name, whole=False)
        subresource = self._one("", "", "/status")
        if self._maybe(0.7):
            body["spec"] = self._spec(whole=False, wrong=() if subresource else (1,))
        if subresource:
            body["status"] = self._one(self._status_body(), self._status_body(), None, {})
        path = self._path(name, self._options(), subresource)
        return Step("PATCH", path, body, PATCHES["merge"])

    def _json(self) -> Step:
        name = self._name()
        operations = [
            self._one(
                {"op": "add", "path": "/spec/displayName", "value": self._one("J", "K", 1)},
                {"op": "remove", "path": "/spec/displayName"},
                {"op": "test", "path": "/metadata/uid", "value": f"<uid {name}>"},
                {"op": "test", "path": "/spec/deletionPolicy", "value": "Delete"},
                {"op": "add", "path": "/metadata/finalizers", "value": ["x.y/j"]},
                {"op": "add", "path": "/metadata/finalizers/-", "value": "x.y/k"},
                {"op": "remove", "path": "/metadata/finalizers/0"},
                {"op": "replace", "path": "/metadata/labels/a", "value": "z"},
                {"op": "copy", "from": "/spec/email", "path": "/spec/lastName"},
                {"op": "move", "from": "/spec/lastName", "path": "/spec/firstName"},
                {"op": "add", "path": "/spec/attributes/0", "value": {"name": "j", "value": []}},
            )
            for _ in range(self._one(1, 1, 2))
        ]
        return Step("PATCH", self._path(name, self._options()), operations, PATCHES["json"])

    def _applied_metadata(self, name: str, *, whole: bool) -> Object:
        """Empty maps and nulls in metadata leave traces that nobody can see: not sent."""
        metadata = self._metadata(name, whole=whole)
        return {key: value for key, value in metadata.items() if value not in (None, {}, [])}

    def _apply(self) -> Step:
        name = self._name()
        metadata = self._applied_metadata(name, whole=self._maybe(0.7))
        body = self._object(name, metadata=metadata)
        if self._maybe(0.9):
            # Of two such faults the server tells one or both, as chance has it.
            body["spec"] = self._spec(whole=self._maybe(0.7), wrong=())
        path = self._path(name, self._options(apply=True))
        return Step("PATCH", path, body, PATCHES["apply"])

    def _status(self) -> Step:
        name = self._name()
        body = self._object(name, metadata=self._applied_metadata(name, whole=False))
        if self._maybe(0.9):
            body["status"] = self._status_body()
        path = self._path(name, self._options(apply=True), "/status")
        return Step("PATCH", path, body, PATCHES["apply"])

    def _status_body(self, *, wrong: tuple[Value, ...] = ("1",)) -> Object:
        status: Object = {}
        for key, values in {
            "userId": ("ann", "bob", None),
            "observedGeneration": (1, 2, 1.0, 1.5, *wrong),
            "managed": (["email"], ["a", "b"], ["b", "c"], ["a", "a"], []),
            "conditions": (self._conditions(), self._conditions(), [], None),
        }.items():
            if self._maybe(0.4):
                status[key] = self._one(*values)
        return {"nosuch": 1} if self._maybe(0.03) else status

    def _conditions(self) -> list[Value]:
        kinds = self._random.sample(["Ready", "Backup", "Stalled"], k=self._one(1, 2, 3))
        return [
            {
                "type": kind,
                "status": self._one("True", "False", "False", "Maybe"),
                "reason": "R",
                "message": self._one("", "m"),
                "lastTransitionTime": self._one("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
            }
            for kind in kinds
        ]

    def _delete(self) -> Step:
        name = self._name()
        body: Value = None
        if self._maybe(0.3):
            wanted = self._one({"uid": f"<uid {name}>"}, {"resourceVersion": f"<rv {name}>"})
            wrong = {"uid": "11111111-1111-1111-1111-111111111111"}
            body = {"preconditions": self._one(wanted, wrong)}
        elif self._maybe(0.2):
            body = {"propagationPolicy": self._one("Foreground", "Background", "Orphan", "X")}
            return Step("DELETE", self._path(name), body)
        return Step("DELETE", self._path(name, "?dryRun=All" if self._maybe(0.1) else ""), body)
