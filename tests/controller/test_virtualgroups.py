"""The virtual objects of lldap's three built-in groups."""

from typing import Any

import pytest

from controller.api import BUILT_IN_ANNOTATION, INSTANCE_LABEL, LLDAP_GROUP
from controller.configuration.rules import Rules
from controller.reconcilers.virtualgroups import virtual_name, virtual_names
from informers import ConnectionFailed
from sandbox.apiserver.transport import Call
from tests.support.bed import Bed
from tests.support.directory import BUILT_IN, Directory
from tests.support.groups import (
    PENDING,
    VERIFIED,
    VIRTUAL,
    edges,
    group_named,
    rename_by_hand,
)

SHOWN = ("True", "BuiltIn")
OBJECTS = {
    "default--lldap-admin": "lldap_admin",
    "default--lldap-password-manager": "lldap_password_manager",
    "default--lldap-strict-readonly": "lldap_strict_readonly",
}
ADMIN = "default--lldap-admin"


def settled(**rules: Any) -> Bed:
    bed = Bed(**rules)
    bed.settle()
    bed.clear_logs()
    bed.events.seen.clear()
    return bed


def patch(bed: Bed, change: dict[str, object], name: str = ADMIN) -> None:
    path = bed.path("LldapGroup", VIRTUAL, name)
    bed.admin.patch(path, change, content_type="application/merge-patch+json")


def test_each_built_in_group_has_its_object_with_label_annotation_and_no_finalizer() -> None:
    bed = settled()
    directory = Directory(bed)
    for name, group in OBJECTS.items():
        found = bed.get("LldapGroup", name, VIRTUAL)
        row = directory.group(group)
        assert row is not None
        assert bed.ready("LldapGroup", name, VIRTUAL) == SHOWN
        assert found["spec"] == {"displayName": group}
        assert found["metadata"]["labels"] == {INSTANCE_LABEL: "default"}
        assert found["metadata"]["annotations"] == {BUILT_IN_ANNOTATION: "true"}
        assert "finalizers" not in found["metadata"]
        assert found["status"]["groupId"] == int(row.columns["group_id"])
        assert found["status"]["uuid"] == row.columns["uuid"]


def test_names_are_of_the_instance() -> None:
    assert virtual_name("other", "lldap_strict_readonly") == "other--lldap-strict-readonly"
    rules = Rules(instance="x", cluster="c", own_user="a", virtual_group_namespace="n")
    assert set(virtual_names(rules).values()) == set(BUILT_IN)


def test_nothing_of_them_is_written_to_lldap() -> None:
    bed = Bed()
    before = Directory(bed).dump()
    bed.run(1300)
    assert Directory(bed).dump() == before
    assert bed.mutations() == []


def test_a_restart_writes_nothing() -> None:
    bed = settled()
    bed.start()
    bed.run(60)
    assert bed.api_writes() == []


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_a_deleted_one_is_made_again_at_once(name: str) -> None:
    bed = settled()
    before = bed.get("LldapGroup", name, VIRTUAL)["metadata"]["uid"]
    bed.delete("LldapGroup", name, VIRTUAL)
    bed.settle()
    assert bed.get("LldapGroup", name, VIRTUAL)["metadata"]["uid"] != before
    assert bed.ready("LldapGroup", name, VIRTUAL) == SHOWN


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"displayName": "renamed"}},
        {"spec": {"displayName": "LLDAP_ADMIN"}},
        {"spec": {"deletionPolicy": "Delete"}},
        {"spec": {"attributes": [{"name": "x", "value": ["1"]}]}},
        {"metadata": {"annotations": {BUILT_IN_ANNOTATION: None}}},
        {"metadata": {"annotations": {BUILT_IN_ANNOTATION: "false"}}},
    ],
)
def test_a_foreign_edit_is_undone_and_reported(change: dict[str, object]) -> None:
    bed = settled()
    before = Directory(bed).dump()
    patch(bed, change)
    bed.settle()
    found = bed.get("LldapGroup", ADMIN, VIRTUAL)
    assert found["spec"] == {"displayName": "lldap_admin"}
    assert found["metadata"]["annotations"][BUILT_IN_ANNOTATION] == "true"
    assert bed.ready("LldapGroup", ADMIN, VIRTUAL) == SHOWN
    assert bed.events.reasons() == ["SpecRestored"]
    assert Directory(bed).dump() == before
    bed.clear_logs()
    bed.run(700)
    assert bed.api_writes() == []


def test_an_annotation_that_is_lost_takes_one_write() -> None:
    bed = settled()
    patch(bed, {"metadata": {"annotations": {BUILT_IN_ANNOTATION: None}}})
    bed.settle()
    path = bed.path("LldapGroup", VIRTUAL, ADMIN)
    assert bed.api_writes() == [("PATCH", path)]


def test_what_others_add_beside_the_spec_stays() -> None:
    bed = settled()
    patch(bed, {"metadata": {"labels": {"team": "x"}, "annotations": {"note": "y"}}})
    bed.settle()
    metadata = bed.get("LldapGroup", ADMIN, VIRTUAL)["metadata"]
    assert metadata["labels"]["team"] == "x"
    assert metadata["annotations"]["note"] == "y"
    assert bed.events.reasons() == []


def test_our_finalizer_is_taken_off_if_found() -> None:
    bed = settled()
    patch(bed, {"metadata": {"finalizers": [LLDAP_GROUP.finalizer, "example.org/other"]}})
    bed.settle()
    metadata = bed.get("LldapGroup", ADMIN, VIRTUAL)["metadata"]
    assert metadata["finalizers"] == ["example.org/other"]


