"""The lifecycle of objects on a whole operator: what is written, how often, and what never."""

from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

from controller.api import INSTANCE_LABEL, LLDAP_USER
from informers import RawResponse
from sandbox.apiserver.transport import Call
from sandbox.lldap.exchange import Response
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.edits import condition, merge
from tests.support.kubebed import on_write, status_answer

VERIFIED = ("True", "Verified")
FINALIZER = LLDAP_USER.finalizer


def label(bed: Bed, value: int, name: str = "alice") -> None:
    merge(bed, {"metadata": {"labels": {"touched": str(value)}}}, name)


def status_writes(bed: Bed, name: str = "alice") -> int:
    return sum(path.endswith(f"/{name}/status") for _, path in bed.api_writes())


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
    since = condition(bed)["lastTransitionTime"]
    bed.clock.advance(60)
    merge(bed, {"spec": {"deletionPolicy": "Retain"}})  # nothing is to do for it
    bed.settle()
    status = bed.get("LldapUser", "alice")["status"]
    assert status["observedGeneration"] == condition(bed)["observedGeneration"] == 2
    assert condition(bed)["lastTransitionTime"] == since
    merge(bed, {"spec": {"attributes": [{"name": "avatar", "value": ["a", "b"]}]}})
    bed.settle()
    assert (condition(bed)["status"], condition(bed)["observedGeneration"]) == ("False", 3)
    assert condition(bed)["lastTransitionTime"] > since


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
    assert condition(bed)["observedGeneration"] == 3
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
