"""The record of a password: lost, forged, under another key, or behind what lldap has."""

import itertools

import pytest

from controller.api import RECONCILE_AT_ANNOTATION
from tests.support.accounts import (
    FIRST,
    can_log_in,
    password_date,
    proofs,
    registrations,
    restart_without_status,
    resync,
    secret_with,
    settled_user,
    status,
    write_status,
)
from tests.support.bed import Bed

# --- the record ----------------------------------------------------------------------------


@pytest.mark.parametrize("whole_seconds", [False, True])
def test_a_lost_status_registers_nothing(whole_seconds: bool) -> None:
    bed = Bed(whole_seconds=whole_seconds)
    settled_user(bed)
    before = status(bed)
    restart_without_status(bed)
    assert registrations(bed) == 0
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    kept = ("passwordHash", "passwordSecret", "passwordModifiedDate", "uuid", "origin", "managed")
    assert {k: status(bed)[k] for k in kept} == {k: before[k] for k in kept}


@pytest.mark.parametrize("whole_seconds", [False, True])
@pytest.mark.parametrize(
    "keys", [*itertools.permutations([b"1" * 32, b"2" * 32, None], 2)], ids=str
)
def test_another_hash_key_registers_nothing(
    keys: tuple[bytes | None, bytes | None], whole_seconds: bool
) -> None:
    bed = Bed(whole_seconds=whole_seconds)
    bed.start(hash_key=keys[0])
    settled_user(bed)
    before = status(bed)["passwordHash"]
    bed.start(hash_key=keys[1])
    bed.secret("other", b"x")
    secret_with(bed, {"password": FIRST}, labels={"a": "b"})  # so that the Secret is read
    bed.run(3)
    assert registrations(bed) == 0
    assert proofs(bed) == 1
    assert status(bed)["passwordHash"] != before
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_a_forged_record_makes_the_operator_do_less_and_never_more(bed: Bed) -> None:
    settled_user(bed)
    forged = {
        **status(bed),
        "passwordHash": "0" * 64,
        "passwordModifiedDate": "2000-01-01T00:00:00Z",
    }
    write_status(bed, forged)
    bed.settle()
    assert registrations(bed) == 0
    assert proofs(bed) == 1
    assert status(bed)["passwordModifiedDate"] == password_date(bed)


# --- repair --------------------------------------------------------------------------------


def test_a_password_changed_behind_our_back_is_repaired(bed: Bed) -> None:
    settled_user(bed)
    bed.lldap.set_password("alice", "something else")
    resync(bed)
    assert can_log_in(bed, FIRST)
    assert (proofs(bed), registrations(bed)) == (2, 1)  # the second proof is the registration's
    assert status(bed)["passwordModifiedDate"] == password_date(bed)
    assert bed.events.reasons() == ["PasswordSet"]


def test_the_same_password_set_anew_is_proved_and_kept(bed: Bed) -> None:
    settled_user(bed)
    bed.lldap.set_password("alice", FIRST.decode())
    resync(bed, 2)
    assert (proofs(bed), registrations(bed)) == (1, 0)
    assert status(bed)["passwordModifiedDate"] == password_date(bed)


def test_reconcile_at_asks_for_a_proof_once_a_value(bed: Bed) -> None:
    settled_user(bed)
    annotate(bed, "1")
    bed.settle()
    assert (proofs(bed), registrations(bed)) == (1, 0)
    assert status(bed)["reconcileAt"] == "1"
    resync(bed)
    assert proofs(bed) == 1
    annotate(bed, "2")
    bed.settle()
    assert proofs(bed) == 2
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def annotate(bed: Bed, value: str) -> None:
    bed.admin.patch(
        bed.path("LldapUser", "team-a", "alice"),
        {"metadata": {"annotations": {RECONCILE_AT_ANNOTATION: value}}},
        content_type="application/merge-patch+json",
    )


def test_reconcile_at_repairs_what_no_date_shows(bed: Bed) -> None:
    settled_user(bed)
    date = password_date(bed)
    bed.lldap.set_password("alice", "something else")
    with bed.lldap.database() as store:
        store.state.users.rows["alice"].columns["password_modified_date"] = date
    resync(bed)
    assert not can_log_in(bed)
    annotate(bed, "now")
    bed.settle()
    assert can_log_in(bed)
    assert status(bed)["reconcileAt"] == "now"
