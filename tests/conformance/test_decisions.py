"""Where the documents are wrong about the real servers, or it was decided otherwise.

Each test fails on the literal wording of the sentence that its name paraphrases.
"""

from typing import Any

import pytest

from controller.api import BUILT_IN_ANNOTATION, DRY_RUN_ANNOTATION, INSTANCE_LABEL
from controller.configuration.config import load
from lldap.names import BUILT_IN_GROUPS
from tests.support.accounts import (
    FIRST,
    SECOND,
    account,
    attributes,
    can_log_in,
    crash_and_restart,
    has_account,
    registrations,
    secret_reads,
    settled_user,
    with_password,
)
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import CONFLICT, PENDING, VERIFIED, VIRTUAL, annotate
from tests.support.migration import picture

VIRTUAL_ADMIN = "default--lldap-admin"


@pytest.fixture
def bed() -> Bed:
    return Bed()


def condition_types(bed: Bed, kind: str, name: str) -> set[str]:
    return {each["type"] for each in bed.get(kind, name)["status"]["conditions"]}


# --- what lldap really does --------------------------------------------------------------------


def test_group_names_are_unique_in_any_letter_case(bed: Bed) -> None:
    """Not: lldap has several groups of one name, and only objects of one spelling are rivals."""
    bed.group("Team")
    bed.settle()
    bed.clock.advance(5)
    bed.group("TEAM", "team-b")
    bed.run(60)
    assert bed.ready("LldapGroup", "team", "team-b") == CONFLICT
    assert bed.operations().count("createGroupWithDetails") == 1


def test_a_membership_that_is_there_is_no_error_though_lldap_makes_it_one(bed: Bed) -> None:
    """Not: adding a member twice changes nothing, so its answer needs no look."""
    bed.user("alice")
    bed.group("Team")
    bed.settle()
    Directory(bed).add("alice", "Team")  # the mirror does not know
    bed.membership("alice", "Team")
    bed.settle()
    assert "addUserToGroup" in bed.mutations()
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED


def test_a_refused_creation_may_mean_that_the_email_is_anothers(bed: Bed) -> None:
    """Not: a refused creation means that the account is there and is to be updated."""
    bed.user("first", email="team@example.org")
    bed.settle()
    bed.user("second", email="Team@example.org")
    bed.settle()
    assert bed.ready("LldapUser", "second") == ("False", "EmailConflict")
    assert not has_account(bed, "second")
    assert "updateUser" not in bed.mutations()


def test_a_password_is_registered_in_the_version_that_the_server_speaks(bed: Bed) -> None:
    """Not: one OPAQUE library, and a registration that was answered with 200 is a password."""
    settled_user(bed)
    assert can_log_in(bed, FIRST)


# --- what was decided otherwise ------------------------------------------------------------------


@pytest.mark.parametrize("what", ["lldap", "secret", "label", "annotation"])
def test_what_changes_without_a_generation_is_acted_upon(bed: Bed, what: str) -> None:
    """Not: the generation is that of the last pass, so nothing is to do."""
    settled_user(bed, displayName="Al", deletionPolicy="Delete")
    generation = bed.get("LldapUser", "alice")["metadata"]["generation"]
    if what == "lldap":
        with bed.lldap.database() as store:
            columns: dict[str, str | None] = {"display_name": "Bert"}
            store.update(store.state.users, "alice", columns=columns, remove=[], insert={})
        bed.run(700, step=70)
        assert account(bed)["display_name"] == "Al"
    elif what == "secret":
        bed.secret("pw", SECOND)
        bed.settle()
        assert can_log_in(bed, SECOND)
    elif what == "label":
        patch(bed, "LldapUser", "alice", labels={INSTANCE_LABEL: "other"})
        bed.settle()
        assert Directory(bed).mark("alice") is None
    else:
        annotate(bed, "LldapUser", "alice", "paused")
        bed.settle()
        assert bed.ready("LldapUser", "alice") == ("True", "Paused")
    assert bed.get("LldapUser", "alice")["metadata"]["generation"] == generation


def patch(bed: Bed, kind: str, name: str, **metadata: Any) -> None:
    path = bed.path(kind, "team-a", name)
    bed.admin.patch(path, {"metadata": metadata}, content_type="application/merge-patch+json")


