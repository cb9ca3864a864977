"""What was done is known to the next pass, though the status that says so was not taken."""

import pytest

from controller.harness.conditions import ready_true
from controller.harness.finalizers import ObjectGone, StaleObject
from controller.harness.resource import Resource
from informers import ApiFailure, ConnectionFailed, RawResponse, StatusError
from sandbox.apiserver.transport import Call
from tests.support.accounts import account, attributes, status
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.kubebed import KubeBed, on_write, status_answer

REFUSALS: dict[str, RawResponse | Exception] = {
    "the object changed meanwhile": status_answer(409, "Conflict"),
    "the API server failed": status_answer(500, "InternalError"),
    "the connection broke": ConnectionFailed("no route", sent=True),
}
each_refusal = pytest.mark.parametrize("refusal", REFUSALS)


def nothing(_call: Call) -> None:
    """No fault."""


# --- what is kept, and for how long --------------------------------------------------------------


@pytest.fixture
def kube() -> KubeBed:
    return KubeBed()


def draft(kube: KubeBed, resource: Resource, account: str = "alice") -> None:
    resource.acted = True
    resource.status["userId"] = account
    resource.status["observedGeneration"] = 7
    ready_true(resource, "Verified", "it is there", now=kube.clock.now)


def restored(kube: KubeBed) -> Resource:
    resource = kube.get()
    kube.status.unwritten.restore(resource)
    return resource


def lose(kube: KubeBed, refusal: str = "the API server failed") -> None:
    """A pass whose status is not taken."""
    resource = restored(kube)
    draft(kube, resource)
    kube.transport.before = on_write(REFUSALS[refusal], part="/status")
    with pytest.raises((ApiFailure, StaleObject)):
        kube.status.persist(resource)
    kube.transport.before = nothing


@each_refusal
def test_the_record_that_was_not_taken_is_where_the_next_pass_begins(
    kube: KubeBed, refusal: str
) -> None:
    kube.create()
    lose(kube, refusal)
    again = restored(kube)
    assert again.recorded == again.status == {"userId": "alice"}  # nothing that speaks to people
    assert again.written == {}


def test_the_next_status_that_is_written_has_it_and_nothing_is_kept(kube: KubeBed) -> None:
    kube.create()
    lose(kube)
    again = restored(kube)
    again.status["instance"] = "default"
    assert kube.status.persist(again)
    assert again.recorded == again.written == {"userId": "alice", "instance": "default"}
    assert restored(kube).unwritten is None


def test_what_a_later_pass_drops_from_the_record_is_not_restored(kube: KubeBed) -> None:
    kube.create()
    lose(kube)
    again = restored(kube)
    del again.status["userId"]
    again.status["instance"] = "default"
    kube.transport.before = on_write(REFUSALS["the API server failed"], part="/status")
    with pytest.raises(StatusError):
        kube.status.persist(again)
    assert restored(kube).recorded == {"instance": "default"}


def test_what_was_written_though_the_answer_was_lost_is_not_kept(kube: KubeBed) -> None:
    kube.create()
    lose(kube)
    kube.merge({"metadata": {"labels": {"a": "b"}}})
    written = kube.get()
    draft(kube, written)
    path = kube.path("alice") + "/status"
    kube.admin.put(path, {**written.raw, "status": written.status})
    again = restored(kube)
    draft(kube, again)
    assert not kube.status.persist(again)
    assert restored(kube).unwritten is None


def test_a_status_of_which_only_the_words_are_lost_keeps_nothing(kube: KubeBed) -> None:
    resource = kube.create()
    ready_true(resource, "Verified", "it is there", now=kube.clock.now)
    kube.transport.before = on_write(REFUSALS["the API server failed"], part="/status")
    with pytest.raises(StatusError):
        kube.status.persist(resource)
    assert restored(kube).unwritten is None


def test_a_pass_that_did_nothing_keeps_nothing(kube: KubeBed) -> None:
    resource = kube.create()
    draft(kube, resource)
    resource.acted = False
    kube.transport.before = on_write(REFUSALS["the API server failed"], part="/status")
    with pytest.raises(StatusError):
        kube.status.persist(resource)
    assert restored(kube).unwritten is None


def test_nothing_is_kept_for_an_object_that_is_gone(kube: KubeBed) -> None:
    resource = kube.create()
    draft(kube, resource)
    kube.delete()
    with pytest.raises(ObjectGone):
        kube.status.persist(resource)
    kube.status.unwritten.restore(resource)
    assert resource.unwritten is None


# --- what it is good for -------------------------------------------------------------------------


@pytest.fixture
def bed() -> Bed:
    bed = Bed()
    bed.schema("colour")
    bed.schema("shade", "Group")
    bed.user("first")
    bed.group("First")
    bed.settle()
    bed.clear_logs()
    return bed


def refuse_statuses(bed: Bed, refusal: str) -> None:
    bed.api_transport.before = on_write(REFUSALS[refusal], part="/status")


def take_statuses(bed: Bed) -> None:
    bed.api_transport.before = nothing


@each_refusal
def test_an_attribute_of_an_account_that_no_status_tells_of_goes_when_it_is_dropped(
    bed: Bed, refusal: str
) -> None:
    refuse_statuses(bed, refusal)
    bed.user("alice", displayName="Al", attributes=attributes(colour=["red"]))
    bed.settle()
    assert account(bed)["colour"] == ["red"]
    assert status(bed) == {}
    bed.clock.advance(1)
    Directory(bed).set_attribute("alice", "first_name", "A")  # no longer as it was created
    take_statuses(bed)
    bed.user("alice", displayName="Al", attributes=[])
    bed.run(60)
    assert "colour" not in account(bed)
    assert account(bed)["first_name"] == ["A"]  # never the object's
    assert status(bed)["managed"] == ["displayName", "email"]


@each_refusal
def test_an_attribute_of_a_group_that_no_status_tells_of_goes_when_it_is_dropped(
    bed: Bed, refusal: str
) -> None:
    refuse_statuses(bed, refusal)
    bed.group("Staff", attributes=attributes(shade=["dark"]))
    bed.settle()
    bed.clock.advance(1)
    Directory(bed).add("first", "Staff")  # no longer as it was created
    take_statuses(bed)
    bed.group("Staff", attributes=[])
    bed.run(60)
    row = Directory(bed).group("Staff")
    assert row is not None
    assert "shade" not in row.attributes
    assert Directory(bed).members("Staff") == {"first"}


@each_refusal
def test_a_member_that_no_status_tells_of_leaves_a_group_that_has_another_name_since(
    bed: Bed, refusal: str
) -> None:
    refuse_statuses(bed, refusal)
    bed.membership("first", "First", name="member")
    bed.settle()
    assert Directory(bed).members("First") == {"first"}
    take_statuses(bed)
    bed.apply("LldapGroup", "first", {"displayName": "Renamed"})
    bed.settle()
    bed.delete("LldapMembership", "member")
    bed.run(60)
    assert Directory(bed).members("Renamed") == set()
    assert not bed.exists("LldapMembership", "member")


@each_refusal
def test_an_attribute_schema_that_no_status_tells_of_goes_with_its_object(
    bed: Bed, refusal: str
) -> None:
    refuse_statuses(bed, refusal)
    bed.schema("badge", deletionPolicy="Delete")
    bed.settle()
    take_statuses(bed)
    bed.delete("LldapAttributeSchema", "user-badge")
    bed.run(60)
    assert not bed.exists("LldapAttributeSchema", "user-badge")
    assert "badge" not in bed.lldap.snapshot().users.stored
