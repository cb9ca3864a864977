"""Memberships: whom they mean, what they wait for, what they add."""

import itertools

import pytest

from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import (
    PENDING,
    VERIFIED,
    VIRTUAL,
    alice_in_team,
    annotate,
    drift_of,
    edges,
    group_ids,
    group_named,
)

DRY_RUN = {"lldap-operator.lukidoescode.com/dry-run": "true"}


# --- the happy path --------------------------------------------------------------------------


def test_a_membership_adds_the_user_and_records_both_ends_under_seal() -> None:
    bed = alice_in_team()
    directory = Directory(bed)
    status = bed.get("LldapMembership", "alice-team")["status"]
    assert edges(bed) == {("alice", "Team")}
    assert (status["userId"], status["userUuid"]) == ("alice", directory.uuid("alice"))
    assert (status["groupId"], status["groupUuid"]) == (
        group_ids(bed)["Team"],
        directory.group_uuid("Team"),
    )
    assert len(status["seal"]) == 64


def test_names_are_taken_in_any_letter_case() -> None:
    bed = Bed()
    bed.user("alice")
    group_named(bed, "street", "Straße")
    bed.membership("ALICE", "STRAßE", name="m")
    bed.run(15)
    assert bed.ready("LldapMembership", "m") == VERIFIED
    assert edges(bed) == {("alice", "Straße")}


@pytest.mark.parametrize("order", list(itertools.permutations(("user", "group", "membership"))))
def test_any_order_of_creation_ends_ready_without_waiting(order: tuple[str, ...]) -> None:
    bed = Bed()
    bed.settle()
    make = {
        "user": lambda: bed.user("alice"),
        "group": lambda: bed.group("Team"),
        "membership": lambda: bed.membership("alice", "Team"),
    }
    for what in order:
        make[what]()
        bed.settle()
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
    assert edges(bed) == {("alice", "Team")}


def test_resolving_makes_no_call_and_an_edge_that_is_there_none_at_all() -> None:
    bed = alice_in_team()
    bed.start()
    bed.run(5)
    assert "addUserToGroup" not in bed.mutations()
    assert set(bed.operations()) <= {"/auth/simple/login", "user", "users"}
    assert bed.api_writes() == []


def test_a_pending_membership_asks_lldap_nothing() -> None:
    bed = Bed()
    bed.settle()
    bed.membership("alice", "Team")
    bed.settle()
    bed.clear_logs()
    bed.run(60)
    assert bed.ready("LldapMembership", "alice-team") == PENDING
    assert bed.operations() == []
    assert bed.api_writes() == []


# --- what is missing -------------------------------------------------------------------------


def test_the_missing_side_is_named() -> None:
    bed = Bed()
    bed.membership("alice", "Team")
    bed.settle()
    assert "LldapUser with username alice" in bed.message("LldapMembership", "alice-team")
    assert "team-a" in bed.message("LldapMembership", "alice-team")
    bed.user("alice")
    bed.settle()
    bed.run(11)
    assert bed.ready("LldapMembership", "alice-team") == PENDING
    assert "LldapGroup with displayName Team" in bed.message("LldapMembership", "alice-team")


def test_an_object_of_another_namespace_does_not_count() -> None:
    bed = Bed()
    bed.user("alice", "team-b")
    bed.group("Team")
    bed.membership("alice", "Team")
    bed.run(30)
    assert bed.ready("LldapMembership", "alice-team") == PENDING
    assert edges(bed) == set()


def test_an_object_that_does_not_hold_its_target_does_not_count() -> None:
    """Whoever may write objects in a namespace could else mean anybody's account."""
    bed = Bed()
    bed.user("alice", "team-b")
    bed.settle()
    bed.clock.advance(5)
    bed.user("alice")  # in conflict with team-b's
    bed.group("Team")
    bed.membership("alice", "Team")
    bed.run(30)
    assert bed.ready("LldapUser", "alice") == ("False", "Conflict")
    assert bed.ready("LldapMembership", "alice-team") == PENDING
    assert edges(bed) == set()


def test_a_group_that_is_not_adopted_does_not_count() -> None:
    bed = Bed()
    directory = Directory(bed)
    directory.make_user("hand")
    directory.make_group("Team", "hand")
    bed.user("alice")
    bed.group("Team")
    bed.membership("alice", "Team")
    bed.run(30)
    assert bed.ready("LldapGroup", "team") == ("False", "NotAdopted")
    assert bed.ready("LldapMembership", "alice-team") == PENDING
    assert directory.members("Team") == {"hand"}


def test_objects_in_dry_run_do_not_count() -> None:
    bed = Bed()
    bed.user("alice", annotations=DRY_RUN)
    bed.group("Team")
    bed.membership("alice", "Team")
    bed.run(30)
    assert bed.ready("LldapMembership", "alice-team") == PENDING
    bed.user("alice", annotations={})
    bed.settle()
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED


def test_an_edge_that_is_there_stays_while_a_side_is_missing() -> None:
    bed = alice_in_team()
    annotate(bed, "LldapUser", "alice", "dry-run", "true")
    bed.run(700)
    assert bed.ready("LldapMembership", "alice-team") == PENDING
    assert edges(bed) == {("alice", "Team")}
    assert bed.mutations() == []


# --- drift -----------------------------------------------------------------------------------


