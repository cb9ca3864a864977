"""A name that means another group now: which edge comes, which goes, which stays."""

from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import (
    VERIFIED,
    alice_in_team,
    drift_of,
    edges,
    group_ids,
    group_named,
    rename_by_hand,
)


def test_after_a_rename_the_new_membership_comes_before_the_old_one_goes() -> None:
    bed = alice_in_team()
    group_named(bed, "team", "Crew")
    bed.settle()
    bed.membership("alice", "Crew")
    bed.settle()
    assert bed.ready("LldapMembership", "alice-crew") == VERIFIED
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert edges(bed) == {("alice", "Crew")}
    assert "removeUserFromGroup" not in bed.mutations()


def test_after_a_rename_the_old_membership_alone_takes_its_edge_with_it() -> None:
    bed = alice_in_team()
    group_named(bed, "team", "Crew")
    bed.settle()
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert edges(bed) == set()


def moved(bed: Bed) -> None:
    """Team is renamed to Crew, and another group is called Team now."""
    group_named(bed, "team", "Crew")
    bed.run(15)
    group_named(bed, "second", "Team")
    bed.run(15)


def test_a_name_that_means_another_group_now_moves_the_edge() -> None:
    bed = alice_in_team()
    moved(bed)
    assert edges(bed) == {("alice", "Team")}
    assert bed.get("LldapMembership", "alice-team")["status"]["groupId"] == group_ids(bed)["Team"]
    assert bed.mutations()[-2:] == ["removeUserFromGroup", "addUserToGroup"]
    assert drift_of(bed, "LldapMembership") == (0, 0)


def lists(bed: Bed) -> int:
    """How often all memberships of the namespace were asked for; the watch lists other paths."""
    calls = [answered.call for answered in bed.api_transport.calls]
    return sum(c.path.endswith("/namespaces/team-a/lldapmemberships") for c in calls)


def test_the_api_server_is_asked_who_has_the_former_edge_and_not_before_a_deletion() -> None:
    bed = alice_in_team()
    moved(bed)
    assert lists(bed) == 1
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert edges(bed) == set()
    assert lists(bed) == 1


def test_a_former_edge_that_another_object_stands_for_stays() -> None:
    bed = alice_in_team()
    group_named(bed, "team", "Crew")
    bed.membership("alice", "Crew")
    bed.run(15)
    group_named(bed, "second", "Team")
    bed.run(15)
    assert edges(bed) == {("alice", "Crew"), ("alice", "Team")}


def test_a_former_edge_of_another_account_of_that_name_stays() -> None:
    bed = alice_in_team()
    directory = Directory(bed)
    directory.delete_user("alice")
    directory.make_user("alice", "Team")
    moved(bed)
    assert ("alice", "Crew") in edges(bed)
    assert "removeUserFromGroup" not in bed.mutations()


def test_a_former_edge_is_left_without_a_seal_and_a_warning_says_so() -> None:
    bed = alice_in_team()
    bed.forge("LldapMembership", "alice-team", {"seal": None})
    moved(bed)
    assert edges(bed) == {("alice", "Crew"), ("alice", "Team")}
    assert "RecordLost" in bed.events.reasons()
    assert "removeUserFromGroup" not in bed.mutations()


def test_without_a_key_a_former_edge_is_told_of_only_if_it_is_there() -> None:
    def lost() -> set[str]:
        return {who for who, _, reason, _ in bed.events.seen if reason == "RecordLost"}

    bed = alice_in_team()
    bed.start(hash_key=None)
    bed.settle()
    bed.delete("LldapUser", "alice")
    bed.run(5)
    bed.user("alice")
    bed.run(15)
    assert edges(bed) == {("alice", "Team")}
    assert "LldapMembership alice-team" not in lost()
    moved(bed)
    assert edges(bed) == {("alice", "Crew"), ("alice", "Team")}
    assert "LldapMembership alice-team" in lost()


def test_a_former_edge_of_another_lldap_is_left() -> None:
    bed = alice_in_team()
    bed.start()  # else two operators would seem to serve the object
    bed.settle()
    bed.forge("LldapMembership", "alice-team", {"server": "another"})
    moved(bed)
    assert edges(bed) == {("alice", "Crew"), ("alice", "Team")}
    assert "removeUserFromGroup" not in bed.mutations()


def test_a_group_renamed_by_hand_keeps_its_members() -> None:
    bed = alice_in_team()
    rename_by_hand(bed, "Team", "Somebody")
    bed.run(1300)
    assert edges(bed) == {("alice", "Team")}
    assert bed.mutations() == ["updateGroup"]
