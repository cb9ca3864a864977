"""From one policy to another: only to Manage may set a password, and it proves first."""

import pytest

from controller.api import DRY_RUN_ANNOTATION, PAUSED_ANNOTATION
from tests.support.accounts import (
    FIRST,
    SECOND,
    attributes,
    can_log_in,
    crash_and_restart,
    forget_the_past,
    proofs,
    registrations,
    resync,
    settled_user,
    status,
    with_password,
)
from tests.support.bed import Bed
from tests.support.directory import Directory

HERS = "a password of her own"
RECORD = {"passwordHash", "passwordSecret", "passwordModifiedDate"}
OTHERS = [
    (a, b) for a in ("Manage", "InitialOnly", "Ignore") for b in ("InitialOnly", "Ignore") if a != b
]


@pytest.fixture(params=[False, True], ids=["fractions", "whole seconds"])
def bed(request: pytest.FixtureRequest) -> Bed:
    return Bed(whole_seconds=request.param)


def record(bed: Bed) -> set[str]:
    return RECORD & status(bed).keys()


@pytest.mark.parametrize(("before", "now"), OTHERS)
def test_to_initial_only_or_ignore_registers_and_proves_nothing(
    bed: Bed, before: str, now: str
) -> None:
    settled_user(bed, policy=before)
    bed.secret("pw", SECOND)
    with_password(bed, policy=now)
    bed.run(3)
    resync(bed)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert not can_log_in(bed, SECOND) or before == "Manage"
    assert record(bed) == (set() if now == "Ignore" else {"passwordModifiedDate"})
    if before != "Manage":  # which may see the Secret before the spec
        assert registrations(bed) == proofs(bed) == 0


@pytest.mark.parametrize("before", ["InitialOnly", "Ignore"])
def test_to_manage_proves_first_and_registers_what_differs(bed: Bed, before: str) -> None:
    settled_user(bed, policy=before)
    bed.lldap.set_password("alice", HERS)
    with_password(bed, policy="Manage")
    bed.run(3)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed, FIRST)
    assert registrations(bed) == 1
    assert proofs(bed) >= 2
    assert record(bed) == RECORD


@pytest.mark.parametrize("before", ["InitialOnly", "Ignore"])
def test_to_manage_registers_nothing_where_lldap_has_the_password(bed: Bed, before: str) -> None:
    settled_user(bed, policy=before)
    bed.lldap.set_password("alice", FIRST.decode())
    with_password(bed, policy="Manage")
    bed.run(3)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert registrations(bed) == 0
    assert proofs(bed) >= 1
    assert record(bed) == RECORD


def test_back_to_manage_proves_first_too(bed: Bed) -> None:
    settled_user(bed, policy="Manage")
    with_password(bed, policy="InitialOnly")
    bed.run(3)
    bed.lldap.set_password("alice", HERS)
    resync(bed)
    assert registrations(bed) == proofs(bed) == 0
    with_password(bed, policy="Manage")
    bed.run(3)
    assert can_log_in(bed, FIRST)
    assert registrations(bed) == 1


def test_a_change_of_policy_within_the_second_of_the_registration(bed: Bed) -> None:
    bed.secret("pw", FIRST)
    with_password(bed, policy="Manage")
    bed.settle()
    with_password(bed, policy="InitialOnly")
    bed.settle()
    forget_the_past(bed)
    bed.lldap.set_password("alice", HERS)
    bed.run(3)
    assert registrations(bed) == 0
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    with_password(bed, policy="Manage")
    bed.run(3)
    assert can_log_in(bed, FIRST)


@pytest.mark.parametrize("annotation", [PAUSED_ANNOTATION, DRY_RUN_ANNOTATION])
def test_an_account_that_was_ignored_gets_no_first_password_whatever_its_state_was(
    bed: Bed, annotation: str
) -> None:
    settled_user(bed, policy="Ignore")
    with_password(bed, policy="Ignore", annotations={annotation: "true"})
    bed.settle()
    with_password(bed, policy="InitialOnly", annotations={annotation: "true"})
    bed.settle()
    with_password(bed, policy="InitialOnly", annotations={})
    bed.run(3)
    assert registrations(bed) == 0
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(1, 5))
def test_nor_does_it_after_a_crash_in_the_pass_that_changes_the_policy(
    bed: Bed, number: int, after: bool
) -> None:
    bed.schema("text")
    bed.settle()
    settled_user(bed, policy="Ignore")
    with_password(bed, policy="InitialOnly", firstName="A", attributes=attributes(text=["a"]))
    crash_and_restart(bed, number, after=after)
    assert registrations(bed) == 0
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_ignore_needs_no_lldap_to_drop_the_record(bed: Bed) -> None:
    settled_user(bed, policy="Manage")
    with_password(bed, policy="Ignore")
    bed.settle()
    assert record(bed) == set()
    assert status(bed)["managed"] == ["email"]


def test_a_first_password_that_manage_could_not_set_is_set_by_initial_only(bed: Bed) -> None:
    with_password(bed, policy="Manage")
    bed.run(3)
    assert bed.ready("LldapUser", "alice") == ("False", "SecretNotFound")
    with_password(bed, policy="InitialOnly")
    bed.secret("pw", FIRST)
    bed.run(3)
    assert can_log_in(bed)


def test_an_account_that_is_made_anew_has_its_first_password_to_come(bed: Bed) -> None:
    bed.secret("pw", FIRST)
    bed.user("alice", passwordPolicy="Ignore")
    bed.settle()
    Directory(bed).delete_user("alice")
    resync(bed)
    assert registrations(bed) == 0
    Directory(bed).delete_user("alice")
    with_password(bed, policy="InitialOnly")
    resync(bed)
    assert registrations(bed) == 1
    assert can_log_in(bed)


def test_an_account_that_is_made_anew_for_initial_only_has_nothing_of_manage_left(bed: Bed) -> None:
    settled_user(bed, policy="Manage")
    Directory(bed).delete_user("alice")
    with_password(bed, policy="InitialOnly")
    resync(bed)
    assert can_log_in(bed)
