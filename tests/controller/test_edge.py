"""The pair that a membership stands for, and what a status says of it."""

from typing import Any

import pytest

from controller.reconcilers.edge import Edge
from lldap import Group, User

EDGE = Edge("alice", "u-1", 7, "g-7")


def test_an_edge_is_between_a_user_and_a_group_of_lldap() -> None:
    user = User("alice", "a@example.org", "", "", "", "u-1", "2024-01-01T00:00:00+00:00")
    group = Group(7, "Team", "g-7", "2024-01-01T00:00:00+00:00")
    assert Edge.between(user, group) == EDGE


def test_what_is_recorded_is_read_back() -> None:
    status: dict[str, Any] = {"other": 1}
    EDGE.record(status)
    assert Edge.recorded(status) == EDGE
    assert status["other"] == 1


@pytest.mark.parametrize("missing", ["userId", "userUuid", "groupId", "groupUuid"])
def test_half_a_record_is_none(missing: str) -> None:
    status: dict[str, Any] = {}
    EDGE.record(status)
    del status[missing]
    assert Edge.recorded(status) is None


@pytest.mark.parametrize("wrong", [None, "7", 7.0, [7], {"x": 1}])
def test_a_record_of_other_types_is_none(wrong: object) -> None:
    status: dict[str, Any] = {}
    EDGE.record(status)
    assert Edge.recorded({**status, "groupId": wrong}) is None
    assert Edge.recorded({**status, "userUuid": 7}) is None


def test_the_seal_covers_what_tells_the_edge_from_every_other() -> None:
    """The user id follows from its uuid."""
    for other in (
        Edge("alice", "u-2", 7, "g-7"),
        Edge("alice", "u-1", 1, "g-7"),
        Edge("alice", "u-1", 7, "g-1"),
    ):
        assert other.sealed_values != EDGE.sealed_values
