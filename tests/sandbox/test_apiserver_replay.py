"""The sandbox's API server answers as kube-apiserver 1.37 did, exchange by exchange."""

import json
from collections.abc import Callable
from functools import partial

import pytest

from sandbox.apiserver.authorization import AUTHENTICATED, Rule, User
from sandbox.apiserver.objects import Object, Value
from tests.sandbox.apiserver_replay import BASE, CRD_BASE, DATA, GROUP, LABEL, Replay
from tests.sandbox.replay_claims import KINDS, named, without_hash, without_managed_fields

RECORDING: list[Object] = json.loads((DATA / "kube-apiserver-1.37.json").read_text())
USERS = f"{BASE}/namespaces/team-a/lldapusers"
SECRETS = "/api/v1/namespaces/team-a/secrets"
OPERATOR = "system:serviceaccount:lldap-system:lldap-operator"
CLEANUP = f"{GROUP}/user-cleanup"

# What the sandbox does not claim, and why.
UNCLAIMED = {
    38: "a Warning for a field of a version that is not served goes with the refusal",
    207: "an answer in protobuf",
    256: "when bookmarks of a quiet kind come",
    **dict.fromkeys((258, 259, 260, 261), "a server without watch cache"),
    274: "TokenRequest and service accounts",
    275: "a token that the recording does not hold",
    277: "audiences of tokens",
    364: "the list of checks of /readyz?verbose",
    389: "too many requests in flight: a test injects that",
    420: "SelfSubjectRulesReview",
}


def large_user(metadata: Object | None = None, spec: Object | None = None) -> Object:
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "LldapUser",
        "metadata": {"name": "big", "labels": {LABEL: "default"}, **(metadata or {})},
        "spec": {
            "username": "big",
            "email": "big@e.org",
            "passwordPolicy": "Ignore",
            **(spec or {}),
        },
    }


# The recorder wrote this body down after it had changed it for the next exchange.
del RECORDING[55]["request"]["body"]["spec"]["displayName"]


# Bodies that were too large to write down.
RECORDING[370]["request"]["body"] = "[" + "1," * 2_000_000 + "1]"
RECORDING[371]["request"]["body"] = large_user(
    spec={"attributes": [{"name": "a", "value": ["x" * 1_600_000]}]}
)
RECORDING[372]["request"]["body"] = large_user(metadata={"annotations": {"a": "x" * 262_144}})


def operator_rules() -> list[Rule]:
    everywhere = {"groups": [GROUP]}
    return [
        Rule(verbs=["get", "list", "watch", "patch"], resources=KINDS, **everywhere),
        Rule(verbs=["patch"], resources=[f"{kind}/status" for kind in KINDS], **everywhere),
        Rule(verbs=["get", "list", "watch"], groups=[""], resources=["secrets"]),
        Rule(verbs=["create", "patch"], groups=["events.k8s.io"], resources=["events"]),
        Rule(
            verbs=["create"],
            groups=[GROUP],
            resources=["lldapgroups"],
            namespaces=["lldap-system"],
        ),
        Rule(
            verbs=["create"],
            groups=["coordination.k8s.io"],
            resources=["leases"],
            namespaces=["lldap-system"],
        ),
        Rule(
            verbs=["get", "update"],
            groups=["coordination.k8s.io"],
            resources=["leases"],
            names=["lldap-operator-default"],
            namespaces=["lldap-system"],
        ),
    ]