def test_a_restart_with_nothing_changed_asks_for_no_object(bed: Bed) -> None:
    """What the generation was meant for is kept all the same."""
    settled_user(bed)
    bed.group("Team")
    bed.membership("alice", "Team")
    bed.settle()
    bed.clear_logs()
    bed.start()
    bed.settle()
    assert bed.mutations() == []
    assert len(bed.operations()) <= 4  # a login, its own rights and the bulk read
    assert bed.api_writes() == []


def test_initial_only_sets_a_password_though_the_account_is_there_after_a_crash(bed: Bed) -> None:
    """Not: a first password only while the account does not exist."""
    bed.secret("pw", FIRST)
    bed.user("first")
    bed.settle()
    with_password(bed, policy="InitialOnly")
    for number in range(1, 20):
        if not crash_and_restart(bed, number, after=True) or has_account(bed):
            break
    bed.run(5)
    assert bed.ready("LldapUser", "alice") == VERIFIED
    assert can_log_in(bed, FIRST)
    assert registrations(bed, "alice") >= 1


def test_a_built_in_attribute_needs_no_schema_object(bed: Bed) -> None:
    """Not: every attribute that a spec names has an LldapAttributeSchema."""
    bed.user("alice", attributes=attributes(avatar=[picture()]))
    bed.settle()
    assert bed.ready("LldapUser", "alice") == VERIFIED
    assert account(bed)["avatar"] == [picture()]


def test_a_change_of_a_built_in_groups_object_is_undone_and_told(bed: Bed) -> None:
    """Not: the reconciler rejects it, which only admission can."""
    bed.settle()
    path = bed.path("LldapGroup", VIRTUAL, VIRTUAL_ADMIN)
    change = {"spec": {"displayName": "mine"}}
    bed.admin.patch(path, change, content_type="application/merge-patch+json")
    bed.settle()
    obj = bed.get("LldapGroup", VIRTUAL_ADMIN, VIRTUAL)
    assert obj["spec"] == {"displayName": "lldap_admin"}
    assert obj["metadata"]["annotations"][BUILT_IN_ANNOTATION] == "true"
    assert "SpecRestored" in bed.events.reasons()
    assert Directory(bed).has_group("lldap_admin")


def test_there_is_one_condition_to_wait_for(bed: Bed) -> None:
    """Not: conditions DependencyNotReady, SecretNotFound, Conflict and Pending of their own."""
    bed.user("waits", attributes=attributes(room=["7"]))
    with_password(bed, "lacks")
    bed.membership("nobody", "Nowhere")
    bed.group("Team")
    bed.settle()
    bed.clock.advance(5)
    bed.group("Team", "team-b")
    bed.settle()
    expected = {
        ("LldapUser", "waits", "team-a"): "DependencyNotReady",
        ("LldapUser", "lacks", "team-a"): "SecretNotFound",
        ("LldapMembership", "nobody-nowhere", "team-a"): "Pending",
        ("LldapGroup", "team", "team-b"): "Conflict",
    }
    for (kind, name, namespace), reason in expected.items():
        assert bed.ready(kind, name, namespace) == ("False", reason)
        conditions = bed.get(kind, name, namespace)["status"]["conditions"]
        assert {each["type"] for each in conditions} <= {"Ready", "Reconciling", "Stalled"}


def test_a_secret_is_read_only_when_its_version_changed(bed: Bed) -> None:
    """Not: it is read in every pass."""
    settled_user(bed)
    bed.user("alice", passwordPolicy="Manage", displayName="Al", passwordSecretRef=PW)
    bed.run(1400, step=70)
    assert account(bed)["display_name"] == "Al"
    assert secret_reads(bed) == []


PW = {"name": "pw", "key": "password"}


def test_an_id_in_the_status_of_another_object_is_not_believed(bed: Bed) -> None:
    """Not: the group's id comes from the LldapGroup's status."""
    bed.user("mallory")
    bed.group("Team")
    bed.settle()
    admins = bed.get("LldapGroup", VIRTUAL_ADMIN, VIRTUAL)["status"]
    forged = {"groupId": admins["groupId"], "uuid": admins["uuid"]}
    bed.forge("LldapGroup", "team", forged)
    bed.membership("mallory", "Team")
    bed.run(30)
    directory = Directory(bed)
    assert directory.members("lldap_admin") == {"admin"}
    assert directory.members("Team") == {"mallory"}


