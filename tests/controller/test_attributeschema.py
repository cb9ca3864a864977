"""Attribute schemas: made once, never changed, and only of the declared shape Ready."""

from typing import Any

import pytest

from controller.api import LLDAP_ATTRIBUTE_SCHEMA
from sandbox.lldap.faults import Hook, lose_answer, lose_request, on
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import (
    CONFLICT,
    VERIFIED,
    attribute_names,
    before,
    drift_of,
    drop_attribute,
    lift_admission,
    make_attribute,
    schema_named,
)
from tests.support.waiting import while_waiting

MISMATCH = ("False", "SchemaMismatch")
REFUSED = ("BuiltInConflict", "InvalidSpec")
DRY_RUN = {"lldap-operator.lukidoescode.com/dry-run": "true"}


def ready(bed: Bed, name: str = "s", namespace: str = "team-a") -> tuple[str, str]:
    return bed.ready("LldapAttributeSchema", name, namespace)


def schema_changes(bed: Bed) -> list[str]:
    """The operator's changes of lldap's schema, the mark's own attribute aside."""
    made = [op for op in bed.mutations() if op.endswith("Attribute")]
    for own in ("addUserAttribute", "addGroupAttribute"):
        if own in made:
            made.remove(own)
    return made


def test_an_attribute_is_added_once_with_every_flag() -> None:
    bed = Bed()
    schema_named(bed, "s", isList=True, isVisible=True, isEditable=True, attributeType="Integer")
    bed.run(700)
    assert ready(bed) == VERIFIED
    assert schema_changes(bed) == ["addUserAttribute"]
    added = bed.lldap.snapshot().users.stored["department"]
    assert (added.kind, added.is_list, added.is_visible, added.is_editable) == (
        "INTEGER",
        True,
        True,
        True,
    )
    status = bed.get("LldapAttributeSchema", "s")["status"]
    assert status["instance"] == "default"
    assert status["server"] == Directory(bed).group_uuid("lldap_admin")


def test_a_restart_asks_lldap_nothing_about_an_attribute() -> None:
    bed = Bed()
    schema_named(bed, "s")
    bed.settle()
    bed.clear_logs()
    bed.start()
    bed.run(60)
    assert set(bed.operations()) <= {"/auth/simple/login", "user", "users"}
    assert bed.api_writes() == []


def test_A01_another_spelling_is_the_same_attribute() -> None:
    bed = Bed()
    make_attribute(bed, "costcenter")
    schema_named(bed, "s", attributeName="costCenter")
    schema_named(bed, "t", attributeName="COSTCENTER")
    bed.run(60)
    assert ready(bed) == VERIFIED
    assert ready(bed, "t") == CONFLICT
    assert "addUserAttribute" not in schema_changes(bed)


@pytest.mark.parametrize(
    "other",
    [
        {"attributeType": "Integer"},
        {"isList": True},
        {"isVisible": True},
        {"isEditable": True},
    ],
)
def test_A12_another_shape_is_a_mismatch_and_is_left_alone(other: dict[str, Any]) -> None:
    bed = Bed()
    make_attribute(bed, "department")
    Directory(bed).make_user("hand", department="42")
    schema_named(bed, "s", deletionPolicy="Delete", **other)
    bed.run(60)
    assert ready(bed) == MISMATCH
    flag = next(iter(other))
    assert flag in bed.message("LldapAttributeSchema", "s")
    bed.delete("LldapAttributeSchema", "s")
    bed.run(15)
    assert not bed.exists("LldapAttributeSchema", "s")
    row = Directory(bed).user("hand")
    assert row is not None
    assert row.attributes["department"] == ["42"]
    assert schema_changes(bed) == []


def test_an_attribute_that_people_may_edit_by_mistake_is_no_dependency() -> None:
    bed = Bed()
    make_attribute(bed, "department", group=True, is_editable=True)
    bed.schema("department", "Group")
    bed.group("Team", attributes=[{"name": "department", "value": ["42"]}])
    bed.run(15)
    assert bed.ready("LldapGroup", "team") == ("False", "DependencyNotReady")


def test_another_type_on_the_other_target_is_a_mismatch() -> None:
    bed = Bed()
    schema_named(bed, "s")
    bed.settle()
    schema_named(bed, "t", target="Group", attributeType="Integer")
    bed.run(30)
    assert ready(bed) == VERIFIED
    assert ready(bed, "t") == MISMATCH
    assert "addGroupAttribute" not in schema_changes(bed)


def test_another_type_on_the_other_target_is_a_mismatch_for_two_made_at_once() -> None:
    bed = Bed()
    schema_named(bed, "s")
    schema_named(bed, "t", target="Group", attributeType="Integer")
    bed.run(30)
    assert sorted([ready(bed), ready(bed, "t")]) == sorted([VERIFIED, MISMATCH])


def test_another_type_that_came_to_the_other_target_a_moment_ago_is_a_mismatch() -> None:
    bed = Bed()
    bed.settle()
    bed.group("any")
    bed.settle()
    hand = before(
        "addUserAttribute", lambda: make_attribute(bed, "department", "INTEGER", group=True)
    )
    bed.lldap.hooks.append(hand)
    schema_named(bed, "s")
    bed.settle()
    assert ready(bed) == MISMATCH


