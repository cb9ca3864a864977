"""Deleting an object: what goes, what stays, and that no rule keeps the object."""

import pytest

from controller.api import DRY_RUN_ANNOTATION, LLDAP_USER, PAUSED_ANNOTATION
from controller.configuration.values import Adoption
from sandbox.lldap.faults import lose_answer, lose_request, on, refuse
from tests.support.bed import Bed
from tests.support.directory import Directory, mark


def left(bed: Bed, kind: str, reason: str) -> float | None:
    return bed.metrics.registry.get_sample_value(
        "lldap_operator_left_in_lldap_total", {"kind": kind, "reason": reason}
    )


# --- the policy ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by_hand", "policy", "gone"),
    [
        (False, None, True),
        (False, "Delete", True),
        (False, "Retain", False),
        (True, None, False),
        (True, "Delete", True),
        (True, "Retain", False),
    ],
)
def test_what_was_created_goes_and_what_was_adopted_stays_unless_the_spec_says_otherwise(
    bed: Bed, directory: Directory, by_hand: bool, policy: str | None, gone: bool
) -> None:
    if by_hand:
        directory.make_user("alice")
        directory.make_group("devs")
    spec = {"deletionPolicy": policy} if policy else {}
    bed.user("alice", **spec)
    bed.group("devs", **spec)
    bed.settle()
    bed.delete("LldapUser", "alice")
    bed.delete("LldapGroup", "devs")
    bed.settle()
    assert directory.has_user("alice") is not gone
    assert directory.has_group("devs") is not gone
    assert directory.mark("alice") is None
    assert directory.group_mark("devs") is None
    assert bed.events.reasons().count("Deleted" if gone else "Retained") == 2


@pytest.mark.parametrize("origin", ["Created", "Adopted"])
def test_the_policy_comes_from_the_mark_and_not_from_a_forged_status(
    bed: Bed, directory: Directory, origin: str
) -> None:
    directory.make_user("alice")
    bed.user("alice")
    bed.user("bob")
    bed.settle()
    for name in ("alice", "bob"):
        bed.forge("LldapUser", name, {"origin": origin})
        bed.delete("LldapUser", name)
    bed.settle()
    assert directory.has_user("alice")
    assert not directory.has_user("bob")


@pytest.mark.parametrize("origin", ["Created", "Adopted"])
def test_a_forged_origin_of_an_unmarked_account_breaks_its_seal(
    bed: Bed, directory: Directory, origin: str
) -> None:
    """A user took the mark off itself, and somebody changed the record of where it came from."""
    directory.make_user("alice")
    bed.user("alice")
    bed.settle()
    annotations = {PAUSED_ANNOTATION: "true"}
    bed.user("alice", annotations=annotations)
    bed.settle()
    directory.set_mark("alice", None)
    bed.forge("LldapUser", "alice", {"origin": origin})
    bed.delete("LldapUser", "alice")
    bed.user("alice", annotations={PAUSED_ANNOTATION: "false"})
    bed.settle()
    assert not bed.exists("LldapUser", "alice")
    assert directory.has_user("alice")


def test_what_is_not_there_any_more_is_success(bed: Bed, directory: Directory) -> None:
    bed.user("alice")
    bed.group("devs")
    bed.settle()
    directory.delete_user("alice")
    directory.delete_group("devs")
    bed.delete("LldapUser", "alice")
    bed.delete("LldapGroup", "devs")
    bed.settle()
    assert not bed.exists("LldapUser", "alice")
    assert not bed.exists("LldapGroup", "devs")
    assert left(bed, "LldapUser", "Conflict") is None


def test_an_account_that_somebody_made_anew_is_not_deleted(bed: Bed, directory: Directory) -> None:
    bed.user("alice")
    bed.settle()
    directory.delete_user("alice")
    directory.make_user("alice")
    before = directory.dump()
    bed.delete("LldapUser", "alice")
    bed.settle()
    assert not bed.exists("LldapUser", "alice")
    assert directory.dump() == before
    assert left(bed, "LldapUser", "NotAdopted") == 1


def test_a_group_is_deleted_under_the_name_that_it_has(bed: Bed, directory: Directory) -> None:
    bed.group("devs")
    bed.group("ops")
    bed.settle()
    bed.apply("LldapGroup", "devs", {"displayName": "ops"})  # a conflict: it keeps its name
    bed.settle()
    bed.delete("LldapGroup", "devs")
    bed.settle()
    assert not directory.has_group("devs")
    assert directory.has_group("ops")


