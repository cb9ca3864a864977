"""Statuses: the whole of ours, only when it changed, never over a newer object."""

import orjson
import pytest

from controller.api import READY
from controller.harness.conditions import ready_false, ready_true
from controller.harness.finalizers import ObjectGone, StaleObject
from controller.harness.resource import Object, Resource
from controller.harness.statuswriter import is_ready, ours, status_update_best_effort
from informers import ApiFailure, ConnectionFailed, RawResponse, StatusError, UnexpectedAnswer
from sandbox.apiserver.transport import Call
from tests.support.kubebed import FINALIZER, KubeBed, on_write, raw_answer, status_answer


@pytest.fixture
def bed() -> KubeBed:
    return KubeBed()


def bodies(bed: KubeBed) -> list[Object]:
    return [orjson.loads(call.body) for call in bed.writes()]


def make_ready(bed: KubeBed, resource: Resource) -> None:
    resource.status["instance"] = "default"
    ready_true(resource, "Verified", "it is there", now=bed.clock.now)


# --- what is written, and when -------------------------------------------------------------------


def test_a_change_is_written_by_apply_with_the_version_it_was_computed_from(bed: KubeBed) -> None:
    resource = bed.create()
    version = resource.resource_version
    make_ready(bed, resource)
    assert bed.status.persist(resource)
    call, body = bed.writes()[0], bodies(bed)[0]
    assert call.path == bed.path("alice") + "/status"
    assert call.query == {"fieldManager": "lldap-operator", "force": "true"}
    assert call.headers["content-type"] == "application/apply-patch+yaml"
    assert body["metadata"]["resourceVersion"] == version
    assert body["status"] == resource.status == bed.get().recorded
    assert "spec" not in body


def test_I01_nothing_is_written_when_nothing_changed(bed: KubeBed) -> None:
    resource = bed.create()
    make_ready(bed, resource)
    bed.status.persist(resource)
    version = bed.get().resource_version
    for _ in range(3):
        again = bed.get()
        bed.clock.advance(60)
        make_ready(bed, again)
        assert not bed.status.persist(again)
    assert bed.get().resource_version == version
    assert len(bed.writes()) == 1


def test_an_empty_draft_of_a_new_object_is_no_change(bed: KubeBed) -> None:
    resource = bed.create()
    resource.status["server"] = None
    assert not bed.status.persist(resource)
    assert bed.writes() == []


def test_the_whole_status_is_sent_each_time_and_what_is_left_out_goes(bed: KubeBed) -> None:
    resource = bed.create()
    make_ready(bed, resource)
    resource.status["userId"] = "alice"
    bed.status.persist(resource)
    again = bed.get()
    del again.status["userId"]
    again.status["origin"] = "Created"
    bed.status.persist(again)
    assert set(bed.get().recorded) == {"instance", "origin", "conditions"}


def test_conditions_of_others_stay_theirs(bed: KubeBed) -> None:
    resource = bed.create()
    make_ready(bed, resource)
    bed.status.persist(resource)
    foreign = {
        "type": "Audited",
        "status": "True",
        "reason": "Fine",
        "message": "by hand",
        "lastTransitionTime": "2030-01-01T00:00:00Z",
    }
    conditions = [*bed.get().recorded["conditions"], foreign]
    bed.admin.patch(
        bed.path("alice") + "/status",
        {"status": {"conditions": conditions}},
        content_type="application/merge-patch+json",
    )
    again = bed.get()
    ready_false(again, "Conflict", "no", now=bed.clock.now)
    bed.status.persist(again)
    assert [c["type"] for c in bodies(bed)[-1]["status"]["conditions"]] == [READY]
    assert {c["type"]: c["status"] for c in bed.get().recorded["conditions"]} == {
        READY: "False",
        "Audited": "True",
    }
    assert not bed.status.persist(bed.get())


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, {}),
        ({"a": 1, "b": None}, {"a": 1}),
        ({"conditions": [{"type": "Audited"}]}, {}),
        (
            {"conditions": [{"type": "Audited"}, {"type": READY}], "a": 0},
            {"a": 0, "conditions": [{"type": READY}]},
        ),
    ],
)
def test_ours_is_what_has_a_value_and_is_not_anothers(status: Object, expected: Object) -> None:
    assert ours(status) == expected


# --- conflicts -----------------------------------------------------------------------------------


def test_a_conflict_keeps_what_the_caller_set_and_refreshes_the_version(bed: KubeBed) -> None:
    resource = bed.create()
    make_ready(bed, resource)
    resource.status["userId"] = "alice"
    bed.merge({"metadata": {"labels": {"team": "blue"}}})
    assert bed.status.persist(resource)
    assert bed.get().recorded["userId"] == "alice"
    versions = [body["metadata"]["resourceVersion"] for body in bodies(bed)]
    assert len(set(versions)) == len(versions) == 2
    assert bed.get().labels["team"] == "blue"


def test_I03_a_spec_that_was_edited_meanwhile_is_never_called_reconciled(bed: KubeBed) -> None:
    resource = bed.create()
    make_ready(bed, resource)
    bed.merge({"spec": {"displayName": "Al"}})
    with pytest.raises(StaleObject):
        bed.status.persist(resource)
    assert bed.get().recorded == {}


def test_an_object_that_is_deleted_meanwhile_is_looked_at_again(bed: KubeBed) -> None:
    resource = bed.create(finalizers=[FINALIZER])
    make_ready(bed, resource)
    bed.delete()
    with pytest.raises(StaleObject):
        bed.status.persist(resource)


