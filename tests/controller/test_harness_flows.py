"""The lifecycle of objects on a whole operator: what is written, how often, and what never."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

from controller.api import GROUP, INSTANCE_LABEL, LLDAP_USER
from controller.election.leadership import NotLeader
from controller.harness.resource import Object
from informers import PatchType, RawResponse, RestClient
from lldap import Credentials, Session
from lldap.opaque import Client, ClientV07, ClientV40
from lldap.passwords import OwnCredentials, Passwords
from sandbox.apiserver.transport import Call
from sandbox.lldap.exchange import Response
from tests.support.bed import ADMIN_PASSWORD, CALL_SECONDS, Bed
from tests.support.directory import Directory
from tests.support.kubebed import on_write, status_answer

VERIFIED = ("True", "Verified")
FINALIZER = LLDAP_USER.finalizer
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture
def bed() -> Bed:
    return Bed()


@pytest.fixture
def directory(bed: Bed) -> Directory:
    return Directory(bed)


def merge(bed: Bed, change: Object, name: str = "alice") -> None:
    path = bed.path("LldapUser", "team-a", name)
    bed.admin.patch(path, change, content_type=PatchType.MERGE)


def label(bed: Bed, value: int, name: str = "alice") -> None:
    merge(bed, {"metadata": {"labels": {"touched": str(value)}}}, name)


def status_writes(bed: Bed, name: str = "alice") -> int:
    return sum(path.endswith(f"/{name}/status") for _, path in bed.api_writes())


def ready(bed: Bed, name: str = "alice") -> Object:
    conditions = bed.get("LldapUser", name)["status"]["conditions"]
    found: Object = next(c for c in conditions if c["type"] == "Ready")
    return found


# --- statuses ------------------------------------------------------------------------------------


def test_I01_what_is_settled_is_not_written_again(bed: Bed) -> None:
    names = [f"user{number}" for number in range(30)]
    for name in names:
        bed.user(name)
    bed.settle(200)
    versions = {n: bed.get("LldapUser", n)["metadata"]["resourceVersion"] for n in names}
    bed.clear_logs()
    bed.run(1900, step=10)
    bed.start()
    bed.settle(200)
    assert bed.api_writes() == []
    assert bed.mutations() == []
    for name in names:
        assert bed.get("LldapUser", name)["metadata"]["resourceVersion"] == versions[name]


def test_I02_a_lasting_error_is_written_once_whatever_events_arrive(bed: Bed) -> None:
    bed.schema("age", kind="Integer")
    bed.settle()
    bed.clear_logs()
    bed.user("alice", attributes=[{"name": "age", "value": ["1e3"]}])
    for number in range(12):
        bed.run(5)
        label(bed, number)
    assert bed.ready("LldapUser", "alice") == ("False", "InvalidValue")
    assert status_writes(bed) == 1
    assert bed.mutations() == []


def odd(counter: Iterator[int]) -> Callable[..., Response]:
    """lldap refuses creations in words that nobody knows, each time with another id."""

    def hook(call: Any, forward: Callable[[Any], Response]) -> Response:
        if call.operation != "createUser":
            return forward(call)
        number = next(counter)
        message = f"Odd state, request req-{number} at 2030-01-01T00:00:{number:02}Z (0x7f{number})"
        return Response.of_json(200, {"data": None, "errors": [{"message": message}]})

    return hook


def test_I02_an_error_text_with_a_varying_part_is_written_once(bed: Bed) -> None:
    bed.settle()
    asked = iter(range(10**6))
    bed.lldap.hooks.append(odd(asked))
    bed.clear_logs()
    bed.user("alice")
    for number in range(60):
        bed.run(1)
        label(bed, number)
    assert bed.ready("LldapUser", "alice") == ("False", "Refused")
    assert "request req-0 at" in bed.message("LldapUser", "alice")
    assert status_writes(bed) == 1
    assert next(asked) < 20  # the back-off holds although events arrive


def test_I03_the_generation_is_the_one_that_was_reconciled(bed: Bed) -> None:
    bed.user("alice")
    bed.settle()
    since = ready(bed)["lastTransitionTime"]
    bed.clock.advance(60)
    merge(bed, {"spec": {"deletionPolicy": "Retain"}})  # nothing is to do for it
    bed.settle()
    status = bed.get("LldapUser", "alice")["status"]
    assert status["observedGeneration"] == ready(bed)["observedGeneration"] == 2
    assert ready(bed)["lastTransitionTime"] == since
    merge(bed, {"spec": {"attributes": [{"name": "avatar", "value": ["a", "b"]}]}})
    bed.settle()
    assert (ready(bed)["status"], ready(bed)["observedGeneration"]) == ("False", 3)
    assert ready(bed)["lastTransitionTime"] > since


def test_I03_a_spec_edited_during_a_slow_pass_is_reconciled_next(
    bed: Bed, directory: Directory
) -> None:
    bed.user("alice")
    bed.settle()
    seen: list[tuple[int, str]] = []
    edits = iter(["second"])

    def slow(call: Any, forward: Callable[[Any], Response]) -> Response:
        if call.operation == "updateUser":
            for edit in edits:
                merge(bed, {"spec": {"displayName": edit}})
        return forward(call)

    def after(call: Call, status: int) -> None:
        if call.path.endswith("/status") and status == 200:
            obj = orjson.loads(call.body)
            conditions = obj["status"]["conditions"]
            shown = next(c for c in conditions if c["type"] == "Ready")
            seen.append((shown["observedGeneration"], shown["status"]))

    bed.lldap.hooks.append(slow)
    bed.api_transport.after = after
    merge(bed, {"spec": {"displayName": "first"}})
    bed.run(5)
    assert (2, "True") not in seen  # generation 3 was there before it could be written
    assert seen[-1] == (3, "True")
    assert ready(bed)["observedGeneration"] == 3
    row = directory.user("alice")
    assert row is not None
    assert row.columns["display_name"] == "second"


def test_I05_an_object_deleted_before_its_status_is_written_is_forgotten(bed: Bed) -> None:
    bed.settle()

    def deleted_meanwhile(call: Call) -> RawResponse | None:
        if call.path.endswith("/alice/status"):
            merge(bed, {"metadata": {"finalizers": []}})
            bed.delete("LldapUser", "alice")
            bed.api_transport.before = lambda _call: None
        return None

    bed.api_transport.before = deleted_meanwhile
    bed.user("alice")
    bed.settle()
    assert not bed.exists("LldapUser", "alice")
    assert bed.operator.queues["LldapUser"].idle()
    assert errors(bed) == 0
    assert [kind for _, kind, _, _ in bed.events.seen if kind == "Warning"] == []


def errors(bed: Bed) -> float:
    for family in bed.metrics.registry.collect():
        for sample in family.samples:
            name, kind = sample.name, sample.labels.get("controller")
            if (name, kind) == ("controller_runtime_reconcile_errors_total", "LldapUser"):
                return float(sample.value)
    raise AssertionError("no such metric")


# --- finalizers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(status_answer(404, "NotFound"), id="404"),
        pytest.param(status_answer(409, "Conflict"), id="409"),
        pytest.param(status_answer(422, "Invalid"), id="422"),
    ],
)
def test_E03_a_finalizer_patch_that_is_refused_deletes_once_and_is_no_error(
    bed: Bed, refusal: RawResponse
) -> None:
    bed.user("alice")
    bed.settle()
    bed.clear_logs()
    bed.api_transport.before = on_write(refusal, part="/alice", times=1)
    bed.delete("LldapUser", "alice")
    bed.run(5)
    assert bed.mutations() == ["deleteUser"]
    assert errors(bed) == 0
    gone = not bed.exists("LldapUser", "alice")
    assert gone is (refusal.status != 404)  # 404 is done: nobody asks again


def test_E01_an_entry_that_another_controller_takes_off_stays_off(bed: Bed) -> None:
    a, b = "example.org/a", "example.org/b"
    bed.user("alice")
    bed.settle()
    merge(bed, {"metadata": {"finalizers": [a, FINALIZER, b]}})
    bed.settle()

    def meanwhile(call: Call) -> RawResponse | None:
        if call.method == "PATCH" and call.path.endswith("/alice"):
            bed.api_transport.before = lambda _call: None
            merge(bed, {"metadata": {"finalizers": [FINALIZER, b]}})
        return None

    bed.api_transport.before = meanwhile
    bed.delete("LldapUser", "alice")
    bed.run(5)
    assert bed.get("LldapUser", "alice")["metadata"]["finalizers"] == [b]


def test_a_finalizer_that_somebody_takes_off_is_put_on_again(bed: Bed) -> None:
    bed.user("alice")
    bed.settle()
    merge(bed, {"metadata": {"finalizers": []}})
    bed.settle()
    assert bed.get("LldapUser", "alice")["metadata"]["finalizers"] == [FINALIZER]


# --- beside GitOps -------------------------------------------------------------------------------

TRACKING = {
    "argocd.argoproj.io/instance": "apps",
    "app.kubernetes.io/instance": "apps",
    "kustomize.toolkit.fluxcd.io/name": "apps",
    "applyset.kubernetes.io/part-of": "apps",
}


def test_L01_what_the_operator_makes_carries_its_own_labels_alone(bed: Bed) -> None:
    bed.user("alice", labels=TRACKING)
    bed.settle()
    virtual = bed.get("LldapGroup", "default--lldap-admin", "lldap-system")
    assert virtual["metadata"]["labels"] == {INSTANCE_LABEL: "default"}
    assert bed.get("LldapUser", "alice")["metadata"]["labels"].keys() >= TRACKING.keys()


def test_L02_a_manifest_that_is_applied_again_and_again_changes_nothing(bed: Bed) -> None:
    bed.user("alice", displayName="Al")
    bed.settle()
    before = bed.get("LldapUser", "alice")
    bed.clear_logs()
    for _ in range(12):
        bed.run(5)
        bed.user("alice", displayName="Al")
    bed.settle()
    after = bed.get("LldapUser", "alice")
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    assert after["metadata"]["finalizers"] == [FINALIZER]
    assert bed.api_writes() == []
    ours = [e for e in after["metadata"]["managedFields"] if e["manager"] == "lldap-operator"]
    fields = {entry.get("subresource", ""): set(entry["fieldsV1"]) for entry in ours}
    assert fields == {"": {"f:metadata"}, "status": {"f:status"}}
    metadata = next(e for e in ours if not e.get("subresource"))["fieldsV1"]["f:metadata"]
    assert set(metadata) == {"f:finalizers"}


# --- odd objects ---------------------------------------------------------------------------------


def test_K06_long_names_and_odd_annotation_keys_are_no_trouble(
    bed: Bed, directory: Directory
) -> None:
    name = "a" * 63 + "." + ".".join(["b" * 62] * 3)
    assert len(name) == 252
    odd_key = {"example.test/a~b": "x", f"{GROUP}/reconcile-at": "a/b~c"}
    bed.user("alice", object=name, annotations=odd_key)
    bed.settle()
    assert bed.ready("LldapUser", name) == VERIFIED
    obj = bed.get("LldapUser", name)
    assert obj["metadata"]["labels"] == {INSTANCE_LABEL: "default"}
    assert obj["metadata"]["annotations"] == odd_key
    bed.delete("LldapUser", name)
    bed.settle()
    assert not directory.has_user("alice")
    assert not bed.exists("LldapUser", name)


def old_crd(bed: Bed, *lacking: str) -> Callable[[], None]:
    """The CRD of the users as an older release had it; what it gives back makes it new again."""
    path = f"{CRDS}/{LLDAP_USER.crd_name}"
    new = bed.admin.get(path)
    old = orjson.loads(orjson.dumps(new))
    schema = old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for field in lacking:
        del schema["properties"]["status"]["properties"][field]

    def put(spec: Object) -> None:
        now = bed.admin.get(path)
        bed.admin.put(path, {**now, "spec": spec})
        bed.clock.advance(5)
        bed.api.step()

    put(old["spec"])
    return lambda: put(new["spec"])


def test_K07_an_old_crd_under_a_new_operator_is_told_of_and_makes_no_hot_loop(
    bed: Bed, directory: Directory
) -> None:
    bed.user("first")
    bed.settle()
    upgrade = old_crd(bed, "managed", "origin")
    bed.settle()
    bed.clear_logs()
    bed.user("alice")
    bed.run(500, step=5)  # no resync yet
    assert directory.has_user("alice")
    assert bed.mutations() == ["createUser"]
    assert status_writes(bed) == 1
    told = [event for event in bed.events.seen if event[:2] == ("LldapUser alice", "Warning")]
    assert [reason for _, _, reason, _ in told] == ["UnsupportedServer"]
    assert "apply its CRDs" in told[0][3]
    upgrade()
    bed.run(900, step=10)
    assert bed.ready("LldapUser", "alice") == VERIFIED


def test_K07_an_operator_that_knows_fewer_fields_leaves_the_others_alone(bed: Bed) -> None:
    """A newer CRD has a field that this release does not know: it is never written or dropped."""
    path = f"{CRDS}/{LLDAP_USER.crd_name}"
    crd = bed.admin.get(path)
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    schema["spec"]["properties"]["nickname"] = {"type": "string"}
    bed.admin.put(path, crd)
    bed.clock.advance(5)
    bed.api.step()
    bed.user("alice", nickname="al")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == VERIFIED
    merge(bed, {"spec": {"displayName": "Al"}})
    bed.settle()
    assert bed.get("LldapUser", "alice")["spec"]["nickname"] == "al"
    bed.delete("LldapUser", "alice")
    bed.settle()
    assert not bed.exists("LldapUser", "alice")


# --- many objects --------------------------------------------------------------------------------


def calls_of_a_restart(count: int) -> list[str]:
    bed = Bed()
    for number in range(count):
        bed.user(f"user{number}")
    bed.settle(20 * count)
    bed.clear_logs()
    bed.start()
    bed.settle(20 * count)
    assert bed.api_writes() == []
    assert bed.mutations() == []
    return bed.operations()


def test_G07_a_restart_asks_lldap_as_often_for_many_objects_as_for_few() -> None:
    assert calls_of_a_restart(2) == calls_of_a_restart(60)


def test_G07_a_persons_change_is_served_before_a_resync(bed: Bed) -> None:
    names = [f"user{number:02}" for number in range(50)]
    for name in names:
        bed.user(name)
    bed.settle(400)
    bed.operator.compare_all()
    merge(bed, {"spec": {"displayName": "now"}}, "user49")
    for informer in bed.operator.all_informers:
        for reflector in informer.reflectors:
            reflector.step()
        for registration in informer.registrations:
            registration.step()
    bed.clear_logs()
    bed.operator.pool.try_step()
    assert bed.mutations() == ["updateUser"]


# --- the end of a term ---------------------------------------------------------------------------


class Fence:
    """Writes are allowed until it falls."""

    fallen = False

    def __call__(self, _seconds: float) -> None:
        if self.fallen:
            raise NotLeader


def start_fenced(bed: Bed, fence: Fence) -> None:
    own = OwnCredentials(lambda: Credentials("admin", ADMIN_PASSWORD))
    session = Session(
        bed.lldap_transport, own, clock=bed.clock, call_seconds=CALL_SECONDS, before_write=fence
    )
    clients: list[Client] = [ClientV07(random=os.urandom, stretch=bed.stretch), ClientV40()]
    bed.start(
        rest=RestClient(bed.api_transport, call_seconds=CALL_SECONDS, fence=fence),
        session=session,
        passwords=Passwords(session, own, clients),
    )


@pytest.mark.parametrize("last_call", ["createUser", "/auth/opaque/register/finish"])
def test_G08_nothing_is_written_once_the_term_is_over_and_the_next_one_goes_on(
    bed: Bed, directory: Directory, last_call: str
) -> None:
    bed.secret("s", b"correct horse battery")
    fence = Fence()
    transport = bed.api_transport
    start_fenced(bed, fence)
    bed.settle()

    def fall(call: Any, forward: Callable[[Any], Response]) -> Response:
        if call.operation == last_call:
            fence.fallen = True
        return forward(call)

    bed.lldap.hooks.append(fall)
    bed.user("alice", passwordPolicy="Manage", passwordSecretRef={"name": "s", "key": "password"})
    bed.lldap.log.clear()
    transport.calls.clear()
    bed.run(30)
    assert bed.mutations()[-1] == last_call
    assert [c for c in transport.calls if c.call.path.endswith("/alice/status")] == []
    assert "InternalError" not in bed.events.reasons()
    bed.lldap.hooks.clear()
    bed.start()
    bed.run(10)
    assert bed.ready("LldapUser", "alice") == VERIFIED
    assert bed.login("alice", "correct horse battery") == 200
    assert directory.has_user("alice")
