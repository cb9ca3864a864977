"""What pausing and dry-run mean for an object of any kind."""

import pytest

from controller.api import DRY_RUN_ANNOTATION, GROUP, PAUSED_ANNOTATION
from sandbox.lldap.faults import refuse
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.edits import annotate, condition, go_on, pause

VERIFIED = ("True", "Verified")


def would(do: str) -> str:
    end = f"Remove the annotation {DRY_RUN_ANNOTATION} to let it happen"
    return f"dry-run: would do: {do}. {end}"


# --- pausing -------------------------------------------------------------------------------------


def test_a_paused_object_is_left_alone_in_lldap_and_kubernetes(
    bed: Bed, directory: Directory
) -> None:
    bed.user("alice")
    bed.settle()
    pause(bed, "LldapUser", "alice")
    bed.clear_logs()
    bed.user("alice", displayName="Al")
    bed.run(1300, step=10)
    assert bed.mutations() == []
    assert bed.api_writes() == []
    go_on(bed, "LldapUser", "alice")
    row = directory.user("alice")
    assert row is not None
    assert row.columns["display_name"] == "Al"


def test_whether_it_is_ready_survives_a_pause(bed: Bed) -> None:
    bed.user("alice")
    bed.settle()
    before = condition(bed)
    bed.clock.advance(60)
    pause(bed, "LldapUser", "alice")
    words = "team-a/alice is paused: nothing is done for it until the annotation "
    words += f"{PAUSED_ANNOTATION} is removed"
    assert condition(bed) == {**before, "reason": "Paused", "message": words}
    bed.clock.advance(60)
    go_on(bed, "LldapUser", "alice")
    assert condition(bed) == before


def test_I03_a_spec_that_is_edited_during_a_pause_is_not_called_reconciled(bed: Bed) -> None:
    bed.user("alice")
    bed.settle()
    pause(bed, "LldapUser", "alice")
    bed.user("alice", displayName="Al")
    bed.settle()
    status = bed.get("LldapUser", "alice")["status"]
    assert condition(bed)["observedGeneration"] == status["observedGeneration"] == 1
    go_on(bed, "LldapUser", "alice")
    assert condition(bed)["observedGeneration"] == 2


def test_a_pause_wakes_nobody_else(bed: Bed) -> None:
    bed.user("alice")
    bed.group("Team")
    bed.membership("alice", "Team")
    bed.settle()
    bed.clear_logs()
    pause(bed, "LldapUser", "alice")
    bed.run(60)
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
    assert [path.split("/")[-2:] for _, path in bed.api_writes()] == [["alice", "status"]]


def test_it_survives_an_lldap_that_is_down_when_it_is_unpaused(bed: Bed) -> None:
    bed.user("alice")
    bed.settle()
    pause(bed, "LldapUser", "alice")
    bed.lldap.hooks.append(refuse)
    bed.start()
    bed.settle()
    go_on(bed, "LldapUser", "alice")
    assert condition(bed)["status"] == "True"
    bed.lldap.hooks.clear()
    bed.run(10)
    assert bed.ready("LldapUser", "alice") == VERIFIED


def test_an_object_that_is_new_and_paused_is_unknown(bed: Bed, directory: Directory) -> None:
    bed.user("alice", annotations={PAUSED_ANNOTATION: "true"})
    bed.run(60)
    assert bed.ready("LldapUser", "alice") == ("Unknown", "Paused")
    assert not directory.has_user("alice")
    assert bed.get("LldapUser", "alice")["metadata"].get("finalizers", []) == []
    go_on(bed, "LldapUser", "alice")
    assert bed.ready("LldapUser", "alice") == VERIFIED


def test_a_paused_deletion_waits(bed: Bed, directory: Directory) -> None:
    bed.user("alice")
    bed.settle()
    pause(bed, "LldapUser", "alice")
    bed.delete("LldapUser", "alice")
    bed.run(60)
    assert directory.has_user("alice")
    assert bed.ready("LldapUser", "alice") == ("True", "Paused")
    go_on(bed, "LldapUser", "alice")
    assert not directory.has_user("alice")
    assert not bed.exists("LldapUser", "alice")


# --- dry-run -------------------------------------------------------------------------------------

DRY = {DRY_RUN_ANNOTATION: "true"}


def test_dry_run_calls_nothing_on_any_path(bed: Bed, directory: Directory) -> None:
    directory.make_user("bob")
    before = directory.dump()
    bed.clear_logs()
    bed.user("alice", annotations=DRY)  # would be created
    bed.user("bob", annotations=DRY)  # would be adopted
    bed.user("carol", annotations=DRY, attributes=[{"name": "phone", "value": ["1"]}])
    bed.settle()
    assert bed.message("LldapUser", "alice") == would("create user alice")
    assert "take over user bob" in bed.message("LldapUser", "bob")
    assert "it would fail: DependencyNotReady" in bed.message("LldapUser", "carol")
    for name in ("alice", "bob", "carol"):
        assert bed.ready("LldapUser", name) == ("True", "DryRun")
        bed.delete("LldapUser", name)
    bed.settle()
    for name in ("alice", "bob", "carol"):
        assert not bed.exists("LldapUser", name)
    assert bed.mutations() == []
    assert directory.dump() == before


def test_a_plan_before_lldap_was_ever_read_says_so_and_comes_by_itself(bed: Bed) -> None:
    bed.lldap.hooks.append(refuse)
    bed.start()
    bed.user("alice", annotations=DRY)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "DryRun")
    assert "it would fail: LldapUnavailable" in bed.message("LldapUser", "alice")
    bed.lldap.hooks.clear()
    bed.run(10)
    assert bed.message("LldapUser", "alice") == would("create user alice")


@pytest.mark.parametrize("way", ["annotation", "retain"])
def test_a_deletion_in_dry_run_waits_for_the_annotation_or_the_policy(
    bed: Bed, directory: Directory, way: str
) -> None:
    bed.user("alice")
    bed.settle()
    annotate(bed, "LldapUser", "alice", **DRY)
    bed.settle()
    bed.delete("LldapUser", "alice")
    bed.clear_logs()
    bed.run(1300, step=10)
    assert bed.exists("LldapUser", "alice")
    assert bed.ready("LldapUser", "alice") == ("True", "DryRun")
    assert bed.mutations() == []
    if way == "annotation":
        annotate(bed, "LldapUser", "alice", **{DRY_RUN_ANNOTATION: None})
    else:
        bed.user("alice", deletionPolicy="Retain")
    bed.settle()
    assert not bed.exists("LldapUser", "alice")
    assert directory.has_user("alice") is (way == "retain")
    assert bed.mutations() == (["deleteUser"] if way == "annotation" else [])


def test_a_deletion_in_dry_run_holds_up_no_uninstall(bed: Bed, directory: Directory) -> None:
    bed.user("alice")
    bed.settle()
    annotate(bed, "LldapUser", "alice", **DRY)
    bed.settle()
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    bed.admin.delete(f"{path}/lldapusers.{GROUP}")
    bed.run(10)
    assert not bed.exists("LldapUser", "alice")
    assert directory.has_user("alice")