def test_a_missing_object_is_pending_and_no_error(bed: Bed) -> None:
    """Not: an error condition when the object does not exist at all."""
    bed.membership("alice", "Team")
    bed.settle()
    assert bed.ready("LldapMembership", "alice-team") == PENDING
    assert condition_types(bed, "LldapMembership", "alice-team") == {"Ready"}
    bed.group("Team")
    bed.user("alice")
    bed.settle()
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED


def test_duplicates_in_other_namespaces_are_in_conflict_too(bed: Bed) -> None:
    """Not: only a second object of the same namespace is a duplicate."""
    bed.user("eva", "team-b")
    bed.settle()
    bed.clock.advance(5)
    bed.user("eva", "team-a", email="other@example.org")
    bed.settle()
    assert bed.ready("LldapUser", "eva", "team-a") == CONFLICT
    assert account(bed, "eva")["mail"] == "eva@example.org"


@pytest.mark.parametrize("members", [(), ("boss",)])
def test_a_group_that_is_there_is_taken_over_only_while_it_is_empty(
    bed: Bed, members: tuple[str, ...]
) -> None:
    """Not: a group that exists is updated."""
    directory = Directory(bed)
    directory.make_user("boss")
    directory.make_group("board", *members)
    bed.group("Board")
    bed.settle()
    assert bed.ready("LldapGroup", "board")[1] == ("NotAdopted" if members else "Verified")
    assert directory.has_group("board")
    assert (directory.group_mark("board") is None) is bool(members)


def test_the_edge_goes_though_user_and_group_stay(bed: Bed) -> None:
    """Not: a membership whose user or group object is deleted has nothing to clean up."""
    bed.user("alice", deletionPolicy="Retain")
    bed.group("Team", deletionPolicy="Retain")
    bed.membership("alice", "Team")
    bed.settle()
    bed.delete("LldapUser", "alice")
    bed.delete("LldapGroup", "team")
    bed.settle()
    assert Directory(bed).members("Team") == {"alice"}
    bed.delete("LldapMembership", "alice-team")
    bed.settle()
    assert not bed.exists("LldapMembership", "alice-team")
    assert Directory(bed).members("Team") == set()


def test_a_dry_run_holds_back_a_deletion_too(bed: Bed) -> None:
    """Not: deletion comes before dry-run in the lifecycle."""
    bed.user("alice", deletionPolicy="Delete")
    bed.settle()
    patch(bed, "LldapUser", "alice", annotations={DRY_RUN_ANNOTATION: "true"})
    bed.settle()
    bed.delete("LldapUser", "alice")
    bed.run(60)
    assert bed.exists("LldapUser", "alice")
    assert has_account(bed)
    patch(bed, "LldapUser", "alice", annotations={DRY_RUN_ANNOTATION: None})
    bed.settle()
    assert not bed.exists("LldapUser", "alice")
    assert not has_account(bed)


def test_a_built_in_groups_object_has_no_finalizer_to_remove(bed: Bed) -> None:
    """Not: its clean-up removes the finalizer; without an operator that would never happen."""
    bed.settle()
    for group in BUILT_IN_GROUPS:
        name = f"default--{group.replace('_', '-')}"
        assert not bed.get("LldapGroup", name, VIRTUAL)["metadata"].get("finalizers")


def test_the_namespace_of_the_virtual_groups_is_a_variable_and_a_flag() -> None:
    """Not: a value of a Helm chart; there is none."""
    enough = {"LLDAP_URL": "http://l", "LLDAP_ADMIN_PASSWORD": "x", "POD_NAMESPACE": "here"}
    detected = {"leader_elect": "true", "log_format": "json", "pod_name": "p"}
    variable = {**enough, "LLDAP_VIRTUAL_GROUP_NAMESPACE": "there"}
    assert load(enough, {}, detected).lldap_virtual_group_namespace == "here"
    assert load(variable, {}, detected).lldap_virtual_group_namespace == "there"
