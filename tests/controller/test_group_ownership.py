"""Whose a group is: adoption, taking back, drift, deletion, handing over."""

from typing import Any

import pytest

from controller.configuration.values import Adoption
from tests.support.bed import Bed
from tests.support.directory import Directory, mark
from tests.support.groups import (
    CONFLICT,
    VERIFIED,
    VIRTUAL,
    attributes,
    edges,
    group_ids,
    group_named,
    group_values,
    make_attribute,
    set_group_attribute,
)

NOT_ADOPTED = ("False", "NotAdopted")


def bed_with_hand_made(*members: str, **rules: Any) -> tuple[Bed, Directory]:
    """A bed whose lldap has a hand-made group Team with these hand-made members."""
    bed = Bed(**rules)
    directory = Directory(bed)
    for member in members:
        directory.make_user(member)
    directory.make_group("Team", *members)
    return bed, directory


# --- adoption --------------------------------------------------------------------------------


def test_an_empty_hand_made_group_is_adopted() -> None:
    bed, directory = bed_with_hand_made()
    number = group_ids(bed)["Team"]
    bed.group("Team")
    bed.settle()
    uid = bed.get("LldapGroup", "team")["metadata"]["uid"]
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert bed.get("LldapGroup", "team")["status"]["groupId"] == number
    assert directory.group_mark("Team") == mark(uid, "team", origin="adopted")
    assert "Adopted" in bed.events.reasons()


def test_a_group_with_members_is_not_adopted() -> None:
    bed, directory = bed_with_hand_made("hand")
    bed.group("Team", attributes=[])
    bed.run(60)
    assert bed.ready("LldapGroup", "team") == NOT_ADOPTED
    assert directory.group_mark("Team") is None
    assert edges(bed) == {("hand", "Team")}
    assert set(bed.mutations()) <= {"addUserAttribute", "addGroupAttribute"}


def test_a_group_with_members_is_adopted_from_the_virtual_namespace() -> None:
    bed, directory = bed_with_hand_made("hand")
    bed.group("Team", VIRTUAL)
    bed.settle()
    assert bed.ready("LldapGroup", "team", VIRTUAL) == VERIFIED
    assert directory.members("Team") == {"hand"}


def test_a_group_with_members_is_adopted_with_always() -> None:
    bed, directory = bed_with_hand_made("hand", adoption=Adoption.ALWAYS)
    bed.group("Team")
    bed.settle()
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert directory.members("Team") == {"hand"}


def test_with_never_an_empty_group_is_not_adopted_either() -> None:
    bed, directory = bed_with_hand_made(adoption=Adoption.NEVER)
    bed.group("Team")
    bed.settle()
    assert bed.ready("LldapGroup", "team") == NOT_ADOPTED
    assert directory.group_mark("Team") is None


@pytest.mark.parametrize("adoption", list(Adoption))
def test_an_invitation_lets_one_object_have_the_group_under_any_rule(adoption: Adoption) -> None:
    bed, directory = bed_with_hand_made("hand", adoption=adoption)
    directory.make_group("Unused", mark="invite default team-a/team")
    directory.set_group_mark("Team", "invite default team-a/team")
    group_named(bed, "other", "Team")
    bed.settle()
    assert bed.ready("LldapGroup", "other") == CONFLICT
    bed.group("Team")
    bed.settle()
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert bed.get("LldapGroup", "team")["status"]["origin"] == "Adopted"


def test_what_others_set_on_an_adopted_group_stays() -> None:
    bed, _ = bed_with_hand_made()
    make_attribute(bed, "floor", group=True)
    set_group_attribute(bed, "Team", "floor", "1")
    bed.schema("department", "Group")
    bed.group("Team", attributes=attributes(department=["42"]))
    bed.settle()
    bed.group("Team")
    bed.settle()
    assert group_values(bed, "Team") == {"floor": ["1"]}


def test_a_group_that_is_adopted_anew_keeps_what_the_lost_record_called_ours() -> None:
    """Without a key no record proves that the group without a mark is the one of before."""
    bed = Bed()
    bed.start(hash_key=None)
    bed.schema("department", "Group")
    bed.group("Team", attributes=attributes(department=["42"]))
    bed.settle()
    Directory(bed).set_group_mark("Team", None)
    bed.group("Team")
    bed.start(hash_key=None)
    bed.settle()
    assert bed.get("LldapGroup", "team")["status"]["origin"] == "Adopted"
    assert group_values(bed, "Team") == {"department": ["42"]}


def test_an_adopted_group_stays_when_its_object_goes() -> None:
    bed, directory = bed_with_hand_made()
    bed.group("Team")
    bed.settle()
    bed.delete("LldapGroup", "team")
    bed.run(2)
    assert not bed.exists("LldapGroup", "team")
    assert directory.has_group("Team")
    assert directory.group_mark("Team") is None


