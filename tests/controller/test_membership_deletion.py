"""What becomes of the edge when the membership goes, or one of its ends."""

import itertools
from collections.abc import Callable

import pytest

from informers import ConnectionFailed
from sandbox.apiserver.transport import Call
from sandbox.lldap.exchange import Response
from sandbox.lldap.faults import Hook, lose_answer, lose_request, on, postpone, refuse
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import (
    alice_in_team,
    annotate,
    before,
    crash_after,
    edges,
    group_named,
    rename_by_hand,
)

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MEMBERSHIP_CRD = f"{CRDS}/lldapmemberships.lldap-operator.lukidoescode.com"


def test_the_edge_goes_with_the_membership() -> None:
    bed = alice_in_team()
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert edges(bed) == set()
    assert bed.mutations() == ["removeUserFromGroup"]
    assert "Removed" in bed.events.reasons()


def test_with_retain_the_edge_stays() -> None:
    bed = alice_in_team(membership="Retain")
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert not bed.exists("LldapMembership", "alice-team")
    assert edges(bed) == {("alice", "Team")}
    assert bed.operations() == []


def test_C05_an_edge_that_is_gone_already_holds_nothing_up() -> None:
    bed = alice_in_team()
    Directory(bed).remove("alice", "Team")
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert not bed.exists("LldapMembership", "alice-team")
    assert bed.mutations() == []


def test_C05_a_removal_that_somebody_else_makes_at_the_same_time_is_success() -> None:
    bed = alice_in_team()
    directory = Directory(bed)
    hook = before("removeUserFromGroup", lambda: directory.remove("alice", "Team"))
    bed.lldap.hooks.append(hook)
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert not bed.exists("LldapMembership", "alice-team")
    assert bed.mutations() == ["removeUserFromGroup"]


def test_what_never_stood_for_an_edge_goes_while_lldap_is_down() -> None:
    bed = Bed()
    bed.group("Team")
    bed.membership("nobody", "Team")
    bed.settle()
    bed.lldap.hooks.append(refuse)
    bed.user("alice")  # its pass finds out that lldap is down
    bed.settle()
    assert not bed.operator.gate.is_open
    bed.delete("LldapMembership", "nobody-team")
    bed.settle()
    assert not bed.exists("LldapMembership", "nobody-team")


@pytest.mark.parametrize("which", ["user", "group", "both"])
def test_an_end_that_is_gone_already_holds_nothing_up(which: str) -> None:
    bed = alice_in_team()
    if which != "group":
        Directory(bed).delete_user("alice")
    if which != "user":
        Directory(bed).delete_group("Team")
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert not bed.exists("LldapMembership", "alice-team")
    assert "removeUserFromGroup" not in bed.mutations()


def test_another_account_of_that_name_keeps_its_place() -> None:
    bed = alice_in_team()
    annotate(bed, "LldapUser", "alice", "paused", "true")
    directory = Directory(bed)
    directory.delete_user("alice")
    directory.make_user("alice", "Team")
    bed.settle()
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert edges(bed) == {("alice", "Team")}
    assert bed.mutations() == []


def test_another_group_of_that_name_keeps_its_members() -> None:
    bed = alice_in_team()
    annotate(bed, "LldapGroup", "team", "paused", "true")
    directory = Directory(bed)
    directory.delete_group("Team")
    directory.make_group("Team", "alice")
    bed.start()
    bed.settle()
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert edges(bed) == {("alice", "Team")}


# --- the ends go too -------------------------------------------------------------------------

KINDS = {"user": ("LldapUser", "alice"), "group": ("LldapGroup", "team")}
ORDERS = list(itertools.permutations(("user", "group", "membership")))


