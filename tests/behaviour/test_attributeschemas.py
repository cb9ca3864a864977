"""The life of an LldapAttributeSchema."""

import pytest

from tests.behaviour.looks import becomes, delete, goes, patch, refusal
from tests.support.bed import Bed
from tests.support.groups import attribute_names, attributes, make_attribute

NAME = "user-department"
KIND = "LldapAttributeSchema"


def test_an_object_that_uses_it_waits_for_it(bed: Bed) -> None:
    bed.user("alice", attributes=attributes(department=["42"]))
    becomes(bed, "LldapUser", "alice", ("False", "DependencyNotReady"))
    bed.schema("department")
    becomes(bed, KIND, NAME)
    becomes(bed, "LldapUser", "alice")
    row = bed.lldap.snapshot().users.rows["alice"]
    assert row.attributes["department"] == ["42"]


def test_its_shape_cannot_be_changed(bed: Bed) -> None:
    bed.schema("department")
    becomes(bed, KIND, NAME)
    change = {"spec": {"attributeType": "Integer"}}
    assert refusal(bed, KIND, NAME, change) == "spec.attributeType"


@pytest.mark.parametrize(("policy", "stays"), [("Delete", False), ("Retain", True), (None, True)])
def test_its_deletion_does_to_the_attribute_what_the_policy_says(
    bed: Bed, policy: str | None, stays: bool
) -> None:
    bed.schema("department", **({"deletionPolicy": policy} if policy else {}))
    becomes(bed, KIND, NAME)
    delete(bed, KIND, NAME)
    assert ("department" in attribute_names(bed)) is stays


def test_E10_while_it_is_used_it_stays_and_names_who_uses_it(bed: Bed) -> None:
    bed.schema("department", deletionPolicy="Delete")
    bed.user("alice", attributes=attributes(department=["42"]))
    becomes(bed, "LldapUser", "alice")
    bed.delete(KIND, NAME)
    bed.until(lambda: bed.ready(KIND, NAME) == ("False", "AttributeInUse"))
    assert "LldapUser team-a/alice" in bed.message(KIND, NAME)
    patch(bed, "LldapUser", "alice", {"spec": {"attributes": None}})
    bed.settle()
    bed.clock.advance(11.0)  # it is looked at every ten seconds
    goes(bed, KIND, NAME)
    assert "department" not in attribute_names(bed)
    becomes(bed, "LldapUser", "alice")


def test_an_attribute_of_another_shape_is_a_mismatch(bed: Bed) -> None:
    make_attribute(bed, "department", "INTEGER")
    bed.schema("department")
    becomes(bed, KIND, NAME, ("False", "SchemaMismatch"))
