"""What was decided before a lock was had is decided again under it: lldap may have changed."""

import pytest

from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import (
    CONFLICT,
    PENDING,
    VERIFIED,
    edges,
    group_ids,
    group_named,
    rename_by_hand,
)
from tests.support.waiting import while_waiting


def test_a_group_that_came_meanwhile_is_taken_under_its_own_locks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bed = Bed()
    bed.settle()
    directory = Directory(bed)
    waits = while_waiting(monkeypatch, bed, lambda: directory.make_group("team"))
    bed.group("Team")
    bed.run(2)
    number = group_ids(bed)["Team"]
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert "createGroupWithDetails" not in bed.mutations()
    assert waits.locks[0] == (("groupname", "team"),)
    assert waits.locks[1] == (("group", str(number)), ("groupname", "team"))


def test_a_group_that_was_renamed_meanwhile_is_not_adopted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bed = Bed()
    directory = Directory(bed)
    directory.make_group("Team")
    bed.settle()
    while_waiting(monkeypatch, bed, lambda: rename_by_hand(bed, "Team", "Theirs"))
    bed.group("Team")
    bed.run(2)
    assert directory.group_mark("Theirs") is None
    assert set(group_ids(bed)) == {"Team", "Theirs"}


def test_a_name_that_was_taken_meanwhile_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    bed = Bed()
    bed.group("Red")
    bed.settle()
    directory = Directory(bed)
    while_waiting(monkeypatch, bed, lambda: directory.make_group("Blue"))
    group_named(bed, "red", "Blue")
    bed.clear_logs()
    bed.run(2)
    assert bed.ready("LldapGroup", "red") == CONFLICT
    assert bed.mutations() == []


def test_a_rename_holds_the_group_and_both_names(monkeypatch: pytest.MonkeyPatch) -> None:
    bed = Bed()
    bed.group("Red")
    bed.settle()
    waits = while_waiting(monkeypatch, bed, lambda: None)
    group_named(bed, "red", "Blue")
    bed.settle()
    number = str(group_ids(bed)["Blue"])
    assert waits.locks == [(("group", number), ("groupname", "blue"), ("groupname", "red"))]


def test_a_deletion_sees_a_group_that_came_to_it_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As when the holder's cleanup hands the group over while the heir is deleted too."""
    bed = Bed()
    bed.group("Team")
    bed.settle()
    bed.clock.advance(5)
    group_named(bed, "second", "Team")
    bed.settle()
    directory = Directory(bed)
    first, second = (bed.get("LldapGroup", name)["metadata"]["uid"] for name in ("team", "second"))
    mark = directory.group_mark("Team") or ""
    handed = mark.replace(first, second).replace("team-a/team", "team-a/second")
    number = str(group_ids(bed)["Team"])
    waits = while_waiting(monkeypatch, bed, lambda: directory.set_group_mark("Team", handed))
    bed.delete("LldapGroup", "second")
    bed.run(2)
    name = ("groupname", "team")
    assert waits.locks[:2] == [(name,), (("group", number), name)]
    assert not bed.exists("LldapGroup", "second")
    assert directory.group_mark("Team") == mark  # handed back, not left to a dead mark


def test_a_membership_adds_nobody_to_a_group_that_was_renamed_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("Team")
    bed.settle()

    def rename() -> None:
        bed.annotate("LldapGroup", "team", **{"lldap_operator.lukidoescode.com__paused": "true"})
        rename_by_hand(bed, "Team", "Crew")

    while_waiting(monkeypatch, bed, rename)
    bed.membership("alice", "Team")
    bed.run(2)
    assert bed.ready("LldapMembership", "alice-team") == PENDING
    assert edges(bed) == set()


def test_a_membership_holds_both_ends_and_the_groups_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("Team")
    bed.settle()
    number = str(group_ids(bed)["Team"])
    waits = while_waiting(monkeypatch, bed, lambda: None)
    bed.membership("alice", "Team")
    bed.settle()
    locks = (("group", number), ("groupname", "team"), ("user", "alice"))
    assert waits.locks == [locks]
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert waits.locks == [locks, locks]
