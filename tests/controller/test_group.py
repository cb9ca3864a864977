"""Groups: made, kept and taken away; their attributes; answers that are lost."""

from collections.abc import Callable

import pytest

from sandbox.lldap.exchange import Response
from sandbox.lldap.faults import Hook, answer, garble, lose_answer, lose_request, on, postpone
from tests.support.bed import Bed
from tests.support.directory import Directory, mark
from tests.support.groups import (
    CONFLICT,
    VERIFIED,
    annotate,
    attributes,
    before,
    crash_after,
    database_error,
    drift_of,
    drop_attribute,
    group_ids,
    group_named,
    group_values,
    make_attribute,
    set_group_attribute,
)

WAITS = ("False", "DependencyNotReady")


def bed_with_schemas(*names: str) -> Bed:
    bed = Bed()
    for name in names:
        bed.schema(name, "Group")
    bed.settle()
    bed.clear_logs()
    return bed


# --- creation --------------------------------------------------------------------------------


def test_a_group_is_created_with_mark_and_attributes_in_one_call() -> None:
    bed = bed_with_schemas("department", "floor")
    bed.group("Team", attributes=attributes(department=["42"], floor=["1"]))
    bed.settle()
    uid = bed.get("LldapGroup", "team")["metadata"]["uid"]
    assert bed.mutations() == ["createGroupWithDetails"]
    assert group_values(bed, "Team") == {"department": ["42"], "floor": ["1"]}
    assert Directory(bed).group_mark("Team") == mark(uid, "team")
    status = bed.get("LldapGroup", "team")["status"]
    assert status["groupId"] == group_ids(bed)["Team"]
    assert status["uuid"] == Directory(bed).group_uuid("Team")
    assert status["origin"] == "Created"
    assert status["managed"] == ["department", "displayName", "floor"]


def test_a_restart_with_nothing_changed_asks_lldap_nothing_about_a_group() -> None:
    bed = bed_with_schemas("department")
    bed.group("Team", attributes=attributes(department=["42"]))
    bed.settle()
    bed.clear_logs()
    bed.start()
    bed.run(700)
    assert bed.mutations() == []
    assert set(bed.operations()) <= {"/auth/simple/login", "user", "users"}
    assert bed.api_writes() == []


def test_a_group_without_its_schema_is_not_created_and_comes_with_it() -> None:
    bed = Bed()
    bed.group("Team", attributes=attributes(department=["42"]))
    bed.settle()
    assert bed.ready("LldapGroup", "team") == WAITS
    assert "department" in bed.message("LldapGroup", "team")
    assert group_ids(bed) == {}
    bed.schema("department", "Group")
    bed.settle()
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert group_values(bed, "Team") == {"department": ["42"]}


def test_an_attribute_without_its_schema_holds_back_that_attribute_alone() -> None:
    bed = bed_with_schemas("department")
    bed.group("Team")
    bed.settle()
    bed.group("Team", attributes=attributes(department=["42"], nosuch=["x"]))
    bed.settle()
    assert bed.ready("LldapGroup", "team") == WAITS
    assert group_values(bed, "Team") == {"department": ["42"]}
    bed.clear_logs()
    bed.run(65)
    assert bed.operations() == []  # what waits asks nothing


def test_a_schema_for_users_does_not_do_for_groups() -> None:
    bed = Bed()
    bed.schema("department", "User")
    bed.group("Team", attributes=attributes(department=["42"]))
    bed.settle()
    assert bed.ready("LldapGroup", "team") == WAITS


def test_a_group_takes_part_in_nothing_of_another_instance() -> None:
    bed = Bed()
    bed.apply(
        "LldapGroup",
        "team",
        {"displayName": "Team"},
        labels={"lldap-operator.lukidoescode.com/lldap-instance": "other"},
    )
    bed.settle()
    assert group_ids(bed) == {}
    assert "status" not in bed.get("LldapGroup", "team")


# --- attributes ------------------------------------------------------------------------------


def test_A01_a_mixed_case_attribute_name_is_added_once_and_set_once() -> None:
    bed = Bed()
    bed.schema("costCenter", "Group")
    bed.settle()
    for value in ("1", "2", "3"):
        annotate(bed, "LldapAttributeSchema", "group-costcenter", "reconcile-at", value)
        bed.settle()
    assert bed.mutations().count("addGroupAttribute") == 2  # the mark's own and this one
    assert bed.ready("LldapAttributeSchema", "group-costcenter") == VERIFIED
    bed.group("Team")
    bed.settle()
    bed.clear_logs()
    bed.group("Team", attributes=[{"name": "costCenter", "value": ["1234"]}])
    bed.settle()
    bed.run(700)
    assert bed.mutations() == ["updateGroup"]
    assert group_values(bed, "Team") == {"costcenter": ["1234"]}


