"""An attribute goes only on an explicit word, while nobody uses it, and to nobody else's harm."""

import pytest

from sandbox.lldap.faults import Hook, lose_answer, lose_request, on
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import (
    CONFLICT,
    VERIFIED,
    VIRTUAL,
    annotate,
    attribute_names,
    attributes,
    before,
    make_attribute,
    schema_named,
)

IN_USE = ("False", "AttributeInUse")
CRD = (
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
    "lldapattributeschemas.lldap-operator.lukidoescode.com"
)


def ready(bed: Bed, name: str = "s", namespace: str = "team-a") -> tuple[str, str]:
    return bed.ready("LldapAttributeSchema", name, namespace)


def delete(bed: Bed, name: str = "s", namespace: str = "team-a") -> None:
    bed.delete("LldapAttributeSchema", name, namespace)


def bed_with_schema(policy: str | None = "Delete") -> Bed:
    bed = Bed()
    schema_named(bed, "s", **({} if policy is None else {"deletionPolicy": policy}))
    bed.settle()
    assert ready(bed) == VERIFIED
    bed.clear_logs()
    return bed


@pytest.mark.parametrize("policy", [None, "Retain"])
def test_E10_by_default_the_attribute_and_all_values_stay(policy: str | None) -> None:
    bed = bed_with_schema(policy)
    directory = Directory(bed)
    for name in ("one", "two", "three"):
        directory.make_user(name, department="42")
    delete(bed)
    bed.settle()
    assert not bed.exists("LldapAttributeSchema", "s")
    users = bed.lldap.snapshot().users.rows.values()
    assert sum("department" in user.attributes for user in users) == 3
    assert bed.operations() == []


def test_an_unused_attribute_goes_with_delete() -> None:
    bed = bed_with_schema()
    delete(bed)
    bed.settle()
    assert not bed.exists("LldapAttributeSchema", "s")
    assert attribute_names(bed) == set()
    assert bed.mutations() == ["deleteUserAttribute"]


def test_an_attribute_that_is_gone_already_holds_nothing_up() -> None:
    bed = bed_with_schema()
    with bed.lldap.database() as store:
        store.state.users.delete_attribute("department")
    delete(bed)
    bed.settle()
    assert not bed.exists("LldapAttributeSchema", "s")
    assert bed.mutations() == []


# --- while it is used ------------------------------------------------------------------------


def test_E10_a_value_set_by_hand_right_before_holds_the_attribute() -> None:
    bed = bed_with_schema()
    Directory(bed).make_user("hand", department="42")
    delete(bed)
    bed.run(60)
    assert ready(bed) == IN_USE
    assert "hand" in bed.message("LldapAttributeSchema", "s")
    assert bed.mutations() == []
    Directory(bed).delete_user("hand")
    bed.run(700)
    assert not bed.exists("LldapAttributeSchema", "s")
    assert attribute_names(bed) == set()


def test_a_held_attribute_asks_lldap_nothing_while_it_waits() -> None:
    bed = bed_with_schema()
    Directory(bed).make_user("hand", department="42")
    delete(bed)
    bed.settle()
    bed.clear_logs()
    bed.run(60)
    assert bed.operations() == []
    assert bed.api_writes() == []


def test_an_object_that_names_it_holds_it_and_stays_ready() -> None:
    bed = bed_with_schema()
    bed.user("alice", attributes=attributes(department=["42"]))
    bed.settle()
    delete(bed)
    bed.run(30)
    assert ready(bed) == IN_USE
    assert "LldapUser team-a/alice" in bed.message("LldapAttributeSchema", "s")
    bed.run(700)
    assert bed.ready("LldapUser", "alice") == VERIFIED
    bed.user("alice", attributes=[])
    bed.run(11)
    assert not bed.exists("LldapAttributeSchema", "s")
    assert attribute_names(bed) == set()
    assert bed.ready("LldapUser", "alice") == VERIFIED


def test_it_goes_at_once_when_the_last_object_that_names_it_goes() -> None:
    bed = bed_with_schema()
    bed.user("alice", attributes=attributes(department=["42"]))
    bed.user("bob", "team-b", attributes=attributes(department=["42"]))
    bed.settle()
    delete(bed)
    bed.settle()
    bed.delete("LldapUser", "alice")
    bed.settle()
    assert ready(bed) == IN_USE
    bed.delete("LldapUser", "bob", "team-b")
    bed.settle()
    assert not bed.exists("LldapAttributeSchema", "s")
    assert attribute_names(bed) == set()


def test_many_holders_are_counted_not_listed() -> None:
    bed = bed_with_schema()
    for number in range(9):
        Directory(bed).make_user(f"user{number}", department="42")
    delete(bed)
    bed.settle()
    assert "and 6 more" in bed.message("LldapAttributeSchema", "s")


def test_setting_the_policy_to_retain_lets_it_go() -> None:
    bed = bed_with_schema()
    Directory(bed).make_user("hand", department="42")
    delete(bed)
    bed.settle()
    path = bed.path("LldapAttributeSchema", "team-a", "s")
    change = {"spec": {"deletionPolicy": "Retain"}}
    bed.admin.patch(path, change, content_type="application/merge-patch+json")
    bed.settle()
    assert not bed.exists("LldapAttributeSchema", "s")
    assert attribute_names(bed) == {"department"}


# --- whose it is -----------------------------------------------------------------------------


