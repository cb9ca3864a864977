"""The states of a mark: ours, dead, missing, an invitation, another's."""

import pytest

from controller.api import DRY_RUN_ANNOTATION, MARK_ATTRIBUTE
from controller.configuration.values import Adoption
from tests.support.bed import Bed
from tests.support.directory import Directory, mark

ALICE = "/namespaces/team-a/lldapusers/"


def uid(bed: Bed, kind: str, name: str, namespace: str = "team-a") -> str:
    return str(bed.get(kind, name, namespace)["metadata"]["uid"])


# --- ours ----------------------------------------------------------------------------------


def test_the_mark_is_set_in_the_creating_call(bed: Bed, directory: Directory) -> None:
    bed.user("alice")
    bed.group("devs")
    bed.settle()
    assert directory.mark("alice") == mark(uid(bed, "LldapUser", "alice"), "alice")
    assert directory.group_mark("devs") == mark(uid(bed, "LldapGroup", "devs"), "devs")
    assert bed.mutations().count("createUser") == 1
    assert "updateUser" not in bed.mutations()


def test_the_mark_wins_over_what_the_status_says(bed: Bed, directory: Directory) -> None:
    bed.user("alice")
    bed.settle()
    uuid = directory.uuid("alice")
    status = {"origin": "Adopted", "uuid": "another", "seal": "0" * 64}
    bed.forge("LldapUser", "alice", status)
    bed.settle()
    assert bed.get("LldapUser", "alice")["status"]["origin"] == "Created"
    assert bed.get("LldapUser", "alice")["status"]["uuid"] == uuid
    bed.delete("LldapUser", "alice")
    bed.settle()
    assert not directory.has_user("alice")


def test_a_group_is_found_by_its_mark_after_a_crash_with_an_edited_spec(
    bed: Bed, directory: Directory
) -> None:
    bed.group("devs")
    bed.settle()
    uuid = directory.group_uuid("devs")
    bed.forge("LldapGroup", "devs", None)
    bed.apply("LldapGroup", "devs", {"displayName": "engineers"})
    bed.start()
    bed.settle()
    assert directory.group_uuid("engineers") == uuid
    assert not directory.has_group("devs")


def test_the_mark_is_no_drift_and_never_managed(bed: Bed, directory: Directory) -> None:
    bed.user("alice")
    bed.group("devs")
    bed.settle()
    bed.clear_logs()
    bed.forge("LldapUser", "alice", {"managed": ["email", MARK_ATTRIBUTE]})
    bed.forge("LldapGroup", "devs", {"managed": ["displayName", MARK_ATTRIBUTE]})
    bed.run(700)
    assert bed.mutations() == []
    assert bed.get("LldapUser", "alice")["status"]["managed"] == ["email"]
    assert bed.get("LldapGroup", "devs")["status"]["managed"] == ["displayName"]


# --- missing ---------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["created", "adopted"])
def test_a_mark_that_was_removed_is_put_back_with_a_warning(
    bed: Bed, directory: Directory, origin: str
) -> None:
    if origin == "adopted":
        directory.make_user("alice")
    bed.user("alice")
    bed.settle()
    was = directory.mark("alice")
    directory.set_mark("alice", None)
    bed.clear_logs()
    bed.run(700)
    assert (
        directory.mark("alice")
        == was
        == mark(uid(bed, "LldapUser", "alice"), "alice", origin=origin)
    )
    assert bed.mutations() == ["updateUser"]
    assert bed.events.reasons().count("MarkRestored") == 1


def test_a_groups_mark_is_put_back_too(bed: Bed, directory: Directory) -> None:
    bed.group("devs")
    bed.settle()
    was = directory.group_mark("devs")
    directory.set_group_mark("devs", None)
    bed.run(700)
    assert directory.group_mark("devs") == was


def test_without_a_seal_an_unmarked_account_is_nobodys() -> None:
    bed = Bed(adoption=Adoption.NEVER)
    directory = Directory(bed)
    bed.start(hash_key=None)
    bed.user("alice")
    bed.settle()
    directory.set_mark("alice", None)
    bed.run(700)
    assert bed.ready("LldapUser", "alice") == ("False", "NotAdopted")
    assert directory.mark("alice") is None


def test_the_sealed_record_of_an_account_says_nothing_of_its_namesake() -> None:
    bed = Bed(adoption=Adoption.NEVER)
    directory = Directory(bed)
    bed.user("alice")
    bed.settle()
    directory.delete_user("alice")
    directory.make_user("alice")
    bed.run(700)
    assert bed.ready("LldapUser", "alice") == ("False", "NotAdopted")
    assert directory.mark("alice") is None


