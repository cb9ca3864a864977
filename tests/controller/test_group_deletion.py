"""What becomes of a group when its object goes: deleted, kept, handed over, left alone."""

import pytest

from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import (
    CONFLICT,
    VERIFIED,
    VIRTUAL,
    crash_after,
    edges,
    group_ids,
    group_named,
    rename_by_hand,
)


def test_a_created_group_goes_with_its_object() -> None:
    bed = Bed()
    bed.group("Team")
    bed.settle()
    bed.delete("LldapGroup", "team")
    bed.settle()
    assert not bed.exists("LldapGroup", "team")
    assert group_ids(bed) == {}
    assert "Deleted" in bed.events.reasons()


def test_a_group_with_retain_stays_without_our_mark() -> None:
    bed = Bed()
    bed.group("Team", deletionPolicy="Retain")
    bed.settle()
    bed.delete("LldapGroup", "team")
    bed.settle()
    directory = Directory(bed)
    assert directory.has_group("Team")
    assert directory.group_mark("Team") is None


def test_a_group_that_is_gone_already_holds_nothing_up() -> None:
    bed = Bed()
    bed.group("Team")
    bed.settle()
    Directory(bed).delete_group("Team")
    bed.delete("LldapGroup", "team")
    bed.settle()
    assert not bed.exists("LldapGroup", "team")


def test_a_renamed_group_is_deleted_under_whatever_name() -> None:
    bed = Bed()
    bed.group("Team")
    bed.settle()
    rename_by_hand(bed, "Team", "Somebody")
    bed.delete("LldapGroup", "team")
    bed.settle()
    assert group_ids(bed) == {}


def test_an_object_in_conflict_deletes_nothing() -> None:
    bed = Bed()
    bed.group("Team")
    bed.settle()
    bed.clock.advance(5)
    bed.group("Team", "team-b")
    bed.settle()
    assert bed.ready("LldapGroup", "team", "team-b") == CONFLICT
    assert "team-a/team" in bed.message("LldapGroup", "team", "team-b")
    bed.delete("LldapGroup", "team", "team-b")
    bed.settle()
    assert not bed.exists("LldapGroup", "team", "team-b")
    assert list(group_ids(bed)) == ["Team"]


@pytest.mark.parametrize("name", ["lldap_admin", "LLDAP_Password_Manager", "lldap_strict_readonly"])
def test_E05_an_object_with_a_built_in_name_changes_nothing_and_goes(name: str) -> None:
    bed = Bed()
    before = Directory(bed).dump()
    group_named(bed, "team", name)
    bed.settle()
    assert bed.ready("LldapGroup", "team") == ("False", "BuiltInConflict")
    assert VIRTUAL in bed.message("LldapGroup", "team")
    bed.delete("LldapGroup", "team")
    bed.settle()
    assert not bed.exists("LldapGroup", "team")
    assert "LeftAlone" in bed.events.reasons()
    assert Directory(bed).dump() == before | {
        key: value for key, value in Directory(bed).dump().items() if "kubernetes-owner" in key
    }


def test_a_name_that_differs_from_a_built_in_one_by_spaces_alone_is_refused() -> None:
    """People cannot see them, and LDAP compares without them."""
    bed = Bed()
    for number, name in enumerate(("lldap_admin ", " LLDAP_admin")):
        group_named(bed, f"team{number}", name)
        bed.settle()
        assert bed.ready("LldapGroup", f"team{number}") == ("False", "BuiltInConflict")
    assert group_ids(bed) == {}


def test_a_rename_to_a_built_in_name_changes_nothing_and_the_group_can_still_go() -> None:
    bed = Bed()
    bed.group("Team")
    bed.settle()
    group_named(bed, "team", "lldap_admin")
    bed.settle()
    assert bed.ready("LldapGroup", "team") == ("False", "BuiltInConflict")
    assert list(group_ids(bed)) == ["Team"]
    bed.delete("LldapGroup", "team")
    bed.settle()
    assert group_ids(bed) == {}
    assert Directory(bed).has_group("lldap_admin")


def test_a_group_that_became_a_built_in_one_by_hand_stays() -> None:
    bed = Bed()
    bed.group("Team")
    bed.settle()
    directory = Directory(bed)
    directory.delete_group("lldap_password_manager")
    rename_by_hand(bed, "Team", "lldap_password_manager")
    bed.delete("LldapGroup", "team")
    bed.settle()
    assert not bed.exists("LldapGroup", "team")
    assert directory.has_group("lldap_password_manager")
    assert "LeftAlone" in bed.events.reasons()


def test_in_the_same_namespace_a_group_is_handed_over_with_id_and_members() -> None:
    bed = Bed()
    bed.group("Team", deletionPolicy="Delete")
    bed.user("alice")
    bed.membership("alice", "Team")
    bed.run(15)
    number = group_ids(bed)["Team"]
    group_named(bed, "heir", "team")
    bed.settle()
    bed.delete("LldapGroup", "team")
    bed.run(15)
    assert bed.ready("LldapGroup", "heir") == VERIFIED
    assert group_ids(bed) == {"team": number}
    assert edges(bed) == {("alice", "team")}
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
    assert "deleteGroup" not in bed.mutations()
    assert "removeUserFromGroup" not in bed.mutations()


def test_from_another_namespace_the_deletion_is_carried_out_first() -> None:
    bed = Bed()
    bed.group("Team")
    bed.settle()
    number = group_ids(bed)["Team"]
    bed.group("Team", "team-b")
    bed.settle()
    bed.delete("LldapGroup", "team")
    bed.run(2)
    assert bed.ready("LldapGroup", "team", "team-b") == VERIFIED
    assert group_ids(bed)["Team"] != number


def test_a_crash_after_the_deletion_in_lldap_ends_with_the_object_gone() -> None:
    bed = Bed()
    bed.group("Team")
    bed.settle()
    bed.delete("LldapGroup", "team")
    crash_after(bed, "deleteGroup")
    bed.start()
    bed.run(5)
    assert not bed.exists("LldapGroup", "team")
    assert group_ids(bed) == {}
