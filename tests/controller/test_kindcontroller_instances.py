"""Whose an object is: other instances, labels that go, objects that are not there."""

import pytest

from controller.api import DRY_RUN_ANNOTATION, INSTANCE_LABEL, PAUSED_ANNOTATION
from sandbox.lldap.faults import refuse
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.edits import annotate, go_on, relabel
from tests.support.kubebed import on_write, status_answer

VERIFIED = ("True", "Verified")


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