def test_a_re_created_object_takes_its_group_back_with_members_and_origin() -> None:
    """As after a restore of the cluster's objects; whatever LLDAP_ADOPTION says."""
    bed = Bed(adoption=Adoption.NEVER)
    bed.group("Team")
    bed.user("alice")
    bed.membership("alice", "Team")
    bed.run(15)
    number = group_ids(bed)["Team"]
    path = bed.path("LldapGroup", "team-a", "team")
    bed.admin.patch(
        path,
        {"metadata": {"finalizers": None}},
        content_type="application/merge-patch+json",
    )
    bed.delete("LldapGroup", "team")  # no operator runs meanwhile
    bed.group("Team")
    bed.start()
    bed.run(15)
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert group_ids(bed) == {"Team": number}
    assert edges(bed) == {("alice", "Team")}
    assert bed.get("LldapGroup", "team")["status"]["origin"] == "Created"
    assert "TakenBack" in bed.events.reasons()


def test_a_group_of_another_cluster_is_a_conflict_that_names_it() -> None:
    bed, directory = bed_with_hand_made()
    directory.make_group("Theirs", mark=mark("1-2", "team", "far-away", cluster="other"))
    group_named(bed, "team", "Theirs")
    bed.settle()
    assert bed.ready("LldapGroup", "team") == CONFLICT
    assert "other" in bed.message("LldapGroup", "team")
    assert "far-away/team" in bed.message("LldapGroup", "team")
    bed.delete("LldapGroup", "team")
    bed.settle()
    assert directory.has_group("Theirs")


# --- drift -----------------------------------------------------------------------------------


def test_C06_a_group_deleted_by_hand_comes_back_with_its_members_under_a_new_id() -> None:
    bed = Bed()
    bed.schema("department", "Group")
    bed.group("Team", attributes=attributes(department=["42"]))
    for user in ("alice", "bob"):
        bed.user(user)
        bed.membership(user, "Team")
    bed.run(15)
    before = group_ids(bed)["Team"]
    Directory(bed).delete_group("Team")
    bed.run(700)
    after = group_ids(bed)["Team"]
    assert after != before
    assert bed.get("LldapGroup", "team")["status"]["groupId"] == after
    assert edges(bed) == {("alice", "Team"), ("bob", "Team")}
    assert group_values(bed, "Team") == {"department": ["42"]}
    assert bed.get("LldapMembership", "bob-team")["status"]["groupId"] == after
    assert bed.ready("LldapMembership", "bob-team") == VERIFIED


def test_a_mark_taken_off_is_put_back_with_a_warning() -> None:
    bed = Bed()
    bed.group("Team")
    bed.settle()
    directory = Directory(bed)
    before = directory.group_mark("Team")
    directory.set_group_mark("Team", None)
    bed.run(700)
    assert directory.group_mark("Team") == before
    assert "MarkRestored" in bed.events.reasons()


def test_a_mark_taken_off_is_not_put_back_on_the_word_of_a_forged_status() -> None:
    bed, directory = bed_with_hand_made("hand")
    bed.group("Own")
    bed.settle()
    group_named(bed, "team", "Team")
    bed.settle()
    row = directory.group("Team")
    assert row is not None
    bed.forge(
        "LldapGroup",
        "team",
        {
            "uuid": row.columns["uuid"],
            "groupId": int(row.columns["group_id"]),
            "origin": "Created",
            "seal": bed.get("LldapGroup", "own")["status"]["seal"],
        },
    )
    bed.clear_logs()
    bed.run(700)
    assert bed.ready("LldapGroup", "team") == NOT_ADOPTED
    bed.delete("LldapGroup", "team")
    bed.run(5)
    assert directory.has_group("Team")
    assert bed.mutations() == []


# --- dry run ---------------------------------------------------------------------------------

DRY_RUN = {"lldap-operator.lukidoescode.com/dry-run": "true"}


def dry(bed: Bed, name: str, display_name: str) -> str:
    bed.apply("LldapGroup", name, {"displayName": display_name}, annotations=DRY_RUN)
    bed.clear_logs()
    bed.settle()
    assert bed.mutations() == []
    return bed.message("LldapGroup", name)


def test_a_dry_run_says_what_would_be_done_and_does_nothing() -> None:
    bed = Bed()
    bed.settle()
    assert "create group Team" in dry(bed, "team", "Team")
    Directory(bed).make_group("Crew")
    bed.run(700)
    assert "take over group Crew" in dry(bed, "team", "Crew")
    assert bed.ready("LldapGroup", "team") == ("True", "DryRun")


def test_a_dry_run_shows_the_rename_and_the_conflict_that_would_come() -> None:
    bed = Bed()
    bed.group("Red")
    bed.group("Blue")
    bed.settle()
    assert "rename to Green" in dry(bed, "red", "Green")
    message = dry(bed, "red", "Blue")
    assert "Conflict" in message
    assert "team-a/blue" in message
    assert set(group_ids(bed)) == {"Red", "Blue"}


def test_a_dry_run_of_a_claimed_name_shows_the_conflict() -> None:
    bed = Bed()
    bed.group("Team", attributes=attributes(nosuch=["1"]))  # claims the name, and waits
    bed.settle()
    bed.clock.advance(5)
    message = dry(bed, "second", "Team")
    assert "Conflict" in message
    assert "team-a/team" in message
