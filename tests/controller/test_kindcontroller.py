"""Whose an object is, what pausing means, and what an object says about lldap as a whole."""

from collections.abc import Callable
from typing import Any

import pytest

from controller.api import DRY_RUN_ANNOTATION, GROUP, INSTANCE_LABEL, PAUSED_ANNOTATION
from controller.harness.outcome import Result
from controller.harness.resource import Object
from controller.watching.worker import Controller
from sandbox.lldap.exchange import Response
from sandbox.lldap.faults import answer, on, refuse
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.kubebed import on_write, status_answer

VERIFIED = ("True", "Verified")


@pytest.fixture
def bed() -> Bed:
    return Bed()


@pytest.fixture
def directory(bed: Bed) -> Directory:
    return Directory(bed)


def annotate(bed: Bed, kind: str, name: str, **annotations: str | None) -> None:
    bed.admin.patch(
        bed.path(kind, "team-a", name),
        {"metadata": {"annotations": annotations}},
        content_type="application/merge-patch+json",
    )


def would(do: str) -> str:
    end = f"Remove the annotation {DRY_RUN_ANNOTATION} to let it happen"
    return f"dry-run: would do: {do}. {end}"


def pause(bed: Bed, kind: str, name: str) -> None:
    annotate(bed, kind, name, **{PAUSED_ANNOTATION: "true"})
    bed.settle()


def go_on(bed: Bed, kind: str, name: str) -> None:
    annotate(bed, kind, name, **{PAUSED_ANNOTATION: None})
    bed.settle()


def relabel(bed: Bed, name: str, label: str | None, kind: str = "LldapUser") -> None:
    bed.admin.patch(
        bed.path(kind, "team-a", name),
        {"metadata": {"labels": {INSTANCE_LABEL: label}}},
        content_type="application/merge-patch+json",
    )
    bed.settle()


def condition(bed: Bed, name: str = "alice") -> Object:
    conditions = bed.get("LldapUser", name)["status"]["conditions"]
    found: Object = next(c for c in conditions if c["type"] == "Ready")
    return found


def status_writes(bed: Bed) -> int:
    return sum(path.endswith("/status") for _, path in bed.api_writes())


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
    words += f"{PAUSED_ANNOTATION} is removed: remove it to go on"
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


# --- other instances -----------------------------------------------------------------------------


def forge_instance(bed: Bed, kind: str, name: str) -> None:
    bed.forge(kind, name, {"instance": "other"})


def test_an_object_that_another_instance_holds_waits_and_says_for_whom(
    bed: Bed, directory: Directory
) -> None:
    bed.user("alice", annotations={PAUSED_ANNOTATION: "true"})
    bed.settle()
    forge_instance(bed, "LldapUser", "alice")
    go_on(bed, "LldapUser", "alice")
    assert bed.ready("LldapUser", "alice") == ("False", "HeldByOtherInstance")
    assert "the operator of instance other" in bed.message("LldapUser", "alice")
    bed.run(110, step=10)
    assert "HeldByOtherInstance" not in bed.events.reasons()
    bed.run(60, step=10)
    told = [note for _, _, reason, note in bed.events.seen if reason == "HeldByOtherInstance"]
    command = "lldap-operator release --lldap-instance other --namespace team-a --moved"
    assert told[0].endswith(command)
    assert bed.message("LldapUser", "alice").endswith(command)
    assert not directory.has_user("alice")
    bed.forge("LldapUser", "alice", {"instance": None})
    bed.settle()
    assert bed.ready("LldapUser", "alice") == VERIFIED