# --- nothing hangs on a rule -------------------------------------------------------------------


def test_what_was_never_ours_stays_with_a_warning() -> None:
    bed = Bed(adoption=Adoption.NEVER)
    directory = Directory(bed)
    directory.make_user("ceo")
    directory.make_user("far", mark=mark("uid-9", "far", cluster="cluster-2"))
    for name in ("ceo", "far"):
        bed.user(name, deletionPolicy="Delete")
    bed.settle()
    before = directory.dump()
    for name in ("ceo", "far"):
        bed.delete("LldapUser", name)
    bed.settle()
    assert directory.dump() == before
    assert left(bed, "LldapUser", "NotAdopted") == 1
    assert left(bed, "LldapUser", "Conflict") == 1
    notes = [note for _, kind, reason, note in bed.events.seen if reason == "LeftAlone"]
    assert min(notes).startswith("user ceo stays in lldap")
    assert "cluster-2" in max(notes)


def test_with_retain_nobody_is_told_what_was_never_ours() -> None:
    bed = Bed(adoption=Adoption.NEVER)
    Directory(bed).make_user("ceo")
    bed.user("ceo", deletionPolicy="Retain")
    bed.settle()
    bed.delete("LldapUser", "ceo")
    bed.settle()
    assert not bed.exists("LldapUser", "ceo")
    assert "LeftAlone" not in bed.events.reasons()


def test_a_privileged_account_keeps_even_its_mark(bed: Bed, directory: Directory) -> None:
    bed.user("alice", deletionPolicy="Retain")
    bed.user("bob")
    bed.settle()
    for name in ("alice", "bob"):
        directory.add(name, "lldap_admin")
    before = directory.dump()
    for name in ("alice", "bob"):
        bed.delete("LldapUser", name)
    bed.settle()
    assert not bed.exists("LldapUser", "alice")
    assert not bed.exists("LldapUser", "bob")
    assert directory.dump() == before
    assert left(bed, "LldapUser", "ProtectedAccount") == 2


def test_a_group_that_is_a_built_in_one_by_now_stays(bed: Bed, directory: Directory) -> None:
    directory.delete_group("lldap_password_manager")
    bed.group("devs")
    bed.settle()
    with bed.lldap.database() as store:
        key = store.state.groups.keys["devs"]
        store.update(
            store.state.groups,
            key,
            columns={"display_name": "lldap_password_manager"},
            remove=[],
            insert={},
        )
    before = directory.dump()
    bed.run(700)
    bed.delete("LldapGroup", "devs")
    bed.settle()
    assert not bed.exists("LldapGroup", "devs")
    assert directory.dump() == before
    assert left(bed, "LldapGroup", "BuiltInConflict") == 1


# --- lldap is down -------------------------------------------------------------------------------


def down(bed: Bed) -> None:
    bed.lldap.hooks[:] = [refuse]


def test_delete_waits_for_lldap_with_the_reason_on_the_object(
    bed: Bed, directory: Directory
) -> None:
    bed.user("alice")
    bed.settle()
    down(bed)
    bed.delete("LldapUser", "alice")
    bed.run(300, step=10)
    assert bed.ready("LldapUser", "alice") == ("False", "LldapUnavailable")
    bed.lldap.hooks.clear()
    bed.run(10)
    assert not bed.exists("LldapUser", "alice")
    assert not directory.has_user("alice")


def test_a_change_to_retain_lets_a_waiting_object_go(bed: Bed, directory: Directory) -> None:
    bed.user("alice")
    bed.settle()
    down(bed)
    bed.delete("LldapUser", "alice")
    bed.run(60, step=10)
    assert bed.exists("LldapUser", "alice")
    bed.user("alice", deletionPolicy="Retain")
    bed.settle()
    assert not bed.exists("LldapUser", "alice")
    assert directory.has_user("alice")


def test_retain_does_not_wait_for_lldap(bed: Bed, directory: Directory) -> None:
    names = [f"user{number}" for number in range(20)]
    for name in names:
        bed.user(name, deletionPolicy="Retain")
    bed.settle()
    down(bed)
    bed.clear_logs()
    for name in names:
        bed.delete("LldapUser", name)
    bed.settle()
    assert not any(bed.exists("LldapUser", name) for name in names)
    asked = [entry for entry in bed.lldap.log if b'"userId":"user' in entry.call.data]
    assert len(asked) == 1  # the first failure closes the gate for the others
    assert all(directory.mark(name) is not None for name in names)