@pytest.mark.parametrize("namespace", ["team-a", "team-b"])
def test_the_attribute_is_handed_over_in_place(namespace: str) -> None:
    bed = bed_with_schema()
    Directory(bed).make_user("hand", department="42")
    bed.clock.advance(5)
    schema_named(bed, "heir", namespace)
    bed.settle()
    assert ready(bed, "heir", namespace) == CONFLICT
    delete(bed)
    bed.settle()
    assert not bed.exists("LldapAttributeSchema", "s")
    assert ready(bed, "heir", namespace) == VERIFIED
    assert bed.mutations() == []


def test_an_object_of_another_shape_inherits_nothing() -> None:
    bed = bed_with_schema()
    bed.clock.advance(5)
    schema_named(bed, "other", attributeType="Integer")
    bed.settle()
    delete(bed)
    bed.run(15)
    assert not bed.exists("LldapAttributeSchema", "s")
    assert ready(bed, "other") == VERIFIED
    assert bed.lldap.snapshot().users.stored["department"].kind == "INTEGER"


def test_an_object_in_conflict_deletes_nothing() -> None:
    bed = bed_with_schema("Retain")
    bed.clock.advance(5)
    schema_named(bed, "second", deletionPolicy="Delete")
    bed.settle()
    delete(bed, "second")
    bed.settle()
    assert not bed.exists("LldapAttributeSchema", "second")
    assert attribute_names(bed) == {"department"}
    assert bed.operations() == []


def test_what_was_never_its_own_stays_with_a_warning() -> None:
    bed = Bed()
    make_attribute(bed, "department", "INTEGER")
    schema_named(bed, "s", deletionPolicy="Delete")
    bed.settle()
    assert ready(bed) == ("False", "SchemaMismatch")
    delete(bed)
    bed.settle()
    assert not bed.exists("LldapAttributeSchema", "s")
    assert attribute_names(bed) == {"department"}
    notes = [note for _, _, reason, note in bed.events.seen if reason == "LeftAlone"]
    words = "attribute department of Users stays in lldap as it is: it never was this object's"
    assert notes == [words]


def test_an_object_in_conflict_deletes_nothing_though_the_holder_goes_with_it() -> None:
    bed = bed_with_schema("Retain")
    bed.clock.advance(5)
    schema_named(bed, "second", deletionPolicy="Delete")
    bed.settle()
    delete(bed)
    delete(bed, "second")
    bed.run(15)
    assert attribute_names(bed) == {"department"}


def test_a_paused_object_inherits_nothing() -> None:
    bed = bed_with_schema()
    bed.clock.advance(5)
    schema_named(bed, "second")
    annotate(bed, "LldapAttributeSchema", "second", "paused", "true")
    bed.settle()
    delete(bed)
    bed.run(15)
    assert attribute_names(bed) == set()


def test_an_attribute_of_another_shape_stays_and_a_warning_says_so() -> None:
    bed = bed_with_schema()
    with bed.lldap.database() as store:
        store.state.users.delete_attribute("department")
    make_attribute(bed, "department", "INTEGER")
    Directory(bed).make_user("hand", department="42")
    bed.start()
    bed.settle()
    delete(bed)
    bed.settle()
    assert not bed.exists("LldapAttributeSchema", "s")
    assert attribute_names(bed) == {"department"}
    assert "LeftAlone" in bed.events.reasons()


# --- the world around it ---------------------------------------------------------------------


def test_an_uninstall_deletes_no_attribute() -> None:
    bed = bed_with_schema()
    bed.admin.delete(CRD)
    bed.run(15)
    assert attribute_names(bed) == {"department"}


def test_an_uninstall_of_the_operators_namespace_deletes_no_attribute() -> None:
    bed = bed_with_schema()
    bed.admin.delete(f"/api/v1/namespaces/{VIRTUAL}")
    delete(bed)
    bed.run(15)
    assert attribute_names(bed) == {"department"}


@pytest.mark.parametrize("fault", [lose_answer, lose_request])
def test_a_lost_answer_to_the_deletion_ends_without_the_attribute(fault: Hook) -> None:
    bed = bed_with_schema()
    bed.lldap.hooks.append(on("deleteUserAttribute", fault))
    delete(bed)
    bed.run(30)
    assert attribute_names(bed) == set()
    assert not bed.exists("LldapAttributeSchema", "s")


def test_somebody_else_who_deletes_it_at_the_same_time_is_success() -> None:
    bed = bed_with_schema()

    def gone() -> None:
        with bed.lldap.database() as store:
            store.state.users.delete_attribute("department")

    bed.lldap.hooks.append(before("deleteUserAttribute", gone))
    delete(bed)
    bed.settle()
    assert not bed.exists("LldapAttributeSchema", "s")


def test_a_dry_run_object_waits_while_its_attribute_is_there() -> None:
    bed = bed_with_schema()
    annotate(bed, "LldapAttributeSchema", "s", "dry-run", "true")
    delete(bed)
    bed.run(30)
    assert bed.exists("LldapAttributeSchema", "s")
    assert bed.mutations() == []
    annotate(bed, "LldapAttributeSchema", "s", "dry-run", None)
    bed.run(5)
    assert not bed.exists("LldapAttributeSchema", "s")


def test_the_brake_holds_back_many_attributes() -> None:
    bed = Bed()
    bed.start(max_deletions_per_minute=2)
    for number in range(4):
        schema_named(bed, f"s{number}", attributeName=f"a{number}", deletionPolicy="Delete")
    bed.settle()
    for number in range(4):
        delete(bed, f"s{number}")
    bed.run(5)
    assert len(attribute_names(bed)) == 2
    assert sum(bed.exists("LldapAttributeSchema", f"s{number}") for number in range(4)) == 2
    bed.run(130)
    assert attribute_names(bed) == set()