def test_a_late_status_does_not_land_on_a_namesake(bed: KubeBed) -> None:
    resource = bed.create()
    make_ready(bed, resource)
    bed.delete()
    bed.create()
    with pytest.raises(ObjectGone):
        bed.status.persist(resource)
    assert bed.get().recorded == {}


def test_I05_an_object_that_is_gone_is_gone(bed: KubeBed) -> None:
    resource = bed.create()
    make_ready(bed, resource)
    bed.delete()
    with pytest.raises(ObjectGone):
        bed.status.persist(resource)
    assert not bed.exists()


def test_a_second_conflict_is_left_to_the_next_pass(bed: KubeBed) -> None:
    resource = bed.create()
    make_ready(bed, resource)
    changes = iter(range(9))

    def before(call: Call) -> RawResponse | None:
        if call.method == "PATCH":
            bed.merge({"metadata": {"labels": {"n": str(next(changes))}}})
        return None

    bed.transport.before = before
    with pytest.raises(StaleObject):
        bed.status.persist(resource)
    assert len(bed.writes()) == 2


# --- clearing ------------------------------------------------------------------------------------


def test_clearing_gives_back_what_is_ours_alone(bed: KubeBed) -> None:
    resource = bed.create()
    make_ready(bed, resource)
    bed.status.persist(resource)
    again = bed.get()
    bed.status.clear(again)
    assert "status" not in bodies(bed)[-1]
    assert bed.get().recorded == {}
    assert again.status == {}


def test_clearing_nothing_writes_nothing(bed: KubeBed) -> None:
    bed.status.clear(bed.create())
    assert bed.writes() == []


# --- failures ------------------------------------------------------------------------------------

FAILURES: dict[str, tuple[RawResponse | Exception, type[Exception]]] = {
    "403": (status_answer(403, "Forbidden"), StatusError),
    "404": (status_answer(404, "NotFound"), ObjectGone),
    "404 text, the CRD is gone": (raw_answer(404, b"404 page not found"), StatusError),
    "409 for ever": (status_answer(409, "Conflict"), StaleObject),
    "410": (status_answer(410, "Gone"), StatusError),
    "422": (status_answer(422, "Invalid"), StatusError),
    "429": (status_answer(429, "TooManyRequests"), StatusError),
    "500": (status_answer(500, "InternalError"), StatusError),
    "a success that is no JSON": (raw_answer(200, b"<html>"), UnexpectedAnswer),
    "a success that is no object": (raw_answer(200, b"[]"), UnexpectedAnswer),
    "a success without an identity": (raw_answer(200, b'{"metadata":{}}'), UnexpectedAnswer),
    "no connection": (ConnectionFailed("refused", sent=False), ConnectionFailed),
}


@pytest.mark.parametrize(("answer", "raised"), FAILURES.values(), ids=FAILURES)
def test_each_failure_is_told_to_the_caller_and_to_the_observer(
    answer: RawResponse | Exception, raised: type[Exception]
) -> None:
    seen: list[BaseException | None] = []
    bed = KubeBed(lambda _resource, error: seen.append(error))
    resource = bed.create()
    make_ready(bed, resource)
    bed.transport.before = on_write(answer)
    with pytest.raises(raised):
        bed.status.persist(resource)
    assert [type(error) for error in seen] == [raised]
    assert resource.status["instance"] == "default"
    assert bed.get().recorded == {}


def test_the_observer_is_told_of_each_write_and_of_no_other_pass() -> None:
    seen: list[tuple[str, BaseException | None]] = []
    bed = KubeBed(lambda resource, error: seen.append((resource.key, error)))
    resource = bed.create()
    assert not bed.status.persist(resource)
    make_ready(bed, resource)
    bed.status.persist(resource)
    bed.status.clear(resource)
    assert seen == [("team-a/alice", None)] * 2


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (status_answer(409, "Conflict"), StaleObject),
        (status_answer(403, "Forbidden"), StatusError),
        (ConnectionFailed("refused", sent=False), ConnectionFailed),
    ],
)
def test_best_effort_gives_back_what_went_wrong(
    bed: KubeBed, answer: RawResponse | ApiFailure, expected: type[object]
) -> None:
    resource = bed.create()
    make_ready(bed, resource)
    bed.transport.before = on_write(answer)
    assert type(status_update_best_effort(bed.status, resource)) is expected
    bed.transport.before = lambda _call: None
    assert status_update_best_effort(bed.status, resource) is None


def test_best_effort_on_an_object_that_is_gone_has_nothing_to_report(bed: KubeBed) -> None:
    resource = bed.create()
    make_ready(bed, resource)
    bed.delete()
    with pytest.raises(ObjectGone):
        status_update_best_effort(bed.status, resource)


# --- ready ---------------------------------------------------------------------------------------


def ready_object(**condition: object) -> Object:
    ready = {"type": READY, "status": "True", "observedGeneration": 2, **condition}
    return {"metadata": {"generation": 2}, "status": {"conditions": [ready]}}


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (ready_object(), True),
        (ready_object(status="False"), False),
        (ready_object(observedGeneration=1), False),
        (ready_object(type="Audited"), False),
        ({"metadata": {"generation": 2}}, False),
        ({"metadata": {"generation": 2}, "status": {"conditions": None}}, False),
    ],
)
def test_ready_counts_for_the_generation_that_the_object_has(obj: Object, expected: bool) -> None:
    assert is_ready(obj) is expected