def test_A10_a_wrong_number_of_values_is_refused_before_any_call() -> None:
    bed = bed_with_schemas("department")
    for values in ([], ["a", "b"]):
        bed.group("Team", attributes=attributes(department=values))
        bed.settle()
        assert bed.ready("LldapGroup", "team") == ("False", "InvalidValue")
    bed.run(120)
    assert bed.mutations() == []


def test_A10_an_empty_list_is_stored_once() -> None:
    bed = Bed()
    bed.schema("aliases", "Group", isList=True)
    bed.group("Team", attributes=attributes(aliases=[]))
    bed.settle()
    bed.clear_logs()
    bed.run(700)
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert group_values(bed, "Team") == {"aliases": []}
    assert bed.mutations() == []


def test_values_are_compared_as_values() -> None:
    bed = Bed()
    bed.schema("age", "Group", "Integer")
    bed.schema("since", "Group", "DateTime")
    wanted = attributes(age=["+007"], since=["2024-02-29T12:00:00.5+02:00"])
    bed.group("Team", attributes=wanted)
    bed.settle()
    bed.clear_logs()
    bed.run(700)
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert bed.mutations() == []


def test_a_dropped_attribute_is_removed_and_a_foreign_one_stays() -> None:
    bed = bed_with_schemas("department", "floor", "foreign")
    bed.group("Team", attributes=attributes(department=["42"], floor=["1"]))
    bed.settle()
    set_group_attribute(bed, "Team", "foreign", "by hand")
    bed.group("Team", attributes=attributes(floor=["1"]))
    bed.settle()
    assert group_values(bed, "Team") == {"floor": ["1"], "foreign": ["by hand"]}


def test_drift_of_an_attribute_is_repaired_at_the_resync() -> None:
    bed = bed_with_schemas("department")
    bed.group("Team", attributes=attributes(department=["42"]))
    bed.settle()
    set_group_attribute(bed, "Team", "department", "changed")
    bed.clear_logs()
    bed.run(700)
    assert bed.mutations() == ["updateGroup"]
    assert group_values(bed, "Team") == {"department": ["42"]}
    assert drift_of(bed, "LldapGroup") == (1, 1)
    assert "DriftRepaired" in bed.events.reasons()


def test_a_group_that_is_gone_from_lldap_is_drift_too() -> None:
    bed = Bed()
    bed.group("Team")
    bed.settle()
    assert drift_of(bed, "LldapGroup") == (0, 0)
    Directory(bed).delete_group("Team")
    bed.run(700)
    assert list(group_ids(bed)) == ["Team"]
    assert drift_of(bed, "LldapGroup") == (1, 1)


def test_an_edit_is_no_drift() -> None:
    bed = bed_with_schemas("department")
    bed.group("Team")
    bed.settle()
    bed.group("Team", attributes=attributes(department=["42"]))
    bed.settle()
    assert drift_of(bed, "LldapGroup") == (0, 0)
    assert "Updated" in bed.events.reasons()


def test_A14_an_attribute_that_is_gone_since_the_last_read_is_found_out_at_once() -> None:
    bed = bed_with_schemas("department")
    bed.group("Team")
    bed.settle()
    drop_attribute(bed, "department", group=True)
    bed.clear_logs()
    bed.group("Team", attributes=attributes(department=["42"]))
    bed.settle()
    assert bed.ready("LldapGroup", "team") == WAITS
    bed.run(120)
    assert bed.mutations().count("updateGroup") == 1
    bed.run(700)
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert group_values(bed, "Team") == {"department": ["42"]}


def test_A14_an_attribute_is_gone_when_the_group_is_created() -> None:
    bed = bed_with_schemas("department")
    drop_attribute(bed, "department", group=True)
    bed.group("Team", attributes=attributes(department=["42"]))
    bed.settle()
    assert bed.ready("LldapGroup", "team") == WAITS
    bed.run(700)
    assert bed.ready("LldapGroup", "team") == VERIFIED


def test_A14_an_attribute_made_by_hand_since_the_last_read_counts_where_that_may_be() -> None:
    bed = Bed(require_attribute_schema=False)
    bed.group("Team", attributes=attributes(department=["42"]))
    bed.settle()
    assert bed.ready("LldapGroup", "team") == WAITS
    make_attribute(bed, "department", group=True)
    bed.run(31)
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert group_values(bed, "Team") == {"department": ["42"]}


def test_new_names_are_recorded_as_ours_before_they_are_set() -> None:
    """A crash between the two leaves no value that nobody knows to be ours."""
    bed = bed_with_schemas("department", "floor")
    bed.group("Team", attributes=attributes(department=["42"]))
    bed.settle()
    bed.group("Team", attributes=attributes(floor=["1"]))
    crash_after(bed, "updateGroup")
    bed.group("Team")
    bed.start()
    bed.run(10)
    assert group_values(bed, "Team") == {}
    assert bed.ready("LldapGroup", "team") == VERIFIED