def test_a_held_object_that_is_gone_is_not_remembered(bed: Bed) -> None:
    bed.user("alice", annotations={PAUSED_ANNOTATION: "true"})
    bed.settle()
    forge_instance(bed, "LldapUser", "alice")
    go_on(bed, "LldapUser", "alice")
    bed.run(100, step=10)
    bed.admin.patch(
        bed.path("LldapUser", "team-a", "alice"),
        {"metadata": {"finalizers": []}},
        content_type="application/merge-patch+json",
    )
    bed.delete("LldapUser", "alice")
    bed.settle()
    bed.user("alice", annotations={PAUSED_ANNOTATION: "true"})
    bed.settle()
    forge_instance(bed, "LldapUser", "alice")
    go_on(bed, "LldapUser", "alice")
    bed.run(100, step=10)
    assert "HeldByOtherInstance" not in bed.events.reasons()


def all_kinds(bed: Bed) -> list[tuple[str, str]]:
    bed.user("alice")
    bed.group("Team")
    bed.membership("alice", "Team")
    bed.schema("phone", deletionPolicy="Delete")
    bed.settle()
    return [
        ("LldapMembership", "alice-team"),
        ("LldapAttributeSchema", "user-phone"),
        ("LldapUser", "alice"),
        ("LldapGroup", "team"),
    ]


def test_F10_an_object_of_any_kind_that_is_deleted_while_held_touches_no_unmarked_thing(
    bed: Bed, directory: Directory
) -> None:
    """A membership and an attribute have no mark: they stay, whatever the policy says."""
    objects = all_kinds(bed)[:2]
    before = directory.dump()
    for kind, name in objects:
        forge_instance(bed, kind, name)
    bed.clear_logs()
    for kind, name in objects:
        bed.delete(kind, name)
    bed.settle()
    for kind, name in objects:
        assert not bed.exists(kind, name)
    assert bed.mutations() == []
    assert directory.dump() == before
    assert bed.events.reasons().count("LeftAlone") == 2


@pytest.mark.parametrize("annotation", [PAUSED_ANNOTATION, DRY_RUN_ANNOTATION])
def test_an_object_that_is_to_be_released_waits_while_nothing_may_be_called(
    bed: Bed, directory: Directory, annotation: str
) -> None:
    bed.user("alice")
    bed.settle()
    annotate(bed, "LldapUser", "alice", **{annotation: "true"})
    bed.settle()
    bed.clear_logs()
    relabel(bed, "alice", "other")
    assert bed.mutations() == []
    assert bed.api_writes() == []
    assert directory.mark("alice") is not None
    annotate(bed, "LldapUser", "alice", **{annotation: None})
    bed.settle()
    assert directory.mark("alice") is None
    obj = bed.get("LldapUser", "alice")
    assert obj["metadata"].get("finalizers", []) == []
    assert not obj.get("status")


def test_a_released_account_goes_to_who_waited_for_it(bed: Bed, directory: Directory) -> None:
    bed.user("alice", "team-a")
    bed.settle()
    bed.clock.advance(5)
    bed.user("alice", "team-b")
    bed.settle()
    assert bed.ready("LldapUser", "alice", "team-b") == ("False", "Conflict")
    relabel(bed, "alice", "other")
    bed.settle()
    assert bed.ready("LldapUser", "alice", "team-b") == VERIFIED


def test_a_virtual_group_that_lost_its_label_gets_it_back(bed: Bed) -> None:
    bed.settle()
    name = "default--lldap-admin"
    for label in (None, "other"):
        bed.admin.patch(
            bed.path("LldapGroup", "lldap-system", name),
            {"metadata": {"labels": {INSTANCE_LABEL: label}}},
            content_type="application/merge-patch+json",
        )
        bed.settle()
        labels = bed.get("LldapGroup", name, "lldap-system")["metadata"]["labels"]
        assert labels == {INSTANCE_LABEL: "default"}
        assert bed.ready("LldapGroup", name, "lldap-system") == ("True", "BuiltIn")


# --- objects that are not there ------------------------------------------------------------------


def test_an_object_that_is_gone_is_forgotten_by_everybody(bed: Bed) -> None:
    bed.lldap.hooks.append(refuse)
    bed.user("alice")
    bed.settle()
    bed.admin.patch(
        bed.path("LldapUser", "team-a", "alice"),
        {"metadata": {"finalizers": []}},
        content_type="application/merge-patch+json",
    )
    bed.delete("LldapUser", "alice")
    bed.settle()
    gate = bed.operator.gate
    assert ("LldapUser", "team-a/alice") not in gate._waiting
    assert len(bed.operator.own_writes) == 0
    assert bed.operator.queues["LldapUser"].idle()


