"""What somebody else changes in lldap is found, put right and counted; nothing else is drift."""

from typing import Any

import pytest
from prometheus_client import generate_latest

from controller.api import DRY_RUN_ANNOTATION, PAUSED_ANNOTATION
from sandbox.lldap.faults import refuse
from tests.support.accounts import (
    FIRST,
    REGISTER_FINISH,
    SECOND,
    account,
    attributes,
    can_log_in,
    crash_and_restart,
    only,
    resync,
    settled_user,
    status,
    with_password,
)
from tests.support.bed import Bed
from tests.support.directory import Directory


@pytest.fixture
def bed() -> Bed:
    bed = Bed()
    bed.schema("text")
    bed.settle()
    return bed


def drift(bed: Bed) -> tuple[float, float]:
    """Found and repaired."""
    read = bed.metrics.registry.get_sample_value
    names = ("lldap_operator_drift_found_total", "lldap_operator_drift_repaired_total")
    found, repaired = (read(name, {"kind": "LldapUser"}) or 0.0 for name in names)
    return found, repaired


def counted(bed: Bed, family: str) -> dict[str, float]:
    text = generate_latest(bed.metrics.registry).decode().splitlines()
    lines = [line.rpartition(" ") for line in text if line.startswith(family + "{")]
    return {head.partition('"')[2].rstrip('"}'): float(value) for head, _, value in lines}


def change(bed: Bed, **columns: str) -> None:
    with bed.lldap.database() as store:
        store.update(store.state.users, "alice", columns=dict(columns), remove=[], insert={})


def test_a_changed_field_is_put_right_and_counted_once(bed: Bed) -> None:
    settled_user(bed, displayName="Al", attributes=attributes(text=["a"]))
    change(bed, display_name="Bert", mail="bert@example.org")
    Directory(bed).set_attribute("alice", "text", "b")
    resync(bed, 3)
    found = account(bed)
    assert (found["display_name"], found["mail"], found["text"]) == (
        "Al",
        "alice@example.org",
        ["a"],
    )
    assert drift(bed) == (1, 1)
    assert bed.mutations() == ["updateUser"]
    note = "user alice: set email, displayName; set attributes text"
    assert bed.events.seen == [("LldapUser alice", "Normal", "DriftRepaired", note)]


def test_a_removed_value_is_put_back(bed: Bed) -> None:
    settled_user(bed, firstName="A", attributes=attributes(text=["a"]))
    with bed.lldap.database() as store:
        gone = ["first_name", "text"]
        store.update(store.state.users, "alice", columns={}, remove=gone, insert={})
    resync(bed)
    assert (account(bed)["first_name"], account(bed)["text"]) == (["A"], ["a"])
    assert drift(bed) == (1, 1)


def test_a_deleted_account_and_a_changed_password_are_drift_too(bed: Bed) -> None:
    settled_user(bed, displayName="Al")
    Directory(bed).delete_user("alice")
    resync(bed)
    assert drift(bed) == (1, 1)
    bed.lldap.set_password("alice", "something else")
    resync(bed)
    assert drift(bed) == (2, 2)
    assert can_log_in(bed)


def test_drift_that_cannot_be_put_right_is_found_once_and_not_repaired(bed: Bed) -> None:
    settled_user(bed, displayName="Al")
    change(bed, mail="other@example.org")
    with bed.lldap.database() as store:  # and somebody has the address now
        store.create_user("bob", "alice@example.org")
    resync(bed, 2)
    assert bed.ready("LldapUser", "alice") == ("False", "EmailConflict")
    assert drift(bed) == (1, 0)


def test_what_a_person_asks_for_is_no_drift(bed: Bed) -> None:
    settled_user(bed, displayName="Al")
    with_password(bed, displayName="Ann", attributes=attributes(text=["a"]))
    bed.settle()
    bed.secret("pw", SECOND)
    bed.settle()
    with_password(bed, policy="Ignore")
    bed.settle()
    assert drift(bed) == (0, 0)