def test_another_type_that_came_while_it_waited_for_its_locks_is_a_mismatch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It holds the name on both targets: two threads cannot add two types at once."""
    bed = Bed()
    bed.group("any")
    bed.settle()
    bed.clear_logs()
    waits = while_waiting(
        monkeypatch, bed, lambda: make_attribute(bed, "department", "INTEGER", group=True)
    )
    schema_named(bed, "s")
    bed.settle()
    assert ready(bed) == MISMATCH
    assert bed.mutations() == []
    assert waits.locks == [(("attribute", "User/department"), ("attribute", "Group/department"))]


def test_the_same_type_on_both_targets_is_fine() -> None:
    bed = Bed()
    schema_named(bed, "s")
    schema_named(bed, "t", target="Group", isList=True)
    bed.settle()
    assert ready(bed) == VERIFIED
    assert ready(bed, "t") == VERIFIED


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("User", "mail"),
        ("User", "Avatar"),
        ("User", "first_name"),
        ("User", "kubernetes-owner"),
        ("Group", "uuid"),
        ("Group", "Display_Name"),
        ("Group", "Kubernetes-Owner"),
    ],
)
def test_A13_a_built_in_name_is_never_lldaps_business(target: str, name: str) -> None:
    """The CRD refuses it; here it is an object that is older than the rule."""
    bed = Bed()
    lift_admission(bed, LLDAP_ATTRIBUTE_SCHEMA)
    bed.settle()
    before = Directory(bed).dump()
    bed.clear_logs()
    schema_named(bed, "s", attributeName=name, target=target, deletionPolicy="Delete")
    bed.run(30)
    assert ready(bed)[1] in REFUSED
    bed.delete("LldapAttributeSchema", "s")
    bed.run(15)
    assert not bed.exists("LldapAttributeSchema", "s")
    assert Directory(bed).dump() == before
    assert bed.operations() == []


def test_A12_an_edited_spec_never_deletes_the_attribute() -> None:
    """The CRD refuses the edit; here it does not."""
    bed = Bed()
    lift_admission(bed, LLDAP_ATTRIBUTE_SCHEMA)
    schema_named(bed, "s")
    bed.settle()
    Directory(bed).make_user("hand", department="42")
    bed.clear_logs()
    for edit in ({"attributeType": "Integer"}, {"isList": True}):
        schema_named(bed, "s", **edit)
        bed.run(700)
        assert ready(bed) == MISMATCH
    row = Directory(bed).user("hand")
    assert row is not None
    assert row.attributes["department"] == ["42"]
    assert bed.mutations() == []


def test_drift_of_a_deleted_attribute_is_repaired_with_the_values_of_our_objects() -> None:
    bed = Bed()
    bed.schema("department", "Group")
    bed.group("Team", attributes=[{"name": "department", "value": ["42"]}])
    bed.settle()
    drop_attribute(bed, "department", group=True)
    bed.run(1300)
    assert drift_of(bed, "LldapAttributeSchema") == (1, 1)
    assert ready(bed, "group-department") == VERIFIED
    assert bed.ready("LldapGroup", "team") == VERIFIED
    row = Directory(bed).group("Team")
    assert row is not None
    assert row.attributes["department"] == ["42"]


def test_an_attribute_that_was_made_by_hand_a_moment_ago_is_read_back() -> None:
    bed = Bed()
    bed.group("any")
    bed.settle()
    bed.lldap.hooks.append(before("addUserAttribute", lambda: make_attribute(bed, "department")))
    schema_named(bed, "s")
    bed.settle()
    assert ready(bed) == VERIFIED


@pytest.mark.parametrize("fault", [lose_answer, lose_request])
def test_C03_a_lost_answer_ends_with_the_attribute(fault: Hook) -> None:
    bed = Bed()
    bed.group("any")
    bed.settle()
    bed.lldap.hooks.append(on("addUserAttribute", fault))
    schema_named(bed, "s")
    bed.run(30)
    assert ready(bed) == VERIFIED
    assert attribute_names(bed) == {"department"}


# --- whose it is -----------------------------------------------------------------------------


@pytest.mark.parametrize("namespace", ["team-a", "team-b"])
def test_the_younger_object_is_in_conflict_with_the_older(namespace: str) -> None:
    bed = Bed()
    schema_named(bed, "s")
    bed.settle()
    bed.clock.advance(5)
    schema_named(bed, "r", namespace, attributeName="Department")
    bed.settle()
    assert ready(bed) == VERIFIED
    assert ready(bed, "r", namespace) == CONFLICT
    assert "team-a/s" in bed.message("LldapAttributeSchema", "r", namespace)


def test_who_declares_what_lldap_has_comes_before_an_older_object_of_another_shape() -> None:
    bed = Bed()
    make_attribute(bed, "department")
    schema_named(bed, "s", attributeType="Integer")
    bed.settle()
    assert ready(bed) == MISMATCH
    bed.clock.advance(5)
    schema_named(bed, "t", "team-b")
    bed.run(700)
    assert ready(bed, "t", "team-b") == VERIFIED
    assert ready(bed) == CONFLICT


def test_an_object_in_dry_run_claims_nothing_and_says_what_it_would_add() -> None:
    bed = Bed()
    spec = {"attributeName": "department", "attributeType": "Integer", "target": "User"}
    bed.apply("LldapAttributeSchema", "s", spec, annotations=DRY_RUN)
    bed.settle()
    assert "add the attribute department" in bed.message("LldapAttributeSchema", "s")
    bed.clock.advance(5)
    schema_named(bed, "t")
    bed.settle()
    assert ready(bed, "t") == VERIFIED
    assert schema_changes(bed) == ["addUserAttribute"]