def test_a_virtual_group_that_cannot_be_made_is_tried_again(bed: Bed) -> None:
    bed.settle()
    name = "default--lldap-admin"
    bed.api_transport.before = on_write(status_answer(500, "InternalError"), part=name)
    bed.delete("LldapGroup", name, "lldap-system")
    bed.settle()
    assert not bed.exists("LldapGroup", name, "lldap-system")
    bed.api_transport.before = lambda _call: None
    bed.run(10)
    assert bed.exists("LldapGroup", name, "lldap-system")


def test_L04_objects_that_come_and_go_within_a_moment_leave_nothing(
    bed: Bed, directory: Directory
) -> None:
    bed.settle()
    names = [f"user{number}" for number in range(40)]
    for number, name in enumerate(names):
        bed.user(name)
        if number % 3 == 0:
            bed.step()
        bed.delete("LldapUser", name)
    bed.settle(200)
    bed.run(60, step=10)
    assert not any(directory.has_user(name) for name in names)
    assert not any(bed.exists("LldapUser", name) for name in names)
    assert bed.operator.queues["LldapUser"].idle()
    assert len(bed.operator.own_writes) == 0


# --- lldap is down -------------------------------------------------------------------------------


def test_who_has_nothing_to_do_stays_ready_and_who_has_is_told_once(bed: Bed) -> None:
    for number in range(5):
        bed.user(f"user{number}")
    bed.settle()
    bed.lldap.hooks.append(refuse)
    for name in ("new", "user0"):
        bed.user(name, displayName="changed")
    bed.settle()
    waiting = {"user0", "new"}
    assert bed.ready("LldapUser", "new") == ("False", "LldapUnavailable")
    bed.clear_logs()
    bed.run(900, step=5)
    assert bed.api_writes() == []
    for number in range(1, 5):
        assert bed.ready("LldapUser", f"user{number}") == VERIFIED
    bed.lldap.hooks.clear()
    bed.run(7)
    for name in waiting:
        assert bed.ready("LldapUser", name) == VERIFIED


def watched(controller: Controller, passes: list[str]) -> Controller:
    def reconcile(key: str) -> Result:
        passes.append(key)
        return controller.reconcile(key)

    return Controller(controller.name, controller.queue, reconcile)


def test_who_waits_for_lldap_is_not_looked_at_and_not_told_of_again(bed: Bed) -> None:
    bed.settle()
    bed.lldap.hooks.append(refuse)
    for number in range(20):
        bed.user(f"user{number}")
    bed.settle(100)
    told = len(bed.events.seen)
    assert told <= 20
    passes: list[str] = []
    controllers = bed.operator.pool._controllers
    controllers[:] = [watched(controller, passes) for controller in controllers]
    bed.run(900, step=5)
    assert passes == []
    assert len(bed.events.seen) == told


def test_a_start_with_lldap_down_keeps_what_was_ready(bed: Bed) -> None:
    bed.user("alice")
    bed.user("bob")
    bed.settle()
    bed.lldap.hooks.append(refuse)
    bed.start()
    bed.user("bob", displayName="Bob")
    bed.user("carol")
    bed.settle()
    bed.clear_logs()
    bed.run(300, step=5)
    assert bed.api_writes() == []
    assert bed.ready("LldapUser", "alice") == VERIFIED
    for name in ("bob", "carol"):
        assert bed.ready("LldapUser", name) == ("False", "LldapUnavailable")
    bed.lldap.hooks.clear()
    bed.run(7)
    for name in ("alice", "bob", "carol"):
        assert bed.ready("LldapUser", name) == VERIFIED


