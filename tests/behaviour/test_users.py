"""The life of an LldapUser."""

from typing import Any

import pytest

from controller.api import INSTANCE_LABEL, LLDAP_USER
from tests.behaviour.looks import (
    VERIFIED,
    VIRTUAL,
    alice_in_devs,
    annotate,
    becomes,
    delete,
    goes,
    patch,
    ready,
    refusal,
)
from tests.support.bed import Bed
from tests.support.directory import Directory

REFERENCE = {"name": "pw", "key": "password"}


def columns(bed: Bed, name: str = "alice") -> dict[str, Any]:
    row = Directory(bed).user(name)
    assert row is not None
    return row.columns


# --- create, update, delete ------------------------------------------------------------------


def test_it_becomes_an_account_that_can_log_in_with_the_password_of_the_secret(bed: Bed) -> None:
    bed.secret("pw", b"first-password")
    bed.user("alice", passwordPolicy="Manage", passwordSecretRef=REFERENCE, displayName="Alice A.")
    becomes(bed, "LldapUser", "alice")
    found = bed.get("LldapUser", "alice")
    assert found["metadata"]["finalizers"] == [LLDAP_USER.finalizer]
    assert found["status"]["userId"] == "alice"
    assert found["status"]["uuid"] == Directory(bed).uuid("alice")
    assert columns(bed)["display_name"] == "Alice A."
    assert bed.login("alice", "first-password") == 200
    assert bed.login("alice", "another") == 401


def test_an_edit_is_carried_out_in_place(bed: Bed) -> None:
    bed.user("alice", displayName="Alice")
    becomes(bed, "LldapUser", "alice")
    uuid = Directory(bed).uuid("alice")
    bed.user("alice", displayName="Alicia", email="alicia@example.org")
    becomes(bed, "LldapUser", "alice")
    assert columns(bed)["display_name"] == "Alicia"
    assert columns(bed)["mail"] == "alicia@example.org"
    assert Directory(bed).uuid("alice") == uuid


def test_the_username_cannot_be_changed(bed: Bed) -> None:
    bed.user("alice")
    becomes(bed, "LldapUser", "alice")
    change = {"spec": {"username": "bob"}}
    assert refusal(bed, "LldapUser", "alice", change) == "spec.username"


def test_what_is_settled_is_not_written_again(bed: Bed) -> None:
    alice_in_devs(bed)
    bed.settle()
    version = bed.get("LldapUser", "alice")["metadata"]["resourceVersion"]
    bed.clear_logs()
    annotate(bed, "LldapGroup", "devs", "nothing", "of interest")
    bed.settle()
    assert bed.mutations() == []
    assert bed.api_writes() == []
    assert bed.get("LldapUser", "alice")["metadata"]["resourceVersion"] == version


@pytest.mark.parametrize(("policy", "stays"), [("Delete", False), ("Retain", True), (None, False)])
def test_its_deletion_does_to_the_account_what_the_policy_says(
    bed: Bed, policy: str | None, stays: bool
) -> None:
    bed.user("alice", **({"deletionPolicy": policy} if policy else {}))
    becomes(bed, "LldapUser", "alice")
    delete(bed, "LldapUser", "alice")
    assert Directory(bed).has_user("alice") is stays
    assert Directory(bed).mark("alice") is None


def test_E01_a_finalizer_of_somebody_else_keeps_the_object_and_not_the_account(bed: Bed) -> None:
    bed.user("alice", deletionPolicy="Delete")
    becomes(bed, "LldapUser", "alice")
    patch(
        bed,
        "LldapUser",
        "alice",
        {"metadata": {"finalizers": [LLDAP_USER.finalizer, "example.org/audit"]}},
    )
    bed.delete("LldapUser", "alice")
    bed.until(lambda: not Directory(bed).has_user("alice"))
    bed.settle()
    metadata = bed.get("LldapUser", "alice")["metadata"]
    assert metadata["finalizers"] == ["example.org/audit"]
    patch(bed, "LldapUser", "alice", {"metadata": {"finalizers": None}})
    goes(bed, "LldapUser", "alice")


def test_after_a_restart_of_the_operator_it_goes_on_where_it_was(bed: Bed) -> None:
    directory = alice_in_devs(bed)
    uuid = directory.uuid("alice")
    bed.stop()
    bed.user("alice", passwordPolicy="Ignore", displayName="Meanwhile")
    bed.delete("LldapMembership", "alice-devs")
    bed.start()
    becomes(bed, "LldapUser", "alice")
    goes(bed, "LldapMembership", "alice-devs")
    assert columns(bed)["display_name"] == "Meanwhile"
    assert directory.uuid("alice") == uuid
    assert directory.members("devs") == set()


# --- whose account it is ---------------------------------------------------------------------


