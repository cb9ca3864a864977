"""What was made in lldap is known to the next pass, though no status could say so yet."""

import pytest

from controller.api import KINDS
from controller.harness.resource import Object, Resource
from controller.ownership.unrecorded import Fact, MadeAccount, MadeAttribute, Unrecorded
from controller.reconcilers.edge import Edge
from informers import ConnectionFailed, RawResponse
from tests.support.accounts import FIRST, account, attributes, status, with_password
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.edits import refuse_statuses, take_statuses
from tests.support.groups import group_values
from tests.support.kubebed import status_answer

EDGE = Edge("alice", "u1", 7, "u2")
ACCOUNT = MadeAccount("u1", frozenset({"email"}))
FACTS: dict[str, tuple[Fact, Object]] = {
    "account": (ACCOUNT, {"uuid": "u1", "managed": ["email"]}),
    "attribute": (MadeAttribute("s1"), {"server": "s1"}),
    "edge": (EDGE, {"userId": "alice", "userUuid": "u1", "groupId": 7, "groupUuid": "u2"}),
}

# --- what is remembered, and for how long --------------------------------------------------------


def resource(status: Object | None = None, *, uid: str = "1") -> Resource:
    metadata = {"namespace": "team-a", "name": "alice", "uid": uid}
    return Resource({"kind": "LldapUser", "metadata": metadata, "status": status or {}})


@pytest.mark.parametrize("fact", FACTS)
def test_it_is_known_until_a_status_says_so(fact: str) -> None:
    unrecorded, (made, said) = Unrecorded(), FACTS[fact]
    unrecorded.made(resource(), made)
    unrecorded.note(resource({"instance": "default"}), None)  # a status that says something else
    assert unrecorded.of(resource()) == made
    unrecorded.note(resource(said), ConnectionFailed("no route", sent=True))
    assert unrecorded.of(resource()) == made
    unrecorded.note(resource(said), None)
    assert unrecorded.of(resource()) is None


def test_a_record_without_its_fields_is_none_of_an_account() -> None:
    assert not ACCOUNT.is_recorded({"uuid": "u1"})
    assert not ACCOUNT.is_recorded({"uuid": "u2", "managed": ["email"]})


def test_a_namesake_has_made_nothing() -> None:
    unrecorded = Unrecorded()
    unrecorded.made(resource(), ACCOUNT)
    assert unrecorded.of(resource(uid="2")) is None


def test_it_is_forgotten_with_its_object() -> None:
    unrecorded = Unrecorded()
    unrecorded.made(resource(), ACCOUNT)
    unrecorded.forget("LldapGroup", "team-a/alice")
    unrecorded.forget("LldapUser", "team-b/alice")
    assert unrecorded.of(resource()) == ACCOUNT
    unrecorded.forget("LldapUser", "team-a/alice")
    assert unrecorded.of(resource()) is None


# --- what it is good for -------------------------------------------------------------------------

REFUSALS: dict[str, RawResponse | Exception] = {
    "the object changed meanwhile": status_answer(409, "Conflict"),
    "the object was not found": status_answer(404, "NotFound"),
    "the API server failed": status_answer(500, "InternalError"),
    "the connection broke": ConnectionFailed("no route", sent=True),
}


@pytest.fixture(params=REFUSALS)
def bed(request: pytest.FixtureRequest) -> Bed:
    """A bed whose API server takes no status, until `take_statuses`."""
    bed = Bed()
    bed.schema("colour")
    bed.schema("shade", "Group")
    bed.user("first")
    bed.group("First")
    bed.settle()
    bed.clear_logs()
    refuse_statuses(bed, REFUSALS[request.param])
    return bed


def kept(bed: Bed) -> list[str]:
    """Objects of which something is remembered."""
    instance = bed.operator.instance
    listed = [each for kind in KINDS for each in instance.cache.all(kind)]
    return [each.key for each in listed if instance.unrecorded.of(each)]


def test_an_attribute_of_an_account_goes_when_it_is_dropped(bed: Bed) -> None:
    bed.user("alice", displayName="Al", attributes=attributes(colour=["red"]))
    bed.settle()
    assert account(bed)["colour"] == ["red"]
    assert status(bed) == {}
    assert kept(bed) == ["team-a/alice"]
    bed.clock.advance(1)
    Directory(bed).set_attribute("alice", "first_name", "A")  # no longer as it was created
    take_statuses(bed)
    bed.user("alice", displayName="Al", attributes=[])
    bed.run(60)
    assert "colour" not in account(bed)
    assert account(bed)["first_name"] == ["A"]  # never the object's
    assert status(bed)["managed"] == ["displayName", "email"]
    assert kept(bed) == []


def test_an_attribute_of_a_group_goes_when_it_is_dropped(bed: Bed) -> None:
    bed.group("Staff", attributes=attributes(shade=["dark"]))
    bed.settle()
    bed.clock.advance(1)
    Directory(bed).add("first", "Staff")  # no longer as it was created
    take_statuses(bed)
    bed.group("Staff", attributes=[])
    bed.run(60)
    assert group_values(bed, "Staff") == {}
    assert kept(bed) == []
    assert Directory(bed).members("Staff") == {"first"}


def test_a_member_leaves_a_group_that_has_another_name_since(bed: Bed) -> None:
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


def test_a_member_follows_its_groups_name_to_another_group(bed: Bed) -> None:
    bed.membership("first", "First", name="member")
    bed.settle()
    take_statuses(bed)
    bed.apply("LldapGroup", "first", {"displayName": "Renamed"})
    bed.settle()
    bed.apply("LldapGroup", "other", {"displayName": "First"})
    bed.run(60)
    assert Directory(bed).members("Renamed") == set()
    assert Directory(bed).members("First") == {"first"}
    bed.clear_logs()
    bed.run(1400, step=70)
    assert bed.mutations() == []
    assert kept(bed) == []


def test_an_attribute_goes_with_its_schema(bed: Bed) -> None:
    bed.schema("badge", deletionPolicy="Delete")
    bed.settle()
    take_statuses(bed)
    bed.delete("LldapAttributeSchema", "user-badge")
    bed.run(60)
    assert not bed.exists("LldapAttributeSchema", "user-badge")
    assert "badge" not in bed.lldap.snapshot().users.stored


def test_a_creation_is_known_though_the_pass_ended_without_a_word() -> None:
    """The first failures of the API server show nowhere: no status is even tried."""
    bed = Bed()
    bed.schema("colour")
    bed.secret("pw", FIRST)
    bed.settle()
    bed.api_transport.before = lambda call: (
        status_answer(500, "InternalError") if call.path.endswith("/secrets/pw") else None
    )
    with_password(bed, displayName="Al", attributes=attributes(colour=["red"]))
    bed.settle()
    assert account(bed)["colour"] == ["red"]
    bed.clock.advance(1)
    Directory(bed).set_attribute("alice", "first_name", "A")
    take_statuses(bed)
    with_password(bed, displayName="Al", attributes=[])
    bed.run(60)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert "colour" not in account(bed)
