"""Manage where lldap keeps dates in whole seconds: two changes may have the same date."""

from tests.support.accounts import (
    FIRST,
    SECOND,
    can_log_in,
    password_date,
    proofs,
    registrations,
    resync,
    secret_reads,
    settled_user,
    status,
    with_password,
    write_status,
)
from tests.support.bed import Bed


def test_a_date_in_whole_seconds_counts_after_one_more_proof() -> None:
    bed = Bed(whole_seconds=True)
    bed.secret("pw", FIRST)
    with_password(bed)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "Progressing")
    assert can_log_in(bed)
    assert "passwordModifiedDate" not in status(bed)
    bed.run(2)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert status(bed)["passwordModifiedDate"] == password_date(bed)
    assert (registrations(bed), proofs(bed)) == (1, 2)


def test_a_change_within_the_same_second_is_repaired() -> None:
    bed = Bed(whole_seconds=True)
    bed.secret("pw", FIRST)
    with_password(bed)
    bed.settle()
    date = password_date(bed)
    bed.lldap.set_password("alice", "something else")
    assert password_date(bed) == date
    bed.run(5)
    assert can_log_in(bed)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_a_pass_within_the_same_second_is_no_proof_after_it() -> None:
    bed = Bed(whole_seconds=True)
    bed.secret("pw", FIRST)
    with_password(bed)
    bed.settle()
    with_password(bed, displayName="Al")  # a pass more, at once
    bed.settle()
    date = password_date(bed)
    bed.lldap.set_password("alice", "something else")
    assert password_date(bed) == date
    bed.run(5)
    assert can_log_in(bed)


def test_a_crash_within_the_same_second_is_no_proof_after_it() -> None:
    bed = Bed(whole_seconds=True)
    bed.secret("pw", FIRST)
    with_password(bed)
    bed.settle()
    write_status(bed, {})
    bed.start()
    bed.settle()
    date = password_date(bed)
    bed.lldap.set_password("alice", "something else")
    assert password_date(bed) == date
    bed.run(5)
    assert can_log_in(bed)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_a_database_from_before_a_registration_is_not_taken_for_proved() -> None:
    bed = Bed(whole_seconds=True)
    settled_user(bed)
    backup = bed.lldap.snapshot()
    bed.secret("pw", SECOND)
    bed.settle()
    assert can_log_in(bed, SECOND)
    bed.lldap.restore(backup)  # within the second after the registration
    bed.run(5)
    assert can_log_in(bed, SECOND)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_in_whole_seconds_a_settled_user_costs_nothing_either() -> None:
    bed = Bed(whole_seconds=True)
    settled_user(bed)
    resync(bed, 2)
    bed.start()
    resync(bed)
    assert registrations(bed) == proofs(bed) == 0
    assert secret_reads(bed) == []
