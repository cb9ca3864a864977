"""Two objects for one pair: one stands for it, and it outlives either."""

from typing import Any

import pytest

from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import CONFLICT, PENDING, VERIFIED, VIRTUAL, annotate, edges

DRY_RUN = {"lldap-operator.lukidoescode.com/dry-run": "true"}
SPEC = {"userName": "alice", "groupName": "Team"}


def bed_with_two(second: str = "team-a", **rules: Any) -> Bed:
    """Alice in Team twice: by team-a/first, and later by second/second in other letters."""
    bed = Bed(**rules)
    bed.user("alice")
    bed.group("Team")
    bed.membership("alice", "Team", name="first")
    bed.run(15)
    bed.membership("ALICE", "TEAM", second, name="second")
    bed.settle()
    bed.clear_logs()
    return bed


@pytest.mark.parametrize("namespace", ["team-a", "team-b"])
def test_C05_the_second_object_of_a_pair_is_in_conflict_with_the_holder(namespace: str) -> None:
    bed = bed_with_two(namespace)
    assert bed.ready("LldapMembership", "first") == VERIFIED
    assert bed.ready("LldapMembership", "second", namespace) == CONFLICT
    assert "team-a/first" in bed.message("LldapMembership", "second", namespace)


def test_C05_deleting_the_second_keeps_the_edge() -> None:
    bed = bed_with_two()
    bed.delete("LldapMembership", "second")
    bed.run(700)
    assert edges(bed) == {("alice", "Team")}
    assert bed.mutations() == []


def test_C05_deleting_the_holder_hands_the_edge_over_in_place() -> None:
    bed = bed_with_two()
    bed.delete("LldapMembership", "first")
    bed.settle()
    assert bed.ready("LldapMembership", "second") == VERIFIED
    assert edges(bed) == {("alice", "Team")}
    assert bed.mutations() == []
    bed.delete("LldapMembership", "second")
    bed.settle()
    assert edges(bed) == set()


def test_deleting_both_at_once_removes_the_edge() -> None:
    bed = bed_with_two()
    bed.delete("LldapMembership", "first")
    bed.delete("LldapMembership", "second")
    bed.run(5)
    assert edges(bed) == set()


def test_the_edge_is_handed_over_between_namespaces_too() -> None:
    bed = Bed(allow_unmanaged_references=True)
    directory = Directory(bed)
    directory.make_user("alice")
    directory.make_group("Team")
    bed.membership("alice", "Team", name="first")
    bed.settle()
    bed.membership("alice", "Team", "team-b", name="second")
    bed.settle()
    assert bed.ready("LldapMembership", "second", "team-b") == CONFLICT
    bed.clear_logs()
    bed.delete("LldapMembership", "first")
    bed.settle()
    assert bed.ready("LldapMembership", "second", "team-b") == VERIFIED
    assert bed.mutations() == []


def test_who_holds_the_edge_keeps_it_against_an_older_object() -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("Team")
    bed.apply("LldapMembership", "older", SPEC, annotations=DRY_RUN)
    bed.settle()
    bed.clock.advance(60)
    bed.apply("LldapMembership", "younger", SPEC)
    bed.run(15)
    bed.apply("LldapMembership", "older", SPEC, annotations={})
    bed.run(15)
    assert bed.ready("LldapMembership", "younger") == VERIFIED
    assert bed.ready("LldapMembership", "older") == CONFLICT


@pytest.mark.parametrize("annotation", ["dry-run", "paused"])
def test_an_object_that_does_nothing_inherits_nothing(annotation: str) -> None:
    bed = bed_with_two()
    annotate(bed, "LldapMembership", "second", annotation)
    bed.settle()
    bed.delete("LldapMembership", "first")
    bed.settle()
    assert edges(bed) == set()


def test_an_object_in_conflict_leaves_the_edge_to_a_holder_that_is_paused() -> None:
    bed = bed_with_two()
    annotate(bed, "LldapMembership", "first", "paused")
    bed.settle()
    bed.delete("LldapMembership", "second")
    bed.settle()
    assert not bed.exists("LldapMembership", "second")
    assert edges(bed) == {("alice", "Team")}


def test_a_membership_that_means_nothing_keeps_nobody_from_the_pair() -> None:
    """In team-b there is no alice: its older object claims no pair."""
    bed = Bed()
    bed.membership("alice", "Team", "team-b", name="squatter")
    bed.settle()
    bed.clock.advance(60)
    bed.user("alice")
    bed.group("Team")
    bed.membership("alice", "Team")
    bed.run(15)
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
    assert bed.ready("LldapMembership", "squatter", "team-b") == CONFLICT


def test_a_membership_that_means_nothing_keeps_no_edge_in_lldap() -> None:
    """Else whoever may write memberships anywhere could keep people where they were."""
    bed = bed_with_two("team-b")
    bed.delete("LldapMembership", "first")
    bed.run(15)
    assert edges(bed) == set()
    assert bed.ready("LldapMembership", "second", "team-b") == PENDING


def test_a_refused_membership_neither_blocks_nor_keeps_a_built_in_edge() -> None:
    bed = Bed()
    bed.membership("mallory", "lldap_admin", "team-a", name="squatter")
    bed.settle()
    bed.clock.advance(60)
    bed.user("mallory", VIRTUAL)
    bed.membership("mallory", "lldap_admin", VIRTUAL, name="real")
    bed.run(15)
    assert bed.ready("LldapMembership", "real", VIRTUAL) == VERIFIED
    assert bed.ready("LldapMembership", "squatter") == ("False", "ProtectedAccount")
    bed.delete("LldapMembership", "real", VIRTUAL)
    bed.run(5)
    assert edges(bed) == set()


def test_a_forged_record_makes_nobody_the_holder() -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("Team")
    bed.settle()
    bed.membership("alice", "Team", name="first")
    bed.run(15)
    record = bed.get("LldapMembership", "first")["status"]
    bed.membership("alice", "Team", name="second")
    bed.settle()
    forged = {
        k: record[k] for k in ("userId", "userUuid", "groupId", "groupUuid", "server", "seal")
    }
    bed.forge("LldapMembership", "second", forged)
    bed.run(700)
    assert bed.ready("LldapMembership", "first") == VERIFIED
    assert bed.ready("LldapMembership", "second") == CONFLICT
    bed.clear_logs()
    bed.delete("LldapMembership", "second")
    bed.run(5)
    assert edges(bed) == {("alice", "Team")}
    assert bed.mutations() == []
