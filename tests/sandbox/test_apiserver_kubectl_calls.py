"""Every call that kubectl 1.32 made in 85 commands gets the status that a real server gave it."""

import base64
import json
import re
from collections.abc import Iterator

import pytest

from sandbox.apiserver.authorization import Rule
from sandbox.apiserver.listing import encode_token
from sandbox.apiserver.objects import Object
from tests.sandbox.apiserver_replay import DATA, GROUP, LABEL, Replay

COMMANDS: list[Object] = json.loads((DATA / "kubectl-1.32-calls.json").read_text())
USERS = f"/apis/{GROUP}/v1alpha1/namespaces/team-a/lldapusers"
# What kubectl can do without: it asks on, or says so.
NOT_SERVED = re.compile(
    r"/openapi/v2|/serviceaccounts|/services\?|/selfsubjectrulesreviews", re.ASCII
)


def user(name: str) -> Object:
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "LldapUser",
        "metadata": {"name": name, "labels": {LABEL: "default", "n": name[-1]}},
        "spec": {"username": name, "email": f"{name}@example.org", "passwordPolicy": "Ignore"},
    }


@pytest.fixture(scope="module")
def replay() -> Replay:
    """The server in the state in which kubectl met it, as far as its calls tell."""
    replay = Replay([])
    replay.load_crds()
    replay.send("POST", "/api/v1/namespaces", {"metadata": {"name": "team-a"}})
    replay.put_policy("lldap-instance-label", "labelOnCreate")
    for name in ("alice", "f3", "l0", "l1", "l2", "l3", "l4", "l5"):
        replay.send("POST", USERS, user(name))
    for name in ("pw", "imm"):
        replay.send("POST", "/api/v1/namespaces/team-a/secrets", {"metadata": {"name": name}})
    return replay


class Caller:
    """Sends recorded calls with the resourceVersions that the sandbox gave."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    def status(self, call: Object, impersonated: str) -> tuple[int, str]:
        path = call["path"]
        body = base64.b64decode(call.get("body_base64", "")) or call.get("body", "").encode()
        if b"resourceVersion" in body:
            body = self._current(path, body)
        if "continue=" in path:
            token = encode_token(self._replay.server.store.revision, "/l1")
            path = re.sub(r"continue=[^&]*", f"continue={token}", path)
        headers = {name.lower(): value for name, value in call["headers"].items()}
        if impersonated:
            headers["impersonate-user"] = impersonated
        answer = self._replay.call(call["method"], path, body, headers)
        if answer.stream is not None:
            answer.stream.close()
        return answer.status, answer.content_type

    def _current(self, path: str, body: bytes) -> bytes:
        """Put the live resourceVersion where the recording has the one that kubectl had read."""
        live = json.loads(self._replay.call("GET", path.partition("?")[0]).body)
        version = live["metadata"]["resourceVersion"]
        text = re.sub(r'("resourceVersion":)"\d+"', rf'\1"{version}"', body.decode())
        pattern = r'("path":"/metadata/resourceVersion","value":)"\d+"'
        return re.sub(pattern, rf'\1"{version}"', text).encode()


def expected(call: Object) -> set[int]:
    if NOT_SERVED.search(call["path"]):
        return {404}
    if call["status"] == 304:
        return {200}  # no ETags: the whole answer again
    return {call["status"]}


def after(replay: Replay, case: str) -> None:
    """What else happened in a command, beside kubectl."""
    if case == "delete with finalizer":
        replay.patch(f"{USERS}/kurt", {"metadata": {"finalizers": None}})


def wrong_answers(replay: Replay) -> Iterator[str]:
    caller = Caller(replay)
    for command in COMMANDS:
        impersonated = re.search(r"--as[= ](\S+)", command["command"])
        for call in command["calls"]:
            status, content_type = caller.status(call, impersonated[1] if impersonated else "")
            if status not in expected(call):
                yield f"{command['case']}: {call['method']} {call['path']}: {status}"
            if not content_type.startswith(("application/json", "text/plain")):
                yield f"{command['case']}: {content_type}"
        after(replay, command["case"])


def test_every_call_gets_the_recorded_status(replay: Replay) -> None:
    wrong = list(wrong_answers(replay))
    assert not wrong, "\n".join(wrong)


def test_a_secret_in_protobuf_is_stored() -> None:
    replay = Replay([])
    call = next(
        call
        for command in COMMANDS
        if command["case"] == "create secret"
        for call in command["calls"]
    )
    replay.send("POST", "/api/v1/namespaces", {"metadata": {"name": "team-a"}})
    body = base64.b64decode(call["body_base64"])
    headers = {"content-type": "application/vnd.kubernetes.protobuf"}
    answer = json.loads(replay.call("POST", call["path"], body, headers).body)
    assert answer["metadata"]["name"] == "s1"
    assert answer["data"] == {"password": "eA=="}
    assert answer["type"] == "Opaque"


@pytest.mark.parametrize(
    "body", [b"k8s\x00", b"k8s\x00\x0a\xff", b"PK", b"k8s\x00\x0a\x02\x0a\x00"]
)
def test_a_protobuf_that_is_none_is_refused(body: bytes) -> None:
    headers = {"content-type": "application/vnd.kubernetes.protobuf"}
    answer = Replay([]).call("POST", "/api/v1/namespaces", body, headers)
    assert answer.status == 400


def test_a_custom_object_is_not_taken_in_protobuf() -> None:
    replay = Replay([])
    replay.load_crds()
    headers = {"content-type": "application/vnd.kubernetes.protobuf"}
    answer = replay.call(
        "POST", f"/apis/{GROUP}/v1alpha1/namespaces/x/lldapusers", b"k8s\0", headers
    )
    assert answer.status == 415


def test_who_impersonates_has_the_rights_of_the_other() -> None:
    replay = Replay([])
    replay.load_crds()
    replay.rules["reader"] = [Rule(verbs=["list"], groups=["*"], resources=["*"])]
    for name, status in (("reader", 200), ("nobody", 403)):
        answer = replay.call("GET", USERS, headers={"impersonate-user": name})
        assert answer.status == status
