"""The life of an LldapMembership."""

import pytest

from tests.behaviour.looks import (
    VIRTUAL,
    alice_in_devs,
    becomes,
    delete,
    goes,
    refusal,
)
from tests.support.bed import Bed
from tests.support.directory import Directory

WAITS = ("False", "Pending")


def test_it_waits_for_both_ends_and_then_holds(bed: Bed) -> None:
    bed.membership("alice", "devs")
    becomes(bed, "LldapMembership", "alice-devs", WAITS)
    bed.user("alice")
    becomes(bed, "LldapUser", "alice")
    becomes(bed, "LldapMembership", "alice-devs", WAITS)
    bed.group("devs")
    becomes(bed, "LldapMembership", "alice-devs")
    assert Directory(bed).members("devs") == {"alice"}


def test_its_ends_cannot_be_changed(bed: Bed) -> None:
    alice_in_devs(bed)
    for field in ("userName", "groupName"):
        change = {"spec": {field: "other"}}
        assert refusal(bed, "LldapMembership", "alice-devs", change) == f"spec.{field}"


@pytest.mark.parametrize(("policy", "stays"), [("Delete", False), ("Retain", True), (None, False)])
def test_its_deletion_does_to_the_member_what_the_policy_says(
    bed: Bed, policy: str | None, stays: bool
) -> None:
    directory = alice_in_devs(bed)
    bed.membership("alice", "devs", **({"deletionPolicy": policy} if policy else {}))
    becomes(bed, "LldapMembership", "alice-devs")
    delete(bed, "LldapMembership", "alice-devs")
    assert directory.members("devs") == ({"alice"} if stays else set())


@pytest.mark.parametrize("first", ["LldapUser", "LldapGroup", "LldapMembership"])
def test_E09_all_three_can_go_in_any_order(bed: Bed, first: str) -> None:
    directory = alice_in_devs(bed)
    objects = {"LldapUser": "alice", "LldapGroup": "devs", "LldapMembership": "alice-devs"}
    bed.delete(first, objects.pop(first))
    for kind, name in objects.items():
        bed.delete(kind, name)
    for kind, name in objects.items():
        goes(bed, kind, name)
    bed.until(lambda: not directory.has_user("alice") and not directory.has_group("devs"))


def test_of_two_of_one_pair_the_second_takes_over_in_place(bed: Bed) -> None:
    directory = alice_in_devs(bed)
    bed.membership("alice", "devs", name="second")
    becomes(bed, "LldapMembership", "second", ("False", "Conflict"))
    bed.clear_logs()
    delete(bed, "LldapMembership", "alice-devs")
    becomes(bed, "LldapMembership", "second")
    assert directory.members("devs") == {"alice"}
    assert "removeUserFromGroup" not in bed.operations()


def test_a_member_of_a_virtual_group_becomes_an_administrator_where_that_is_allowed(
    bed: Bed,
) -> None:
    for namespace in ("team-a", VIRTUAL):
        bed.user(f"user-of-{namespace}", namespace)
        bed.membership(f"user-of-{namespace}", "lldap_admin", namespace, name="rights")
    becomes(bed, "LldapMembership", "rights", namespace=VIRTUAL)
    becomes(bed, "LldapUser", "user-of-team-a")
    bed.settle()
    assert Directory(bed).members("lldap_admin") == {"admin", f"user-of-{VIRTUAL}"}
