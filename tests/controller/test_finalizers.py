"""Finalizers: ours is put on and taken off, and nobody else's entry is ever touched."""

import contextlib
import copy
import functools
from collections.abc import Callable

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.harness.finalizers import (
    ObjectGone,
    StaleObject,
    ensure_finalizer,
    remove_finalizer,
    should_process_deletion,
)
from controller.harness.resource import Object, Resource
from informers import RawResponse, StatusError
from sandbox.apiserver.transport import Call
from tests.support.kubebed import FINALIZER, KubeBed, on_write, raw_answer, status_answer

A, B = "example.org/a", "example.org/b"
PATCH_REFUSED = "the server rejected our request due to an error in our request"


@pytest.fixture
def bed() -> KubeBed:
    return KubeBed()


def finalizers(bed: KubeBed, name: str = "alice") -> list[str]:
    return bed.get(name).finalizers


def patches(bed: KubeBed) -> list[list[Object]]:
    return [orjson.loads(call.body) for call in bed.writes()]


# --- putting it on -------------------------------------------------------------------------------


def test_it_is_put_on_once(bed: KubeBed) -> None:
    resource = bed.create()
    assert ensure_finalizer(bed.kube, resource, FINALIZER)
    assert resource.finalizers == finalizers(bed) == [FINALIZER]
    assert not ensure_finalizer(bed.kube, resource, FINALIZER)
    assert len(bed.writes()) == 1


def test_it_is_put_behind_those_of_others(bed: KubeBed) -> None:
    resource = bed.create(finalizers=[A, B])
    ensure_finalizer(bed.kube, resource, FINALIZER)
    assert finalizers(bed) == [A, B, FINALIZER]


def test_the_patch_tests_the_uid_and_the_version_it_was_computed_from(bed: KubeBed) -> None:
    resource = bed.create()
    uid, version = resource.uid, resource.resource_version
    ensure_finalizer(bed.kube, resource, FINALIZER)
    tests = {op["path"]: op["value"] for op in patches(bed)[0] if op["op"] == "test"}
    assert tests == {"/metadata/uid": uid, "/metadata/resourceVersion": version}


def test_one_that_came_in_between_is_not_replaced(bed: KubeBed) -> None:
    resource = bed.create()
    bed.merge({"metadata": {"finalizers": [A]}})
    assert ensure_finalizer(bed.kube, resource, FINALIZER)
    assert finalizers(bed) == [A, FINALIZER]


def test_E01_two_racing_workers_put_on_one(bed: KubeBed) -> None:
    first, second = bed.create(finalizers=[A]), bed.get()
    assert ensure_finalizer(bed.kube, first, FINALIZER)
    assert not ensure_finalizer(bed.kube, second, FINALIZER)
    assert finalizers(bed) == [A, FINALIZER]


def test_an_object_whose_deletion_began_meanwhile_is_stale(bed: KubeBed) -> None:
    resource = bed.create(finalizers=[A])
    bed.delete()
    with pytest.raises(StaleObject):
        ensure_finalizer(bed.kube, resource, FINALIZER)
    assert finalizers(bed) == [A]


def test_an_object_that_is_being_deleted_gets_none(bed: KubeBed) -> None:
    bed.create(finalizers=[A])
    deleted = bed.delete()
    assert deleted is not None
    with pytest.raises(StaleObject):
        ensure_finalizer(bed.kube, deleted, FINALIZER)
    assert bed.writes() == []


def test_an_object_whose_spec_changed_meanwhile_is_stale(bed: KubeBed) -> None:
    resource = bed.create()
    bed.merge({"spec": {"displayName": "Al"}})
    with pytest.raises(StaleObject):
        ensure_finalizer(bed.kube, resource, FINALIZER)
    assert finalizers(bed) == []


def test_an_object_that_is_gone_or_another_is_gone(bed: KubeBed) -> None:
    resource = bed.create()
    bed.delete()
    with pytest.raises(ObjectGone):
        ensure_finalizer(bed.kube, resource, FINALIZER)
    bed.create()
    with pytest.raises(ObjectGone):
        ensure_finalizer(bed.kube, resource, FINALIZER)
    assert finalizers(bed) == []


def test_who_always_loses_is_stale_and_not_for_ever_at_it(bed: KubeBed) -> None:
    resource = bed.create()
    changes = iter(range(100))

    def before(call: Call) -> RawResponse | None:
        if call.method == "PATCH":
            bed.merge({"metadata": {"labels": {"n": str(next(changes))}}})
        return None

    bed.transport.before = before
    with pytest.raises(StaleObject):
        ensure_finalizer(bed.kube, resource, FINALIZER)
    assert len(bed.writes()) == 3


# --- taking it off -------------------------------------------------------------------------------


def test_E01_another_controllers_entry_that_goes_meanwhile_stays_gone(bed: KubeBed) -> None:
    bed.create(finalizers=[A, FINALIZER, B])
    deleted = bed.delete()
    assert deleted is not None
    bed.merge({"metadata": {"finalizers": [FINALIZER, B]}})
    assert remove_finalizer(bed.kube, deleted, FINALIZER)
    assert finalizers(bed) == [B]
    tests = [op for op in patches(bed)[-1] if op["op"] == "test"]
    assert {"op": "test", "path": "/metadata/finalizers/0", "value": FINALIZER} in tests
    assert any(op["path"] == "/metadata/uid" for op in tests)


def test_the_last_one_lets_the_object_go(bed: KubeBed) -> None:
    bed.create(finalizers=[FINALIZER])
    deleted = bed.delete()
    assert deleted is not None
    assert remove_finalizer(bed.kube, deleted, FINALIZER)
    assert not bed.exists()