def test_D01_of_two_objects_the_older_has_the_account_and_hands_it_over(bed: Bed) -> None:
    directory = alice_in_devs(bed)
    uuid = directory.uuid("alice")
    spec = {"username": "alice", "email": "b@example.org", "passwordPolicy": "Ignore"}
    bed.apply("LldapUser", "second", spec)
    becomes(bed, "LldapUser", "second", ("False", "Conflict"))
    assert "LldapUser team-a/alice" in bed.message("LldapUser", "second")
    delete(bed, "LldapUser", "alice")
    becomes(bed, "LldapUser", "second")
    assert directory.uuid("alice") == uuid
    assert bed.login("alice", "first-password") == 200
    assert directory.members("devs") == {"alice"}


def test_D02_an_account_made_by_hand_is_adopted_and_stays_when_the_object_goes(bed: Bed) -> None:
    directory = Directory(bed)
    directory.make_user("alice")
    uuid = directory.uuid("alice")
    bed.user("alice", displayName="Adopted")
    becomes(bed, "LldapUser", "alice")
    assert bed.get("LldapUser", "alice")["status"]["origin"] == "Adopted"
    assert columns(bed)["display_name"] == "Adopted"
    delete(bed, "LldapUser", "alice")
    assert directory.uuid("alice") == uuid
    assert bed.login("alice", "alice's own password") == 200


def test_an_administrators_account_is_adopted_in_the_operators_namespace_only(bed: Bed) -> None:
    directory = Directory(bed)
    directory.make_user("boss", "lldap_admin")
    before = directory.user("boss")
    bed.user("boss")
    becomes(bed, "LldapUser", "boss", ("False", "NotAdopted"))
    assert directory.user("boss") == before
    delete(bed, "LldapUser", "boss")
    assert directory.user("boss") == before
    bed.user("boss", VIRTUAL)
    becomes(bed, "LldapUser", "boss", namespace=VIRTUAL)


def test_an_email_address_of_another_account_is_waited_for(bed: Bed) -> None:
    bed.user("alice")
    becomes(bed, "LldapUser", "alice")
    bed.user("bob", email="alice@example.org")
    becomes(bed, "LldapUser", "bob", ("False", "EmailConflict"))
    bed.user("alice", email="new@example.org")
    becomes(bed, "LldapUser", "bob")


def test_D06_with_another_label_it_is_let_go_and_the_account_stays(bed: Bed) -> None:
    directory = alice_in_devs(bed)
    for kind, name in (("LldapUser", "alice"), ("LldapMembership", "alice-devs")):
        patch(bed, kind, name, {"metadata": {"labels": {INSTANCE_LABEL: "other"}}})
        bed.until(lambda kind=kind, name=name: "status" not in bed.get(kind, name))  # type: ignore[misc]
        assert "finalizers" not in bed.get(kind, name)["metadata"]
    assert directory.mark("alice") is None
    assert directory.members("devs") == {"alice"}
    assert bed.login("alice", "first-password") == 200


# --- annotations -----------------------------------------------------------------------------


def test_while_it_is_paused_nothing_is_done_for_it_not_even_its_deletion(bed: Bed) -> None:
    bed.user("alice", deletionPolicy="Delete", displayName="Before")
    becomes(bed, "LldapUser", "alice")
    annotate(bed, "LldapUser", "alice", "paused", "true")
    becomes(bed, "LldapUser", "alice", ("True", "Paused"))
    bed.user("alice", deletionPolicy="Delete", displayName="After")
    bed.delete("LldapUser", "alice")
    bed.settle()
    assert columns(bed)["display_name"] == "Before"
    annotate(bed, "LldapUser", "alice", "paused", None)
    goes(bed, "LldapUser", "alice")
    assert not Directory(bed).has_user("alice")


def test_in_dry_run_it_says_what_would_be_done(bed: Bed) -> None:
    bed.user("alice", annotations={"lldap-operator.lukidoescode.com/dry-run": "true"})
    becomes(bed, "LldapUser", "alice", ("True", "DryRun"))
    assert "create" in bed.message("LldapUser", "alice")
    assert not Directory(bed).has_user("alice")
    annotate(bed, "LldapUser", "alice", "dry-run", None)
    becomes(bed, "LldapUser", "alice")
    assert Directory(bed).has_user("alice")


def test_what_was_changed_in_lldap_is_put_right_when_somebody_asks(bed: Bed) -> None:
    alice_in_devs(bed)
    bed.lldap.set_password("alice", "set by hand")
    assert bed.login("alice", "first-password") == 401
    annotate(bed, "LldapUser", "alice", "reconcile-at", "now")
    bed.until(lambda: bed.get("LldapUser", "alice")["status"].get("reconcileAt") == "now")
    assert bed.login("alice", "first-password") == 200
    assert ready(bed, "LldapUser", "alice") == VERIFIED
