"""What the operator tells the metrics about its objects and lldap."""

import pytest

from controller.ownership.deadmarks import count_dead_marks
from tests.support.bed import Bed


def lose(bed: Bed, kind: str, name: str) -> None:
    """Delete an object so that its operator never gets to clean up."""
    bed.admin.patch(
        bed.path(kind, "team-a", name),
        {"metadata": {"finalizers": None}},
        content_type="application/merge-patch+json",
    )
    bed.delete(kind, name)


def test_the_marks_of_lost_objects_are_counted_and_nothing_is_deleted() -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("team")
    bed.run(5)
    assert count_dead_marks(bed.operator.instance) == 0
    lose(bed, "LldapUser", "alice")
    lose(bed, "LldapGroup", "team")
    bed.start()
    bed.run(700, step=50)
    assert count_dead_marks(bed.operator.instance) == 2
    assert "alice" in bed.lldap.snapshot().users.rows
    bed.user("alice")
    bed.run(5)
    assert count_dead_marks(bed.operator.instance) == 1


def test_what_was_retained_leaves_no_dead_mark() -> None:
    bed = Bed()
    bed.user("alice", deletionPolicy="Retain")
    bed.group("team", deletionPolicy="Retain")
    bed.run(5)
    bed.delete("LldapUser", "alice")
    bed.delete("LldapGroup", "team")
    bed.settle()
    assert bed.events.reasons().count("Retained") == 2
    assert count_dead_marks(bed.operator.instance) == 0


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("created cluster-1 default team-a/gone uid-1", 1),
        ("created cluster-1 another team-a/gone uid-1", 0),
        ("created cluster-2 default team-a/gone uid-1", 0),
        ("created cluster-9 default team-a/gone uid-1", 1),
        ("created cluster-1 default elsewhere/gone uid-1", 0),
        ("invite default team-a/gone", 0),
        ("something else", 0),
    ],
)
def test_only_marks_of_this_operator_or_of_clusters_that_are_gone_can_be_dead(
    mark: str, expected: int
) -> None:
    bed = Bed(
        namespaces=frozenset({"team-a", "lldap-system"}), dead_clusters=frozenset({"cluster-9"})
    )
    bed.run(1)
    assert count_dead_marks(bed.operator.instance) == 0
    bed.group("any")  # so that the attribute of the mark is there
    bed.run(1)
    with bed.lldap.database() as store:
        store.create_user("bob", "bob@example.org", "Bob", {"kubernetes-owner": [mark]})
    bed.run(700, step=50)
    assert count_dead_marks(bed.operator.instance) == expected


def test_before_lldap_was_read_no_mark_is_dead() -> None:
    assert count_dead_marks(Bed().operator.instance) == 0


def test_objects_are_counted_by_kind_status_and_reason() -> None:
    bed = Bed()
    bed.user("alice")
    bed.membership("alice", "nowhere")
    bed.apply(
        "LldapUser",
        "foreign",
        {"username": "foreign", "email": "f@example.org", "passwordPolicy": "Ignore"},
        labels={"lldap-operator.lukidoescode.com/lldap-instance": "another"},
    )
    bed.run(5)
    assert bed.operator.states() == {
        ("LldapUser", "True", "Verified"): 1,
        ("LldapMembership", "False", "Pending"): 1,
        ("LldapGroup", "True", "BuiltIn"): 3,
    }