def test_C06_an_edge_removed_by_hand_comes_back_once() -> None:
    bed = alice_in_team()
    Directory(bed).remove("alice", "Team")
    bed.run(1300)
    assert edges(bed) == {("alice", "Team")}
    assert bed.mutations() == ["addUserToGroup"]
    assert drift_of(bed, "LldapMembership") == (1, 1)
    assert bed.events.reasons() == ["DriftRepaired"]


def test_C06_a_user_deleted_by_hand_comes_back_into_its_groups() -> None:
    bed = alice_in_team()
    before = bed.get("LldapMembership", "alice-team")["status"]["userUuid"]
    Directory(bed).delete_user("alice")
    bed.run(700)
    assert edges(bed) == {("alice", "Team")}
    assert bed.get("LldapMembership", "alice-team")["status"]["userUuid"] != before


def test_D07_an_edge_that_no_object_names_is_left_alone() -> None:
    bed = alice_in_team()
    directory = Directory(bed)
    directory.make_group("Hand")
    directory.add("alice", "Hand")
    directory.make_user("guest")
    directory.add("guest", "Team")
    bed.run(700)
    bed.delete("LldapMembership", "alice-team")
    bed.run(700)
    assert edges(bed) == {("alice", "Hand"), ("guest", "Team")}


def test_a_new_value_of_reconcile_at_compares_with_lldap_itself() -> None:
    bed = alice_in_team()
    Directory(bed).remove("alice", "Team")
    annotate(bed, "LldapMembership", "alice-team", "reconcile-at", "1")
    bed.settle()
    assert edges(bed) == {("alice", "Team")}
    bed.clear_logs()
    bed.run(60)
    assert bed.operations() == []


# --- unmanaged references --------------------------------------------------------------------


def test_by_default_what_no_object_manages_cannot_be_referred_to() -> None:
    bed = Bed()
    Directory(bed).make_user("hand")
    bed.group("Team")
    bed.membership("hand", "Team")
    bed.run(30)
    assert bed.ready("LldapMembership", "hand-team") == PENDING


def test_with_unmanaged_references_a_name_of_lldap_counts() -> None:
    bed = Bed(allow_unmanaged_references=True)
    directory = Directory(bed)
    directory.make_user("hand")
    directory.make_group("Hand")
    bed.membership("hand", "HAND", name="m")
    bed.settle()
    assert bed.ready("LldapMembership", "m") == VERIFIED
    assert edges(bed) == {("hand", "Hand")}
    bed.delete("LldapMembership", "m")
    bed.settle()
    assert edges(bed) == set()


def test_with_unmanaged_references_a_name_that_an_object_claims_does_not_count() -> None:
    bed = Bed(allow_unmanaged_references=True)
    bed.user("alice", "team-b")
    bed.group("Team")
    bed.membership("alice", "Team")
    bed.run(30)
    assert bed.ready("LldapMembership", "alice-team") == PENDING


def test_with_unmanaged_references_the_own_account_and_built_in_groups_do_not_count() -> None:
    bed = Bed(allow_unmanaged_references=True)
    Directory(bed).make_user("hand")
    bed.group("Team")
    bed.membership("admin", "Team", name="own")
    bed.membership("hand", "lldap_strict_readonly", name="built-in")
    bed.run(30)
    for name in ("own", "built-in"):
        assert bed.ready("LldapMembership", name) == ("False", "ProtectedAccount")
    bed.membership("hand", "lldap_strict_readonly", VIRTUAL, name="built-in")
    bed.settle()
    assert edges(bed) == {("hand", "lldap_strict_readonly")}


# --- dry run ---------------------------------------------------------------------------------


def test_a_dry_run_says_what_would_be_added_and_adds_nothing() -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("Team")
    bed.apply(
        "LldapMembership",
        "m",
        {"userName": "alice", "groupName": "Team"},
        annotations=DRY_RUN,
    )
    bed.run(30)
    assert bed.ready("LldapMembership", "m") == ("True", "DryRun")
    assert "add alice in Team" in bed.message("LldapMembership", "m")
    assert edges(bed) == set()


def test_a_dry_run_of_a_membership_that_is_there_says_that_nothing_would_be_done() -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("Team")
    bed.settle()
    Directory(bed).add("alice", "Team")
    bed.start()
    spec = {"userName": "alice", "groupName": "Team"}
    bed.apply("LldapMembership", "m", spec, annotations=DRY_RUN)
    bed.run(30)
    assert bed.ready("LldapMembership", "m") == ("True", "DryRun")
    assert "add" not in bed.message("LldapMembership", "m")


def test_a_membership_in_dry_run_claims_nothing() -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("Team")
    spec = {"userName": "alice", "groupName": "Team"}
    bed.apply("LldapMembership", "a-first", spec, annotations=DRY_RUN)
    bed.settle()
    bed.clock.advance(5)
    bed.apply("LldapMembership", "second", spec)
    bed.run(15)
    assert bed.ready("LldapMembership", "second") == VERIFIED
    bed.run(700)
    assert "Conflict" in bed.message("LldapMembership", "a-first")


def test_deleting_a_dry_run_membership_waits_while_its_edge_is_there() -> None:
    bed = alice_in_team()
    annotate(bed, "LldapMembership", "alice-team", "dry-run", "true")
    bed.delete("LldapMembership", "alice-team")
    bed.run(30)
    assert bed.exists("LldapMembership", "alice-team")
    Directory(bed).remove("alice", "Team")
    bed.run(700)
    assert not bed.exists("LldapMembership", "alice-team")
    assert bed.mutations() == []