def test_what_waited_for_a_schema_is_no_drift(bed: Bed) -> None:
    settled_user(bed, policy="Ignore")
    bed.user("alice", attributes=attributes(department=["it"]))
    bed.settle()
    bed.schema("department")
    bed.settle()
    assert account(bed)["department"] == ["it"]
    assert drift(bed) == (0, 0)


def test_what_a_dry_run_held_back_is_no_drift(bed: Bed) -> None:
    settled_user(bed, policy="Ignore", displayName="Al")
    bed.user("alice", displayName="Ann", annotations={DRY_RUN_ANNOTATION: "true"})
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "DryRun")
    bed.user("alice", displayName="Ann", annotations={})
    bed.settle()
    assert account(bed)["display_name"] == "Ann"
    assert drift(bed) == (0, 0)


def test_a_mark_that_is_put_back_is_no_drift(bed: Bed) -> None:
    settled_user(bed, policy="Ignore")
    Directory(bed).set_mark("alice", None)
    resync(bed)
    assert (Directory(bed).mark("alice") or "").startswith("created ")
    assert drift(bed) == (0, 0)


def test_adoption_is_no_drift(bed: Bed) -> None:
    Directory(bed).make_user("alice")
    bed.user("alice", displayName="Al")
    bed.settle()
    assert status(bed)["origin"] == "Adopted"
    assert drift(bed) == (0, 0)


# --- passwords are counted -----------------------------------------------------------------


def test_registrations_and_proofs_are_counted_by_outcome(bed: Bed) -> None:
    settled_user(bed)
    registrations = "lldap_operator_password_registrations_total"
    proofs = "lldap_operator_password_proofs_total"
    assert counted(bed, registrations)["ok"] == 1
    assert counted(bed, proofs) == {"holds": 0, "fails": 0, "error": 0}
    bed.secret("pw", SECOND)
    bed.settle()
    assert counted(bed, registrations)["ok"] == 2
    assert counted(bed, proofs)["fails"] == 1
    bed.lldap.set_password("alice", SECOND.decode())
    resync(bed)
    assert counted(bed, proofs)["holds"] == 1
    bed.lldap.hooks.append(only(REGISTER_FINISH, refuse))
    bed.secret("pw", FIRST)
    bed.settle()
    assert counted(bed, registrations)["ConnectionFailed"] >= 1


def test_a_crash_before_the_status_is_not_taken_for_drift(bed: Bed) -> None:
    bed.user("alice", displayName="Al")
    crash_and_restart(bed, 2, after=True)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert drift(bed) == (0, 0)


# --- pause and dry run ---------------------------------------------------------------------------

PAUSED = PAUSED_ANNOTATION
DRY_RUN = DRY_RUN_ANNOTATION


@pytest.mark.parametrize(
    ("annotations", "counts"),
    [((PAUSED,), 1), ((DRY_RUN,), 0), ((DRY_RUN, PAUSED), 0)],
    ids=["pause", "dry run", "pause after a dry run"],
)
def test_what_changes_during_a_pause_is_drift_and_what_a_dry_run_announced_is_none(
    bed: Bed, annotations: tuple[str, ...], counts: int
) -> None:
    settled_user(bed, displayName="Al")
    for annotation in annotations:
        bed.annotate("LldapUser", "alice", **{annotation: "true"})
        bed.settle()
    change(bed, display_name="Bert")
    bed.run(700, step=20)
    assert drift(bed) == (0, 0)
    gone: dict[str, Any] = dict.fromkeys(annotations)
    bed.annotate("LldapUser", "alice", **gone)
    bed.settle()
    resync(bed)
    assert account(bed)["display_name"] == "Al"
    assert drift(bed) == (counts, counts)


def test_an_edit_during_a_pause_is_no_drift(bed: Bed) -> None:
    settled_user(bed, displayName="Al")
    bed.annotate("LldapUser", "alice", **{PAUSED: "true"})
    bed.settle()
    with_password(bed, displayName="Bert")
    gone: dict[str, Any] = {PAUSED: None}
    bed.annotate("LldapUser", "alice", **gone)
    bed.settle()
    assert account(bed)["display_name"] == "Bert"
    assert drift(bed) == (0, 0)