def test_no_mark_is_put_back_while_the_object_is_being_deleted(
    bed: Bed, directory: Directory
) -> None:
    bed.user("alice", deletionPolicy="Retain")
    bed.user("bob", deletionPolicy="Delete")
    bed.settle()
    for name in ("alice", "bob"):
        directory.set_mark(name, None)
        bed.delete("LldapUser", name)
    bed.settle()
    assert directory.mark("alice") is None
    assert directory.has_user("alice")
    assert not directory.has_user("bob")
    assert "MarkRestored" not in bed.events.reasons()


def test_a_plain_user_who_removes_the_mark_gains_and_loses_nothing(
    bed: Bed, directory: Directory
) -> None:
    bed.user("alice", displayName="Alice")
    bed.group("devs")
    bed.membership("alice", "devs")
    bed.settle()
    directory.set_mark("alice", None)
    bed.user("alice", "team-b", email="mallory@example.org")  # an accomplice asks for the account
    bed.run(700)
    alice = directory.user("alice")
    assert alice is not None
    assert alice.columns["mail"] == "alice@example.org"
    assert bed.ready("LldapUser", "alice", "team-b") == ("False", "Conflict")
    assert bed.ready("LldapMembership", "alice-devs") == ("True", "Verified")
    directory.set_mark("alice", None)
    bed.delete("LldapUser", "alice")
    bed.settle()
    assert directory.user("alice") != alice


# --- invitations ---------------------------------------------------------------------------


@pytest.mark.parametrize("adoption", Adoption)
def test_an_invitation_counts_for_its_object_alone_under_any_setting(adoption: Adoption) -> None:
    bed = Bed(adoption=adoption)
    directory = Directory(bed)
    directory.make_user("alice", mark="invite default team-b/alice")
    bed.user("alice", "team-a")
    bed.settle()
    assert bed.ready("LldapUser", "alice", "team-a") == ("False", "Conflict")
    assert "team-b/alice" in bed.message("LldapUser", "alice", "team-a")
    bed.clock.advance(5)
    bed.user("alice", "team-b")
    bed.settle()
    assert bed.ready("LldapUser", "alice", "team-b") == ("True", "Verified")
    assert bed.get("LldapUser", "alice", "team-b")["status"]["origin"] == "Adopted"


def test_an_invitation_of_another_instance_is_for_nobody_here(
    bed: Bed, directory: Directory
) -> None:
    directory.make_user("alice", mark="invite other team-a/alice")
    bed.user("alice")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "Conflict")


def test_a_group_with_members_can_be_given_by_an_invitation(bed: Bed, directory: Directory) -> None:
    directory.make_user("root", "lldap_admin")
    directory.make_group("treasure", "root")
    bed.group("treasure")
    bed.settle()
    assert bed.ready("LldapGroup", "treasure") == ("False", "NotAdopted")
    assert '"invite default team-a/treasure"' in bed.message("LldapGroup", "treasure")
    directory.set_group_mark("treasure", "invite default team-a/treasure")
    bed.run(700)
    assert bed.ready("LldapGroup", "treasure") == ("True", "Verified")


# --- another's -------------------------------------------------------------------------------

FOREIGN = {
    "another cluster's": mark("uid-9", "ceo", "hr", cluster="cluster-2"),
    "another cluster's of this very name": mark("uid-9", "alice", cluster="cluster-2"),
    "another instance's": mark("uid-9", "alice", instance="other"),
    "unknown": "property of the board",
}


@pytest.mark.parametrize("whose", FOREIGN)
@pytest.mark.parametrize("adoption", Adoption)
def test_anothers_account_is_a_conflict_and_nothing_is_written(
    adoption: Adoption, whose: str
) -> None:
    bed = Bed(adoption=adoption, namespaces=None)
    directory = Directory(bed)
    directory.make_user("alice", mark=FOREIGN[whose])
    directory.make_group("devs", mark=FOREIGN[whose])
    before = directory.dump()
    bed.user("alice")
    bed.group("devs")
    bed.run(700)
    for kind, name in (("LldapUser", "alice"), ("LldapGroup", "devs")):
        assert bed.ready(kind, name) == ("False", "Conflict")
        bed.delete(kind, name)
    bed.settle()
    assert not bed.exists("LldapUser", "alice")
    assert directory.dump() == before


def test_a_conflict_names_the_other_cluster_and_object(bed: Bed, directory: Directory) -> None:
    directory.make_user("alice", mark=FOREIGN["another cluster's"])
    bed.user("alice")
    bed.settle()
    message = bed.message("LldapUser", "alice")
    assert "hr/ceo" in message
    assert "cluster-2" in message
    assert "LLDAP_DEAD_CLUSTERS" in message


def test_a_plan_of_a_dry_run_says_the_same_and_calls_nothing(
    bed: Bed, directory: Directory
) -> None:
    directory.make_user("alice", mark=FOREIGN["another cluster's"])
    bed.user("alice", annotations={DRY_RUN_ANNOTATION: "true"})
    bed.settle()
    assert "Conflict" in bed.message("LldapUser", "alice")
    assert bed.mutations() == []