def test_one_that_is_not_there_takes_no_write(bed: KubeBed) -> None:
    assert not remove_finalizer(bed.kube, bed.create(finalizers=[A]), FINALIZER)
    assert bed.writes() == []


def test_E03_an_object_that_is_gone_is_done(bed: KubeBed) -> None:
    resource = bed.create(finalizers=[FINALIZER])
    bed.transport.before = on_write(status_answer(404, "NotFound"))
    assert not remove_finalizer(bed.kube, resource, FINALIZER)


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(status_answer(409, "Conflict"), id="409"),
        pytest.param(status_answer(422, "Invalid", PATCH_REFUSED), id="422"),
    ],
)
def test_E03_a_refused_patch_is_read_again_and_sent_again(
    bed: KubeBed, refusal: RawResponse
) -> None:
    bed.create(finalizers=[FINALIZER])
    deleted = bed.delete()
    assert deleted is not None
    bed.transport.before = on_write(refusal, times=1)
    assert remove_finalizer(bed.kube, deleted, FINALIZER)
    assert not bed.exists()
    methods = [answered.call.method for answered in bed.transport.calls]
    assert methods == ["PATCH", "GET", "PATCH"]


def test_a_namesake_keeps_its_finalizer(bed: KubeBed) -> None:
    bed.create(finalizers=[FINALIZER])
    deleted = bed.delete()
    assert deleted is not None
    bed.merge({"metadata": {"finalizers": []}})
    bed.create(finalizers=[FINALIZER])
    assert not remove_finalizer(bed.kube, deleted, FINALIZER)
    assert finalizers(bed) == [FINALIZER]


# --- refusals for good ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (status_answer(403, "Forbidden"), 403),
        (status_answer(410, "Gone"), 410),
        (status_answer(429, "TooManyRequests"), 429),
        (status_answer(500, "InternalError"), 500),
        (status_answer(422, "Invalid", causes=[{"field": "spec.email"}]), 422),
        (raw_answer(502, b"<html>"), 502),
    ],
)
@pytest.mark.parametrize("change", [ensure_finalizer, remove_finalizer])
def test_what_is_no_race_is_raised_as_it_came(
    bed: KubeBed, change: Callable[..., bool], answer: RawResponse, code: int
) -> None:
    have = [FINALIZER] if change is remove_finalizer else []
    resource = bed.create(finalizers=have)
    bed.transport.before = on_write(answer)
    with pytest.raises(StatusError) as raised:
        change(bed.kube, resource, FINALIZER)
    assert raised.value.code == code
    assert finalizers(bed) == have


def test_the_object_that_the_lister_holds_is_never_written_to(bed: KubeBed) -> None:
    listed = bed.create(finalizers=[A]).raw
    before = copy.deepcopy(listed)
    resource = Resource(listed)
    ensure_finalizer(bed.kube, resource, FINALIZER)
    remove_finalizer(bed.kube, resource, FINALIZER)
    assert listed == before


@pytest.mark.parametrize(
    ("deleting", "have", "expected"),
    [
        (True, [FINALIZER], True),
        (True, [A], False),
        (True, [], False),
        (False, [FINALIZER], False),
    ],
)
def test_a_deletion_is_ours_to_process_while_our_finalizer_is_there(
    deleting: bool, have: list[str], expected: bool
) -> None:
    metadata: Object = {"name": "alice", "finalizers": have}
    if deleting:
        metadata["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    assert should_process_deletion(Resource({"metadata": metadata}), FINALIZER) is expected


# --- against concurrent writers ------------------------------------------------------------------

STEPS = st.lists(
    st.sampled_from(["add-a", "add-b", "drop-a", "drop-b", "label", "spec"]), max_size=4
)


@functools.cache
def _shared_bed() -> KubeBed:
    return KubeBed()


class Others:
    """Controllers and people with finalizers, labels and wishes of their own."""

    def __init__(self, bed: KubeBed, finalizers: list[str]) -> None:
        self.bed = bed
        self.finalizers = finalizers

    def act(self, step: str) -> None:
        now = str(self.bed.clock.monotonic())
        self.bed.clock.advance(1)
        if step == "label":
            self.bed.merge({"metadata": {"labels": {"n": now}}})
        elif step == "spec":
            self.bed.merge({"spec": {"displayName": now}})
        else:
            self.change(A if step.endswith("a") else B, puts_on=step.startswith("add"))

    def change(self, name: str, *, puts_on: bool) -> None:
        self.finalizers = [f for f in self.finalizers if f != name] + [name] * puts_on
        self.bed.merge({"metadata": {"finalizers": self.finalizers}})


@settings(max_examples=60)
@given(st.data())
def test_whatever_others_do_meanwhile_only_our_entry_changes(data: st.DataObject) -> None:
    """What others put on and took off is there, ours is as the call says."""
    bed = _shared_bed()
    others = Others(bed, data.draw(st.lists(st.sampled_from([A, B, FINALIZER]), unique=True)))
    puts_on = data.draw(st.booleans())
    resource = bed.create(finalizers=others.finalizers)

    def before(call: Call) -> RawResponse | None:
        for step in data.draw(STEPS) if call.method == "PATCH" else ():
            others.act(step)
        return None

    bed.transport.before = before
    change = ensure_finalizer if puts_on else remove_finalizer
    wrote = False
    try:
        with contextlib.suppress(StaleObject):
            wrote = change(bed.kube, resource, FINALIZER)
        expected = [f for f in others.finalizers if f != FINALIZER or not wrote]
        assert sorted(finalizers(bed)) == sorted(expected + [FINALIZER] * (wrote and puts_on))
    finally:
        bed.merge({"metadata": {"finalizers": []}})
        bed.delete()