def test_our_finalizer_does_not_keep_one_from_going() -> None:
    bed = settled()
    patch(bed, {"metadata": {"finalizers": [LLDAP_GROUP.finalizer]}})
    bed.delete("LldapGroup", ADMIN, VIRTUAL)
    before = bed.get("LldapGroup", ADMIN, VIRTUAL)["metadata"]["uid"]
    bed.settle()
    assert bed.get("LldapGroup", ADMIN, VIRTUAL)["metadata"]["uid"] != before
    assert Directory(bed).has_group("lldap_admin")
    assert bed.mutations() == []


# --- lldap's side ----------------------------------------------------------------------------


def test_a_built_in_that_is_deleted_in_lldap_is_pending_and_not_made_again() -> None:
    bed = settled()
    Directory(bed).delete_group("lldap_password_manager")
    bed.run(700)
    name = "default--lldap-password-manager"
    assert bed.ready("LldapGroup", name, VIRTUAL) == PENDING
    assert "lldap_password_manager" in bed.message("LldapGroup", name, VIRTUAL)
    assert bed.mutations() == []
    Directory(bed).make_group("lldap_password_manager")
    bed.run(700)
    assert bed.ready("LldapGroup", name, VIRTUAL) == SHOWN


def test_a_built_in_that_is_renamed_in_lldap_is_pending_and_not_followed() -> None:
    bed = settled()
    bed.user("carol", VIRTUAL)
    bed.settle()
    rename_by_hand(bed, "lldap_strict_readonly", "readers")
    bed.run(700)
    name = "default--lldap-strict-readonly"
    assert bed.ready("LldapGroup", name, VIRTUAL) == PENDING
    bed.membership("carol", "lldap_strict_readonly", VIRTUAL, name="m")
    bed.run(30)
    assert bed.ready("LldapMembership", "m", VIRTUAL) == PENDING
    assert edges(bed) == set()


# --- who counts as virtual -------------------------------------------------------------------


def test_an_object_with_a_built_in_name_elsewhere_is_a_conflict() -> None:
    bed = settled()
    group_named(bed, "any", "LLDAP_admin", "team-b")
    group_named(bed, "any", "lldap_admin", VIRTUAL)
    bed.settle()
    for namespace in ("team-b", VIRTUAL):
        assert bed.ready("LldapGroup", "any", namespace) == ("False", "BuiltInConflict")
    assert bed.mutations() == []


def test_the_annotation_on_any_other_object_counts_for_nothing() -> None:
    bed = settled()
    annotation = {BUILT_IN_ANNOTATION: "true"}
    bed.apply("LldapGroup", "any", {"displayName": "Team"}, annotations=annotation)
    bed.settle()
    assert bed.ready("LldapGroup", "any") == VERIFIED
    assert bed.get("LldapGroup", "any")["metadata"]["finalizers"] == [LLDAP_GROUP.finalizer]
    bed.delete("LldapGroup", "any")
    bed.settle()
    assert not Directory(bed).has_group("Team")


def test_the_name_of_a_virtual_object_counts_for_nothing_elsewhere() -> None:
    bed = settled()
    group_named(bed, ADMIN, "Team")
    bed.settle()
    assert bed.ready("LldapGroup", ADMIN) == VERIFIED
    assert Directory(bed).has_group("Team")


def test_an_object_that_was_there_before_becomes_the_virtual_one() -> None:
    bed = Bed()
    group_named(bed, ADMIN, "Team", VIRTUAL)
    bed.settle()
    assert bed.ready("LldapGroup", ADMIN, VIRTUAL) == SHOWN
    assert bed.get("LldapGroup", ADMIN, VIRTUAL)["spec"] == {"displayName": "lldap_admin"}
    assert not Directory(bed).has_group("Team")


def test_two_instances_share_a_namespace() -> None:
    """The second one's operator has an lldap of its own; here both look at the same."""
    bed = settled()
    bed.start(rules={"instance": "other"})
    bed.settle()
    for instance in ("default", "other"):
        for group in BUILT_IN:
            name = virtual_name(instance, group)
            found = bed.get("LldapGroup", name, VIRTUAL)
            assert found["metadata"]["labels"][INSTANCE_LABEL] == instance
            assert bed.ready("LldapGroup", name, VIRTUAL) == SHOWN
    bed.delete("LldapGroup", ADMIN, VIRTUAL)
    bed.settle()
    assert not bed.exists("LldapGroup", ADMIN, VIRTUAL)  # the other instance's is none of its


def test_another_namespace_can_be_theirs() -> None:
    bed = Bed(virtual_group_namespace="team-b")
    bed.settle()
    assert bed.ready("LldapGroup", ADMIN, "team-b") == SHOWN
    assert not bed.exists("LldapGroup", ADMIN, VIRTUAL)


def test_a_refused_creation_is_tried_again() -> None:
    bed = Bed()

    def refuse(call: Call) -> None:
        if call.method == "PATCH" and "lldapgroups/default--" in call.path:
            raise ConnectionFailed("refused", sent=False)

    bed.api_transport.before = refuse
    bed.run(3)
    assert not bed.exists("LldapGroup", ADMIN, VIRTUAL)
    bed.api_transport.before = lambda _call: None
    bed.run(10)
    assert bed.ready("LldapGroup", ADMIN, VIRTUAL) == SHOWN
