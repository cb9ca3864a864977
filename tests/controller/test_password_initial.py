"""InitialOnly: one working registration for an account that we created, never another one."""

import itertools
from typing import Any

import pytest

from lldap.opaque import Version
from tests.support.accounts import (
    FIRST,
    SECOND,
    can_log_in,
    crash_and_restart,
    delete_secret,
    forget_the_past,
    password_date,
    proofs,
    register_in,
    registrations,
    restart_without_status,
    resync,
    secret_reads,
    settled_user,
    status,
    with_password,
    write_status,
)
from tests.support.bed import Bed
from tests.support.directory import Directory

HERS = "a password of her own"
DATES = pytest.mark.parametrize("whole_seconds", [False, True], ids=["fractions", "whole seconds"])


def initial(bed: Bed, **spec: Any) -> None:
    settled_user(bed, policy="InitialOnly", **spec)


@DATES
def test_a_new_account_gets_its_password_once(whole_seconds: bool) -> None:
    bed = Bed(whole_seconds=whole_seconds)
    bed.secret("pw", FIRST)
    with_password(bed, policy="InitialOnly")
    bed.run(3)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed)
    assert registrations(bed) == 1
    assert status(bed)["passwordModifiedDate"] == password_date(bed)
    assert "passwordHash" not in status(bed)


def test_B03_a_person_changes_it_and_nothing_sets_it_again(bed: Bed) -> None:
    initial(bed)
    bed.lldap.set_password("alice", HERS)
    bed.secret("pw", SECOND)
    resync(bed)
    bed.start()
    resync(bed)
    restart_without_status(bed)
    assert can_log_in(bed, HERS.encode())
    assert registrations(bed) == 0
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert status(bed)["passwordModifiedDate"] == password_date(bed)


def test_once_done_the_secret_is_neither_read_nor_needed(bed: Bed) -> None:
    initial(bed)
    bed.secret("pw", SECOND)
    bed.settle()
    delete_secret(bed)
    resync(bed)
    bed.start()
    resync(bed)
    assert secret_reads(bed) == []
    assert bed.operations().count("user") <= 2  # the probes of the operator's own groups
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_a_missing_secret_is_waited_for_while_it_is_needed(bed: Bed) -> None:
    with_password(bed, policy="InitialOnly")
    bed.run(100, step=10)
    assert bed.ready("LldapUser", "alice") == ("False", "SecretNotFound")
    bed.secret("pw", FIRST)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed)


def test_a_spec_that_is_corrected_still_sets_it(bed: Bed) -> None:
    """The Secret's name was wrong at first."""
    with_password(bed, policy="InitialOnly")
    bed.settle()
    bed.secret("right", FIRST)
    reference = {"name": "right", "key": "password"}
    with_password(bed, policy="InitialOnly", passwordSecretRef=reference)
    bed.settle()
    assert can_log_in(bed)


def test_an_adopted_account_keeps_its_password(bed: Bed) -> None:
    Directory(bed).make_user("alice")
    bed.secret("pw", FIRST)
    with_password(bed, policy="InitialOnly")
    bed.run(3)
    assert status(bed)["origin"] == "Adopted"
    assert can_log_in(bed, b"alice's own password")
    assert registrations(bed) == 0
    assert secret_reads(bed) == []
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_an_adopted_account_without_a_password_gets_none(bed: Bed) -> None:
    with bed.lldap.database() as store:
        store.create_user("alice", "alice@example.org")
    bed.secret("pw", FIRST)
    with_password(bed, policy="InitialOnly")
    bed.run(3)
    assert registrations(bed) == 0
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_a_forged_origin_does_not_set_a_password(bed: Bed) -> None:
    Directory(bed).make_user("alice")
    bed.secret("pw", FIRST)
    with_password(bed, policy="InitialOnly")
    bed.settle()
    forged = {**status(bed), "origin": "Created"}
    forged.pop("passwordModifiedDate")
    write_status(bed, forged)
    bed.run(3)
    assert registrations(bed) == 0


