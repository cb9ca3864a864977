"""What lldap may answer to addUserToGroup, and what is made of it."""

import pytest

from sandbox.lldap.exchange import Response
from sandbox.lldap.faults import Hook, answer, lose_answer, lose_request, on
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import PENDING, VERIFIED, annotate, before, database_error, edges


def bed_with_ends() -> tuple[Bed, Directory]:
    """Alice and Team are there; the membership is made by the test."""
    bed = Bed()
    bed.user("alice")
    bed.group("Team")
    bed.settle()
    bed.clear_logs()
    return bed, Directory(bed)


def test_C05_an_edge_that_was_made_by_hand_a_moment_ago_is_success() -> None:
    """The second addUserToGroup is an error of the database."""
    bed, directory = bed_with_ends()
    directory.add("alice", "Team")  # the mirror does not know it
    bed.membership("alice", "Team")
    bed.settle()
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
    assert bed.mutations() == ["addUserToGroup"]


@pytest.mark.parametrize("fault", [lose_answer, lose_request])
def test_C03_a_lost_answer_ends_with_the_edge(fault: Hook) -> None:
    bed, _ = bed_with_ends()
    bed.lldap.hooks.append(on("addUserToGroup", fault))
    bed.membership("alice", "Team")
    bed.run(30)
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
    assert edges(bed) == {("alice", "Team")}


def test_C05_a_user_that_is_gone_comes_back_soon() -> None:
    bed, directory = bed_with_ends()
    bed.lldap.hooks.append(before("addUserToGroup", lambda: directory.delete_user("alice")))
    bed.membership("alice", "Team")
    bed.run(2)
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
    assert edges(bed) == {("alice", "Team")}
    assert bed.mutations() == ["addUserToGroup", "createUser", "addUserToGroup"]


def test_C05_a_group_that_is_gone_comes_back_soon() -> None:
    bed, directory = bed_with_ends()
    bed.lldap.hooks.append(before("addUserToGroup", lambda: directory.delete_group("Team")))
    bed.membership("alice", "Team")
    bed.run(2)
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
    assert edges(bed) == {("alice", "Team")}
    assert bed.mutations() == ["addUserToGroup", "createGroupWithDetails", "addUserToGroup"]


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [("LldapUser", "alice", "account alice"), ("LldapGroup", "team", "group Team")],
)
def test_C05_an_end_that_is_gone_is_named_while_it_does_not_come_back(
    kind: str, name: str, words: str
) -> None:
    """lldap's own words do not say which of the two is missing."""
    bed, directory = bed_with_ends()
    annotate(bed, kind, name, "paused", "true")
    bed.settle()
    gone = directory.delete_user if kind == "LldapUser" else directory.delete_group
    bed.lldap.hooks.append(before("addUserToGroup", lambda: gone(name)))
    bed.membership("alice", "Team")
    bed.settle()
    assert bed.ready("LldapMembership", "alice-team") == PENDING
    assert words in bed.message("LldapMembership", "alice-team")
    annotate(bed, kind, name, "paused", None)
    bed.settle()
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
    assert edges(bed) == {("alice", "Team")}


def test_another_account_of_that_name_is_not_taken_for_the_one_that_was_meant() -> None:
    bed, directory = bed_with_ends()

    def replace() -> None:
        directory.delete_user("alice")
        directory.make_user("alice", "Team")

    bed.lldap.hooks.append(before("addUserToGroup", replace))
    bed.membership("alice", "Team")
    bed.settle()
    assert bed.ready("LldapMembership", "alice-team") == PENDING


LOCKS = [
    "1213 (40001): Deadlock found when trying to get lock; try restarting transaction",
    "1205 (HY000): Lock wait timeout exceeded; try restarting transaction",
    "deadlock detected",
    "(code: 5) database is locked",
]


@pytest.mark.parametrize("words", LOCKS)
def test_C04_lock_errors_of_any_database_pass_without_a_word_on_the_object(words: str) -> None:
    bed, _ = bed_with_ends()
    bed.lldap.hooks.append(on("addUserToGroup", answer(database_error(words)), times=3))
    bed.membership("alice", "Team")
    bed.run(5)
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
    assert edges(bed) == {("alice", "Team")}
    assert bed.mutations() == ["addUserToGroup"] * 4
    assert not [seen for seen in bed.events.seen if seen[1] == "Warning"]


def test_lock_errors_that_do_not_end_show_on_the_object_and_keep_being_retried() -> None:
    bed, _ = bed_with_ends()
    refusal = answer(database_error(LOCKS[0]))
    bed.lldap.hooks.append(on("addUserToGroup", refusal, times=10_000))
    bed.membership("alice", "Team")
    bed.run(60)
    status, reason = bed.ready("LldapMembership", "alice-team")
    assert (status, reason) == ("False", "Refused")
    bed.lldap.hooks.clear()
    bed.run(320)
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED


def test_an_error_that_nobody_knows_is_read_back_and_retried() -> None:
    bed, _ = bed_with_ends()
    words = {"data": None, "errors": [{"message": "Something new", "locations": [], "path": []}]}
    bed.lldap.hooks.append(on("addUserToGroup", answer(Response.of_json(200, words))))
    bed.membership("alice", "Team")
    bed.run(30)
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
    assert bed.mutations() == ["addUserToGroup"] * 2


def test_lldap_that_is_down_holds_the_membership_and_nothing_is_lost() -> None:
    bed, _ = bed_with_ends()

    bed.lldap.hooks.append(lose_request)
    bed.membership("alice", "Team")
    bed.run(30)
    assert bed.ready("LldapMembership", "alice-team") == ("False", "LldapUnavailable")
    bed.lldap.hooks.clear()
    bed.run(30)
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