def begin(replay: Replay) -> None:
    replay.load_crds()
    for name in ("team-a", "lldap-system"):
        replay.send("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    replay.put_policy("lldap-instance-label", "label")
    replay.put_policy("lldap-built-in", "builtIn")


def create_erin(replay: Replay) -> None:
    body = RECORDING[135]["request"]["body"]
    body = {**body, "spec": {**body["spec"], "displayName": "E"}}
    path = f"{USERS}/erin?fieldManager=kubectl"
    uid = RECORDING[151]["body"]["details"]["uid"]
    replay.send("PATCH", path, body, rv=418, uid=uid, content_type="application/apply-patch+yaml")


def create_for_deletion(replay: Replay) -> None:
    for name, rv in (("f1", 427), ("f2", 428), ("f3", 429)):
        uid = RECORDING[159]["body"]["details"]["uid"] if name == "f2" else ""
        more = {"uid": uid} if uid else {}
        replay.create("lldapusers", name, rv=rv, **more)


def create_for_lists(replay: Replay) -> None:
    for n in range(7):
        instance = "other" if n > 4 else "default"
        replay.create("lldapusers", f"l{n}", rv=436 + n, instance=instance, labels={"n": str(n)})


def at(time: str) -> Callable[[Replay], None]:
    def move(replay: Replay) -> None:
        replay.clock.time = replay.clock.time.fromisoformat(f"2026-11-29T{time}+00:00")

    return move


def label_all(replay: Replay) -> None:
    replay.send("POST", SECRETS, {"metadata": {"name": "s2"}, "stringData": {"a": "x"}})
    for name, rv, second in (
        ("alice", 526, 19),
        ("f3", 527, 19),
        *((f"l{n}", 531 + n, 20 if n > 1 else 19) for n in range(7)),
    ):
        body = {"metadata": {"labels": {"zz": "1"}}}
        time = f"20:57:{second}"
        replay.patch(f"{USERS}/{name}", body, rv=rv, at=time, user_agent="kubectl-label/1")
    for n in range(5):
        replay.patch(f"{USERS}/l1", {"spec": {"firstName": f"d{n}"}}, rv=712 + n, at="20:59:30")


def change_l1(replay: Replay) -> None:
    replay.server.store.advance(488)
    for n in range(5):
        replay.patch(f"{USERS}/l1", {"spec": {"firstName": f"c{n}"}}, rv=489 + n, at="20:56:10")


def give_rules(replay: Replay) -> None:
    replay.rules[OPERATOR] = operator_rules()
    replay.tokens["operator"] = User(OPERATOR, groups=(AUTHENTICATED,))
    replay.bearer = "operator"


def create_unlabelled(replay: Replay, rv: int, time: str, uid: str) -> None:
    replay.drop_policy("lldap-instance-label")
    body = {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "LldapUser",
        "metadata": {"name": "nolabel", "finalizers": [CLEANUP]},
        "spec": {"username": "nolabel", "email": "nolabel@example.org", "passwordPolicy": "Ignore"},
    }
    replay.send("POST", USERS, body, rv=rv, at=time, uid=uid)


def before_309(replay: Replay) -> None:
    create_unlabelled(replay, 760, "21:01:50", RECORDING[310]["body"]["metadata"]["uid"])
    replay.put_policy("lldap-instance-label", "label")


def before_314(replay: Replay) -> None:
    replay.drop_policy("err")
    replay.set_actions("lldap-instance-label", "Warn")


def win_the_race(replay: Replay) -> None:
    path = "/apis/coordination.k8s.io/v1/namespaces/lldap-system/leases/race"
    body = RECORDING[339]["request"]["body"]
    spec = {**body["spec"], "holderIdentity": "h1", "renewTime": "2026-01-01T00:00:02.123456Z"}
    replay.send("PUT", path, {**body, "spec": spec}, rv=783)


def create_dying(replay: Replay) -> None:
    uid = RECORDING[345]["body"]["metadata"]["uid"]
    replay.send("POST", "/api/v1/namespaces", {"metadata": {"name": "dying"}}, rv=785, uid=uid)
    finalizers = {"finalizers": ["a.b/c"]}
    replay.create("lldapusers", "d1", namespace="dying", metadata=finalizers, rv=786)


def before_377(replay: Replay) -> None:
    create_unlabelled(replay, 12880, "21:04:51", RECORDING[377]["body"]["metadata"]["uid"])
    replay.put_policy("lldap-instance-label", "labelOnCreate")


def change_crd(replay: Replay, limit: int, rv: int = 0) -> None:
    path = f"{CRD_BASE}/lldapusers.{GROUP}"
    crd = json.loads(replay.call("GET", path).body)
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["displayName"]["maxLength"] = limit
    replay.send("PUT", path, crd, rv=rv)


def tighten(replay: Replay) -> None:
    name = RECORDING[381]["body"]["spec"]["displayName"]
    replay.create("lldapusers", "ratchet", spec={"displayName": name}, rv=12893)
    change_crd(replay, 100)


def later(seconds: float) -> Callable[[Replay], None]:
    def move(replay: Replay) -> None:
        replay.clock.seconds += seconds

    return move


def before_412(replay: Replay) -> None:
    replay.patch(f"{USERS}/l5", {"metadata": {"labels": {"zz": "1"}}})
    replay.send("DELETE", f"{USERS}/l6")
    list_users = {"verbs": ["list"], "groups": [GROUP], "resources": ["lldapusers"]}
    replay.rules["system:serviceaccount:lldap-system:op2"] = [
        Rule(**list_users, namespaces=["team-a"])
    ]
    replay.tokens["op2"] = User("system:serviceaccount:lldap-system:op2", groups=(AUTHENTICATED,))
    one = "system:serviceaccount:team-a:one"
    replay.tokens["one"] = User(one, groups=(AUTHENTICATED,))
    replay.rules[one] = [
        Rule(verbs=["get", "list", "watch"], groups=[""], resources=["secrets"], names=["pw"])
    ]
    replay.bearer = "op2"


def bearer(name: str) -> Callable[[Replay], None]:
    def change(replay: Replay) -> None:
        replay.bearer = name

    return change


def before_422(replay: Replay) -> None:
    old = RECORDING[422]["body"]["stream"][0]["event"]["object"]
    metadata = {"annotations": old["metadata"]["annotations"]}
    replay.create(
        "lldapusers", "race", metadata=metadata, uid=old["metadata"]["uid"], at="21:08:00"
    )
    conditions = {"status": old["status"]}
    replay.patch(f"{USERS}/race/status", conditions, rv=14765)


def before_425(replay: Replay) -> None:
    uid = RECORDING[425]["body"]["metadata"]["uid"]
    replay.create("lldapusers", "uidt", spec={"firstName": "a"}, uid=uid, at="21:09:34")


# Of these answers only a part is claimed.
CLAIMED: dict[int, Callable[[Value], Value]] = {
    **dict.fromkeys((276, 278, 279, 280, 421), without_managed_fields),
    353: named("items", lambda each: each["metadata"]["name"]),
    354: lambda body: {**body, "items": body["items"][0]["versions"][0]["resources"]},
    356: named("resources", lambda each: each["name"], "storageVersionHash"),
    357: lambda body: {**body, "serverAddressByClientCIDRs": []},
    358: named("groups", lambda each: each["name"] if each["name"] == GROUP else "other"),
    359: lambda body: {key: body[key] for key in ("major", "minor", "gitVersion")},
    360: without_hash,
}

# What was done between the exchanges, by the number of the exchange that follows.
BEFORE: dict[int, Callable[[Replay], Value]] = {
    0: begin,
    68: at("20:52:26"),
    96: lambda replay: replay.server.store.compact(f"lldapusers.{GROUP}", 325),
    135: create_erin,
    153: create_for_deletion,
    158: lambda replay: replay.patch(f"{USERS}/f1", {"metadata": {"finalizers": None}}, rv=431),
    167: create_for_lists,
    185: lambda replay: replay.server.store.advance(443),
    200: at("20:54:42"),
    235: lambda replay: replay.server.store.advance(482),
    239: lambda replay: replay.server.store.advance(485),
    249: at("20:56:03"),
    253: change_l1,
    258: label_all,
    265: bearer("unknown"),
    281: give_rules,
    309: before_309,
    313: lambda replay: replay.put_policy("err", "failing"),
    314: before_314,
    315: lambda replay: replay.set_actions("lldap-instance-label", "Deny"),
    339: win_the_race,
    345: create_dying,
    377: before_377,
    381: tighten,
    384: later(5),
    390: lambda replay: change_crd(replay, 254, rv=14536),
    391: later(2),
    412: before_412,
    416: bearer("one"),
    420: bearer("operator"),
    422: before_422,
    425: before_425,
}


def write_secrets(replay: Replay) -> None:
    replay.patch(f"{SECRETS}/pw", {"metadata": {"labels": {"a": "b"}}}, rv=448, at="20:54:43")
    uid = RECORDING[229]["body"]["stream"][1]["event"]["object"]["metadata"]["uid"]
    replay.send("POST", SECRETS, {"metadata": {"name": "tmp"}}, rv=449, uid=uid)
    replay.send("DELETE", f"{SECRETS}/tmp", rv=450)


def live_and_die(name: str, rv: int) -> Callable[[Replay], None]:
    def write(replay: Replay) -> None:
        path = f"{USERS}/{name}"
        replay.create("lldapusers", name, labels={"team": "a"}, rv=rv)
        for team in "ba":
            replay.patch(path, {"metadata": {"labels": {"team": team}}})
        replay.patch(path, {"metadata": {"finalizers": ["a.b/c"]}})
        replay.send("DELETE", path)
        replay.patch(path, {"metadata": {"finalizers": None}})

    return write


def recreate_race(replay: Replay) -> None:
    replay.send("DELETE", f"{USERS}/race", rv=14766)
    new = RECORDING[422]["body"]["stream"][1]["event"]["object"]
    stamp = new["metadata"]["creationTimestamp"][11:19]
    replay.create("lldapusers", "race", uid=new["metadata"]["uid"], rv=14767, at=stamp)


# What was done while a watch was open.
DURING: dict[int, Callable[[Replay], Value]] = {
    229: write_secrets,
    231: live_and_die("we", 468),
    232: live_and_die("wl", 474),
    384: lambda replay: change_crd(replay, 255),
    388: lambda replay: replay.patch(
        f"{SECRETS}/pw", {"metadata": {"labels": {"q": "2"}}}, rv=12901, at="21:04:57"
    ),
    422: recreate_race,
}


@pytest.fixture(scope="module")
def played() -> dict[int, list[str]]:
    """Every claimed exchange and in what its answer differs."""
    replay = Replay(RECORDING)
    found = {}
    for number, exchange in enumerate(RECORDING):
        if number in BEFORE:
            BEFORE[number](replay)
        if number not in UNCLAIMED:
            during = DURING.get(number)
            claimed = CLAIMED.get(number, lambda body: body)
            found[number] = replay.play(
                exchange, partial(during, replay) if during else None, claimed
            )
    return found


def test_every_claimed_exchange_gets_the_recorded_answer(played: dict[int, list[str]]) -> None:
    wrong = [
        f"{number} {RECORDING[number]['case']}: {problem[:600]}"
        for number, problems in played.items()
        for problem in problems
    ]
    assert not wrong, "\n".join(wrong)


def test_almost_every_exchange_is_claimed(played: dict[int, list[str]]) -> None:
    assert len(played) + len(UNCLAIMED) == len(RECORDING) == 440
    assert len(UNCLAIMED) < 15


@pytest.mark.parametrize("number", [274, 420])
def test_what_is_not_served_is_not_found(number: int) -> None:
    request = RECORDING[number]["request"]
    response = Replay(RECORDING).call(request["method"], request["path"], request["body"])
    assert response.status == 404