# --- without a record ----------------------------------------------------------------------


@pytest.mark.slow
@DATES
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_B04_a_crash_at_any_call_ends_in_a_password_that_works(
    after: bool, whole_seconds: bool
) -> None:
    for number in itertools.count(1):
        bed = Bed(whole_seconds=whole_seconds)
        bed.group("first")
        bed.secret("pw", FIRST)
        bed.settle()
        with_password(bed, policy="InitialOnly")
        crashed = crash_and_restart(bed, number, after=after)
        assert bed.ready("LldapUser", "alice") == ("True", "Verified")
        assert can_log_in(bed)
        if not crashed:
            break
    assert number > 9


@DATES
def test_a_lost_status_sets_nothing(whole_seconds: bool) -> None:
    bed = Bed(whole_seconds=whole_seconds)
    initial(bed)
    bed.secret("pw", SECOND)
    restart_without_status(bed)
    assert registrations(bed) == 0
    assert can_log_in(bed, FIRST)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert status(bed)["passwordModifiedDate"] == password_date(bed)


def test_a_lost_status_without_the_secret_sets_nothing(bed: Bed) -> None:
    initial(bed)
    delete_secret(bed)
    restart_without_status(bed)
    assert (registrations(bed), proofs(bed)) == (0, 0)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


@DATES
def test_a_password_set_by_a_person_before_ours_is_left_alone(whole_seconds: bool) -> None:
    """The Secret came late, and an administrator was faster."""
    bed = Bed(whole_seconds=whole_seconds)
    with_password(bed, policy="InitialOnly")
    bed.run(3)
    assert bed.ready("LldapUser", "alice") == ("False", "SecretNotFound")
    bed.lldap.set_password("alice", HERS)
    bed.secret("pw", FIRST)
    bed.run(3)
    assert can_log_in(bed, HERS.encode())
    assert registrations(bed) == 0
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_in_whole_seconds_it_is_not_set_in_the_second_of_the_creation() -> None:
    bed = Bed(whole_seconds=True)
    bed.secret("pw", FIRST)
    with_password(bed, policy="InitialOnly")
    bed.settle()
    with_password(bed, policy="InitialOnly", displayName="Al")  # a pass more, at once
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "Progressing")
    assert registrations(bed) == 0
    bed.run(2)
    assert can_log_in(bed)
    with bed.lldap.database() as store:
        columns = store.state.users.rows["alice"].columns
    assert columns["password_modified_date"] != columns["creation_date"]


# --- a registration that went wrong --------------------------------------------------------


def upgraded(bed: Bed) -> None:
    bed.lldap.upgrade()
    bed.run(1)


def test_our_registration_of_the_old_version_is_made_again(bed: Bed) -> None:
    """The server was upgraded between the two; the process ended before it saw that."""
    with_password(bed, policy="InitialOnly")
    bed.settle()
    upgraded(bed)
    bed.start()
    register_in(bed, Version.V0_7, "alice", FIRST)
    assert not can_log_in(bed)
    bed.secret("pw", FIRST)
    bed.run(3)
    assert can_log_in(bed)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_somebody_elses_registration_of_the_old_version_is_left_alone(bed: Bed) -> None:
    with_password(bed, policy="InitialOnly")
    bed.settle()
    upgraded(bed)
    bed.start()
    register_in(bed, Version.V0_7, "alice", HERS.encode())
    bed.secret("pw", FIRST)
    bed.run(3)
    assert registrations(bed) == 0
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_a_password_of_before_the_upgrade_is_left_alone(bed: Bed) -> None:
    initial(bed)
    upgraded(bed)
    restart_without_status(bed)
    assert registrations(bed) == 0
    assert can_log_in(bed)
    forget_the_past(bed)
    restart_without_status(bed)  # the login has made a new record of it
    assert registrations(bed) == 0
    assert can_log_in(bed)