@pytest.mark.parametrize("wait", [0, 20], ids=["at once", "one by one"])
@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.parametrize("policies", list(itertools.product(("Delete", "Retain"), repeat=2)))
def test_the_edge_goes_in_whatever_order_the_three_go(
    policies: tuple[str, str], order: tuple[str, ...], wait: int
) -> None:
    """With Retain on an end that is deleted first too: by the record."""
    user, group = policies
    bed = alice_in_team(user=user, group=group)
    Directory(bed).make_user("guest", "Team")
    names = {**KINDS, "membership": ("LldapMembership", "alice-team")}
    for what in order:
        bed.delete(*names[what])
        if wait:
            bed.run(wait)
    bed.run(20)
    assert not any(bed.exists(*name) for name in names.values())
    assert ("alice", "Team") not in edges(bed)
    directory = Directory(bed)
    assert directory.has_user("alice") is (user == "Retain")
    assert directory.has_group("Team") is (group == "Retain")
    assert edges(bed) == ({("guest", "Team")} if group == "Retain" else set())


def test_a_retained_group_that_was_renamed_since_loses_the_edge_too() -> None:
    bed = alice_in_team(group="Retain")
    bed.delete("LldapGroup", "team")
    bed.settle()
    rename_by_hand(bed, "Team", "Crew")
    bed.start()
    bed.run(15)
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert edges(bed) == set()


def test_with_a_forged_record_the_edge_of_a_retained_user_stays() -> None:
    bed = alice_in_team(user="Retain")
    bed.delete("LldapUser", "alice")
    bed.settle()
    bed.forge("LldapMembership", "alice-team", {"seal": "0" * 64})
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert edges(bed) == {("alice", "Team")}
    assert "RecordLost" in bed.events.reasons()


# --- an uninstall ----------------------------------------------------------------------------


def test_an_uninstall_takes_nobody_out_of_a_group() -> None:
    bed = alice_in_team()
    bed.admin.delete(MEMBERSHIP_CRD)
    bed.run(15)
    assert edges(bed) == {("alice", "Team")}
    assert "removeUserFromGroup" not in bed.mutations()


def test_a_removal_waits_while_the_api_server_does_not_say_whether_it_is_an_uninstall() -> None:
    bed = alice_in_team()

    def fail(call: Call) -> None:
        if "customresourcedefinitions" in call.path:
            raise ConnectionFailed("refused", sent=False)

    bed.api_transport.before = fail
    bed.delete("LldapMembership", "alice-team")
    bed.run(12)
    assert edges(bed) == {("alice", "Team")}
    assert bed.ready("LldapMembership", "alice-team") == ("False", "Deleting")
    bed.api_transport.before = lambda call: None
    bed.run(12)
    assert edges(bed) == set()
    assert not bed.exists("LldapMembership", "alice-team")


# --- crashes and lost answers ----------------------------------------------------------------


@pytest.mark.parametrize("fault", [lose_answer, lose_request])
def test_a_lost_answer_to_the_removal_ends_without_the_edge(fault: Hook) -> None:
    bed = alice_in_team()
    bed.lldap.hooks.append(on("removeUserFromGroup", fault))
    bed.delete("LldapMembership", "alice-team")
    bed.run(30)
    assert edges(bed) == set()
    assert not bed.exists("LldapMembership", "alice-team")


def test_an_edge_that_a_crash_kept_from_the_record_goes_with_the_object() -> None:
    """The names mean another group now; the operator dies before it writes that down."""
    bed = alice_in_team()
    group_named(bed, "team", "Crew")
    bed.run(15)
    group_named(bed, "second", "Team")
    crash_after(bed, "addUserToGroup")
    assert edges(bed) == {("alice", "Team")}
    bed.delete("LldapMembership", "alice-team")
    bed.start()
    bed.run(15)
    assert edges(bed) == set()


def test_an_edge_whose_addition_landed_late_goes_with_the_object() -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("Team")
    bed.settle()
    held: list[Callable[[], Response]] = []
    bed.lldap.hooks.append(on("addUserToGroup", postpone(held)))
    bed.membership("alice", "Team")
    bed.settle()
    assert held
    bed.delete("LldapMembership", "alice-team")
    held[0]()
    bed.run(30)
    assert edges(bed) == set()
    assert not bed.exists("LldapMembership", "alice-team")