def test_a_call_that_one_object_cannot_make_stops_no_other(bed: Bed) -> None:
    """lldap answers nonsense to one object's call alone: the others go on, and no login storm."""
    bed.settle()
    broken = Response.of_text(500, "panicked")

    def poisoned(call: Any, forward: Callable[[Any], Response]) -> Response:
        return broken if b'"poison' in call.data and b"createUser" in call.data else forward(call)

    bed.lldap.hooks.append(poisoned)
    bed.user("poison")
    bed.settle()
    bed.clear_logs()
    reads: list[str] = []
    for number in range(30):
        bed.user(f"user{number}")
        bed.run(10, step=5)
        assert bed.ready("LldapUser", f"user{number}") == VERIFIED
        reads = [op for op in bed.operations() if op == "users"]
    assert bed.ready("LldapUser", "poison") == ("False", "LldapUnavailable")
    assert len(reads) <= 1  # the whole of lldap was not read again for it
    assert logins(bed) == 0


def test_a_first_failure_closes_the_gate_for_all(bed: Bed) -> None:
    bed.user("first")
    bed.settle()
    for number in range(10):
        bed.user(f"user{number}")
    bed.lldap.hooks.append(refuse)
    bed.clear_logs()
    bed.settle()
    asked = [op for op in bed.operations() if not op.startswith("/auth")]
    assert asked == ["createUser", "user"]  # one object's call, and whether it was done after all
    assert status_writes(bed) == 10


# --- rights --------------------------------------------------------------------------------------


def logins(bed: Bed) -> int:
    return sum(op == "/auth/simple/login" for op in bed.operations())


def test_B09_a_refusal_that_is_about_permission_makes_no_login_storm(bed: Bed) -> None:
    """One call is refused with a new token too, though the operator has its rights."""
    bed.secret("s", b"correct horse battery")
    bed.settle()
    refused = answer(Response.of_text(401, "Unauthorized"))
    bed.lldap.hooks.append(on("/auth/opaque/register/start", refused, times=10**6))
    bed.clear_logs()
    bed.user("alice", passwordPolicy="Manage", passwordSecretRef={"name": "s", "key": "password"})
    bed.run(300, step=1)
    assert bed.ready("LldapUser", "alice") == ("False", "Forbidden")
    assert logins(bed) < 5
    starts = [op for op in bed.operations() if op == "/auth/opaque/register/start"]
    assert len(starts) < 40  # the back-off grows
    bed.user("bob")
    bed.settle()
    assert bed.ready("LldapUser", "bob") == VERIFIED


def test_B09_an_operator_that_loses_its_rights_asks_without_logging_in(
    bed: Bed, directory: Directory
) -> None:
    """Its token still has them: the next bulk read shows that the account has not."""
    names = [f"user{number}" for number in range(20)]
    for name in names:
        bed.user(name)
    bed.settle(100)
    directory.remove("admin", "lldap_admin")
    directory.add("admin", "lldap_password_manager")
    bed.run(700, step=5)
    bed.clear_logs()
    for name in names:
        bed.user(name, displayName="changed")
    bed.run(300, step=1)
    assert {bed.ready("LldapUser", name) for name in names} == {("False", "Forbidden")}
    assert bed.mutations() == []
    assert logins(bed) == 0
    assert status_writes(bed) == 20
    directory.add("admin", "lldap_admin")
    bed.run(10)
    assert {bed.ready("LldapUser", name) for name in names} == {VERIFIED}


def test_B11_an_operator_without_rights_has_one_reason_and_no_storm(
    bed: Bed, directory: Directory
) -> None:
    directory.remove("admin", "lldap_admin")
    directory.add("admin", "lldap_strict_readonly")
    names = [f"user{number}" for number in range(20)]
    for name in names:
        bed.user(name)
    bed.run(300, step=1)
    assert {bed.ready("LldapUser", name) for name in names} == {("False", "Forbidden")}
    assert "lldap_admin" in bed.message("LldapUser", "user0")
    assert bed.mutations() == []
    assert logins(bed) < 5
    assert status_writes(bed) == 20
