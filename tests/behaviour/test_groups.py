"""The life of an LldapGroup, and the virtual groups."""

import pytest

from controller.api import BUILT_IN_ANNOTATION
from tests.behaviour.looks import VIRTUAL, alice_in_devs, becomes, delete, goes, patch
from tests.support.bed import Bed
from tests.support.directory import Directory

ADMINS = "default--lldap-admin"
SHOWN = ("True", "BuiltIn")


def rename(bed: Bed, name: str, display_name: str) -> None:
    bed.apply("LldapGroup", name, {"displayName": display_name})


def test_A17_a_rename_is_done_in_place_and_keeps_the_members(bed: Bed) -> None:
    directory = alice_in_devs(bed)
    uuid = directory.group_uuid("devs")
    rename(bed, "devs", "Developers")
    becomes(bed, "LldapGroup", "devs")
    assert directory.group_uuid("Developers") == uuid
    assert directory.members("Developers") == {"alice"}
    assert not directory.has_group("devs")


def test_a_rename_onto_a_name_that_is_taken_is_a_conflict_until_it_is_free(bed: Bed) -> None:
    bed.group("devs")
    bed.group("ops", "team-b", deletionPolicy="Delete")
    becomes(bed, "LldapGroup", "devs")
    becomes(bed, "LldapGroup", "ops", namespace="team-b")
    rename(bed, "devs", "ops")
    becomes(bed, "LldapGroup", "devs", ("False", "Conflict"))
    assert Directory(bed).has_group("devs")
    delete(bed, "LldapGroup", "ops", "team-b")
    becomes(bed, "LldapGroup", "devs")
    assert not Directory(bed).has_group("devs")


@pytest.mark.parametrize(("policy", "stays"), [("Delete", False), ("Retain", True), (None, False)])
def test_its_deletion_does_to_the_group_what_the_policy_says(
    bed: Bed, policy: str | None, stays: bool
) -> None:
    bed.group("devs", **({"deletionPolicy": policy} if policy else {}))
    becomes(bed, "LldapGroup", "devs")
    delete(bed, "LldapGroup", "devs")
    assert Directory(bed).has_group("devs") is stays


def test_a_group_made_by_hand_is_adopted_while_it_is_empty(bed: Bed) -> None:
    directory = Directory(bed)
    directory.make_user("boss")
    directory.make_group("board", "boss")
    directory.make_group("empty")
    bed.group("board")
    bed.group("empty")
    becomes(bed, "LldapGroup", "board", ("False", "NotAdopted"))
    becomes(bed, "LldapGroup", "empty")
    delete(bed, "LldapGroup", "board")
    delete(bed, "LldapGroup", "empty")
    assert directory.members("board") == {"boss"}
    assert directory.has_group("empty")


# --- virtual groups --------------------------------------------------------------------------


def test_each_built_in_group_has_a_virtual_object_that_comes_back(bed: Bed) -> None:
    for name in (ADMINS, "default--lldap-password-manager", "default--lldap-strict-readonly"):
        bed.until(lambda name=name: bed.exists("LldapGroup", name, VIRTUAL))  # type: ignore[misc]
        becomes(bed, "LldapGroup", name, SHOWN, VIRTUAL)
    first = bed.get("LldapGroup", ADMINS, VIRTUAL)["metadata"]
    assert "finalizers" not in first
    bed.delete("LldapGroup", ADMINS, VIRTUAL)
    bed.until(lambda: bed.exists("LldapGroup", ADMINS, VIRTUAL))
    becomes(bed, "LldapGroup", ADMINS, SHOWN, VIRTUAL)
    assert bed.get("LldapGroup", ADMINS, VIRTUAL)["metadata"]["uid"] != first["uid"]
    assert Directory(bed).has_group("lldap_admin")


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"displayName": "renamed"}},
        {"spec": {"deletionPolicy": "Delete"}},
        {"metadata": {"annotations": {BUILT_IN_ANNOTATION: None}}},
    ],
)
def test_an_edit_of_a_virtual_group_is_undone(bed: Bed, change: dict[str, object]) -> None:
    bed.until(lambda: bed.exists("LldapGroup", ADMINS, VIRTUAL))
    becomes(bed, "LldapGroup", ADMINS, SHOWN, VIRTUAL)
    patch(bed, "LldapGroup", ADMINS, change, VIRTUAL)
    bed.until(lambda: "SpecRestored" in bed.events.reasons())
    becomes(bed, "LldapGroup", ADMINS, SHOWN, VIRTUAL)
    found = bed.get("LldapGroup", ADMINS, VIRTUAL)
    assert found["spec"] == {"displayName": "lldap_admin"}
    assert found["metadata"]["annotations"] == {BUILT_IN_ANNOTATION: "true"}


def test_D03_an_object_of_a_built_in_groups_name_is_a_conflict_and_goes_without_harm(
    bed: Bed,
) -> None:
    bed.apply("LldapGroup", "mine", {"displayName": "lldap_admin", "deletionPolicy": "Delete"})
    becomes(bed, "LldapGroup", "mine", ("False", "BuiltInConflict"))
    bed.delete("LldapGroup", "mine")
    goes(bed, "LldapGroup", "mine")
    assert Directory(bed).has_group("lldap_admin")