def test_a_new_value_of_reconcile_at_reads_the_group_from_lldap_once() -> None:
    bed = bed_with_schemas("department")
    bed.group("Team", attributes=attributes(department=["42"]))
    bed.settle()
    set_group_attribute(bed, "Team", "department", "1")
    annotate(bed, "LldapGroup", "team", "reconcile-at", "1")
    bed.settle()
    assert group_values(bed, "Team") == {"department": ["42"]}
    assert bed.get("LldapGroup", "team")["status"]["reconcileAt"] == "1"
    bed.clear_logs()
    bed.run(700)
    assert "group" not in bed.operations()  # the drift resync reads all of them in one call


# --- answers that are lost -------------------------------------------------------------------


@pytest.mark.parametrize("fault", [lose_answer, lose_request])
def test_C03_a_lost_answer_to_the_creation_makes_one_group(fault: Hook) -> None:
    bed = Bed()
    bed.settle()
    bed.lldap.hooks.append(on("createGroupWithDetails", fault))
    bed.group("Team")
    bed.run(30)
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert list(group_ids(bed)) == ["Team"]
    assert bed.get("LldapGroup", "team")["status"]["origin"] == "Created"


def test_a_group_whose_creation_was_not_answered_is_ready_at_once() -> None:
    bed = Bed()
    bed.settle()
    bed.lldap.hooks.append(on("createGroupWithDetails", lose_answer))
    bed.group("Team")
    bed.settle()
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert bed.events.reasons() == ["Created"]


@pytest.mark.parametrize("fault", [lose_answer, lose_request])
def test_a_lost_answer_to_a_change_ends_in_what_is_declared(fault: Hook) -> None:
    bed = bed_with_schemas("department")
    bed.group("Team")
    bed.settle()
    bed.lldap.hooks.append(on("updateGroup", fault))
    group_named(bed, "team", "Crew", attributes=attributes(department=["42"]))
    bed.run(30)
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert list(group_ids(bed)) == ["Crew"]
    assert group_values(bed, "Crew") == {"department": ["42"]}


@pytest.mark.parametrize("fault", [lose_answer, lose_request])
def test_a_lost_answer_to_the_deletion_ends_with_no_group(fault: Hook) -> None:
    bed = Bed()
    bed.group("Team")
    bed.settle()
    bed.lldap.hooks.append(on("deleteGroup", fault))
    bed.delete("LldapGroup", "team")
    bed.run(30)
    assert not bed.exists("LldapGroup", "team")
    assert group_ids(bed) == {}


def test_a_creation_that_lands_after_its_name_was_edited_is_deleted_with_the_object() -> None:
    held: list[Callable[[], Response]] = []
    bed = Bed()
    bed.settle()
    bed.lldap.hooks.append(on("createGroupWithDetails", postpone(held)))
    bed.group("Team")
    bed.run(1)
    group_named(bed, "team", "Crew")
    bed.run(10)
    held[0]()
    assert set(group_ids(bed)) == {"Team", "Crew"}
    bed.run(700)
    assert bed.ready("LldapGroup", "team") == VERIFIED
    bed.delete("LldapGroup", "team")
    bed.run(5)
    assert group_ids(bed) == {}


def test_a_hand_made_group_that_was_faster_is_adopted() -> None:
    bed = Bed()
    bed.settle()
    directory = Directory(bed)
    bed.lldap.hooks.append(before("createGroupWithDetails", lambda: directory.make_group("team")))
    bed.group("Team")
    bed.run(5)
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert bed.get("LldapGroup", "team")["status"]["origin"] == "Adopted"
    assert list(group_ids(bed)) == ["Team"]


def test_a_database_that_folds_names_in_its_own_way_is_a_conflict() -> None:
    """MariaDB takes a trailing space for nothing; no group of an equal name is found."""
    bed = Bed()
    bed.settle()
    refused = database_error("1062 (23000): Duplicate entry 'team ' for key 'lowercase_name'")
    bed.lldap.hooks.append(on("createGroupWithDetails", answer(refused), times=99))
    group_named(bed, "team", "Team ")
    bed.run(60)
    assert bed.ready("LldapGroup", "team") == CONFLICT
    assert bed.mutations().count("createGroupWithDetails") == 1


def test_a_wrong_answer_to_the_creation_is_read_back() -> None:
    bed = Bed()
    bed.settle()

    garbled = garble(lambda body: body.replace(b"Team", b"Another"))
    bed.lldap.hooks.append(on("createGroupWithDetails", garbled))
    bed.group("Team")
    bed.run(10)
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert bed.mutations().count("createGroupWithDetails") == 1