def test_retain_does_not_wait_for_an_operator_that_never_saw_lldap(
    bed: Bed, directory: Directory
) -> None:
    bed.user("alice", deletionPolicy="Retain")
    directory.make_user("bob")
    bed.user("bob")
    bed.settle()
    down(bed)
    bed.start()
    for name in ("alice", "bob"):
        bed.delete("LldapUser", name)
    bed.settle()
    assert not bed.exists("LldapUser", "alice")
    assert not bed.exists("LldapUser", "bob")
    assert directory.has_user("alice")
    assert directory.has_user("bob")


@pytest.mark.parametrize("fault", [lose_request, lose_answer])
def test_a_lost_answer_to_a_deletion_is_found_out(
    bed: Bed, directory: Directory, fault: object
) -> None:
    bed.user("alice")
    bed.settle()
    bed.lldap.hooks.append(on("deleteUser", fault))  # type: ignore[arg-type]  # both are hooks
    bed.delete("LldapUser", "alice")
    bed.run(60)
    assert not bed.exists("LldapUser", "alice")
    assert not directory.has_user("alice")


# --- dry-run and the brake -----------------------------------------------------------------------


def test_a_dry_run_that_owns_something_waits_and_calls_nothing(
    bed: Bed, directory: Directory
) -> None:
    bed.user("alice")
    bed.settle()
    dry = {DRY_RUN_ANNOTATION: "true"}
    bed.user("alice", annotations=dry)
    bed.clear_logs()
    bed.delete("LldapUser", "alice")
    bed.run(60)
    assert bed.exists("LldapUser", "alice")
    assert bed.mutations() == []
    bed.user("alice", annotations=dry, deletionPolicy="Retain")
    bed.run(60)
    assert not bed.exists("LldapUser", "alice")
    assert bed.mutations() == []
    assert directory.has_user("alice")


def test_many_deletions_wait_their_turn(directory: Directory) -> None:
    bed = Bed()
    bed.start(max_deletions_per_minute=3)
    directory = Directory(bed)
    names = [f"user{number}" for number in range(8)]
    for name in names:
        bed.user(name)
    bed.settle()
    for name in names:
        bed.delete("LldapUser", name)
    bed.settle()
    assert sum(not directory.has_user(name) for name in names) == 3
    waiting = [name for name in names if bed.exists("LldapUser", name)]
    assert all(bed.ready("LldapUser", name) == ("False", "Deleting") for name in waiting)
    assert "at place" in bed.message("LldapUser", waiting[0])
    bed.run(180, step=5)
    assert not any(directory.has_user(name) for name in names)


def test_only_a_real_deletion_takes_a_turn() -> None:
    bed = Bed()
    bed.start(max_deletions_per_minute=1)
    directory = Directory(bed)
    for name in ("alice", "bob", "carol"):
        bed.user(name, deletionPolicy="Retain" if name != "carol" else "Delete")
    bed.settle()
    for name in ("alice", "bob", "carol"):
        bed.delete("LldapUser", name)
    bed.settle()
    assert not directory.has_user("carol")
    assert not bed.exists("LldapUser", "bob")


def test_a_deleted_event_alone_deletes_nothing(bed: Bed, directory: Directory) -> None:
    bed.user("alice")
    bed.group("devs")
    bed.membership("alice", "devs")
    bed.settle()
    bed.clear_logs()
    for kind, name in (
        ("LldapMembership", "alice-devs"),
        ("LldapUser", "alice"),
        ("LldapGroup", "devs"),
    ):
        bed.admin.patch(  # somebody takes our finalizer off
            bed.path(kind, "team-a", name),
            {"metadata": {"finalizers": None}},
            content_type="application/merge-patch+json",
        )
        bed.delete(kind, name)
        if bed.exists(kind, name):  # the operator was faster and put it on again
            pytest.fail("the object has a finalizer again")
    bed.run(700)
    assert bed.mutations() == []
    assert directory.members("devs") == {"alice"}
    assert bed.operator.instance.cache.get(LLDAP_USER, "team-a", "alice") is None
