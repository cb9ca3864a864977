"""Manage: lldap's password is kept equal to the Secret's."""

import hashlib
import hmac

from tests.support.accounts import (
    FIRST,
    SECOND,
    calls_of,
    can_log_in,
    delete_secret,
    forget_the_past,
    password_date,
    proofs,
    reference,
    registrations,
    resync,
    secret_reads,
    secret_with,
    settled_user,
    status,
    touching,
    with_password,
)
from tests.support.bed import HASH_KEY, Bed
from tests.support.directory import Directory

# --- setting it ----------------------------------------------------------------------------


def test_a_new_account_gets_its_password_and_the_record_of_it(bed: Bed) -> None:
    bed.secret("pw", FIRST)
    with_password(bed)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed)
    assert bed.events.reasons() == ["Created", "PasswordSet"]
    found = status(bed)
    secret = bed.admin.get("/api/v1/namespaces/team-a/secrets/pw")["metadata"]
    assert found["passwordSecret"] == {
        "uid": secret["uid"],
        "resourceVersion": secret["resourceVersion"],
    }
    assert found["passwordModifiedDate"] == password_date(bed)
    assert found["managed"] == ["email", "passwordSecretRef"]
    assert touching(bed) == [("PATCH", ""), ("PATCH", "/status")]


def test_a_new_account_is_ready_only_when_its_password_works(bed: Bed) -> None:
    with_password(bed)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "SecretNotFound")
    bed.secret("pw", FIRST)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed)


def test_the_fingerprint_is_keyed_and_salted_by_the_object(bed: Bed) -> None:
    settled_user(bed)
    uid = bed.get("LldapUser", "alice")["metadata"]["uid"].encode()
    message = len(uid).to_bytes(2, "big") + uid + FIRST
    expected = hmac.new(HASH_KEY, message, hashlib.sha256).hexdigest()
    assert status(bed)["passwordHash"] == expected


def test_without_a_key_the_fingerprint_is_sha_256_of_the_value(bed: Bed) -> None:
    bed.start(hash_key=None)
    settled_user(bed)
    assert status(bed)["passwordHash"] == hashlib.sha256(FIRST).hexdigest()


def test_J04_two_users_with_one_password_have_different_fingerprints(bed: Bed) -> None:
    bed.secret("pw", FIRST, "team-b")
    settled_user(bed, "alice")
    settled_user(bed, "bob")
    spec = {"passwordPolicy": "Manage", "passwordSecretRef": reference()}
    bed.user("carol", "team-b", **spec)
    bed.settle()
    found = [status(bed), status(bed, "bob"), status(bed, "carol", "team-b")]
    assert len({each["passwordHash"] for each in found}) == 3
    words = (b"password", b"12345678", FIRST)
    plain = {hashlib.sha256(word).hexdigest() for word in words}
    assert plain.isdisjoint(each["passwordHash"] for each in found)


# --- leaving it alone ----------------------------------------------------------------------


def test_B02_a_password_is_registered_once_whatever_is_restarted(bed: Bed) -> None:
    settled_user(bed)
    date = password_date(bed)
    resync(bed, 3)
    bed.start()
    resync(bed)
    bed.start()
    resync(bed)
    assert registrations(bed) == proofs(bed) == 0
    assert password_date(bed) == date
    assert secret_reads(bed) == []


def test_a_settled_user_costs_no_call(bed: Bed) -> None:
    settled_user(bed)
    for _ in range(5):
        bed.operator.compare_all()
        bed.settle()
    assert bed.operations() == []
    assert touching(bed) == []
    assert secret_reads(bed) == []


def test_J01_a_change_of_a_secrets_metadata_registers_and_proves_nothing(bed: Bed) -> None:
    settled_user(bed)
    secret_with(bed, {"password": FIRST}, labels={"a": "b"}, annotations={"c": "d"})
    bed.settle()
    assert registrations(bed) == proofs(bed) == 0
    assert secret_reads(bed) == ["team-a/secrets/pw"]
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    forget_the_past(bed)
    resync(bed)
    assert secret_reads(bed) == []


def test_J01_a_secret_made_anew_with_the_same_value_registers_nothing(bed: Bed) -> None:
    settled_user(bed)
    delete_secret(bed)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "SecretNotFound")
    bed.secret("pw", FIRST)
    bed.settle()
    assert registrations(bed) == proofs(bed) == 0
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_another_key_of_the_secret_with_the_same_value_registers_nothing(bed: Bed) -> None:
    settled_user(bed)
    secret_with(bed, {"password": FIRST, "other": FIRST})
    with_password(bed, passwordSecretRef=reference(key="other"))
    bed.settle()
    assert registrations(bed) == proofs(bed) == 0
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_J06_secrets_are_listed_and_watched_as_metadata_only(bed: Bed) -> None:
    for number in range(20):
        bed.secret(f"unrelated-{number}", b"x" * 100)
    bed.secret("pw", FIRST)
    bed.start()
    with_password(bed)
    bed.settle()
    assert secret_reads(bed) == ["team-a/secrets/pw"]
    listed = [a.call for a in bed.api_transport.calls if a.call.path.endswith("/secrets")]
    assert listed
    assert all("PartialObjectMetadata" in call.headers["accept"] for call in listed)


# --- rotation ------------------------------------------------------------------------------


def test_J01_a_changed_secret_is_registered_at_once(bed: Bed) -> None:
    settled_user(bed)
    bed.secret("pw", SECOND)
    bed.settle()
    assert can_log_in(bed, SECOND)
    assert not can_log_in(bed, FIRST)
    assert registrations(bed) == 1
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_J01_only_the_users_whose_value_changed_are_registered(bed: Bed) -> None:
    values = {"alice": b"value of alice", "bob": b"value of bob", "carol": b"value of carol"}
    secret_with(bed, values)
    for name in values:
        with_password(bed, name, passwordSecretRef=reference(key=name))
    bed.settle()
    forget_the_past(bed)
    secret_with(bed, {**values, "bob": SECOND})
    bed.settle()
    assert [registrations(bed, name) for name in values] == [0, 1, 0]
    assert [proofs(bed, name) for name in ("alice", "carol")] == [0, 0]
    assert can_log_in(bed, SECOND, "bob")
    assert can_log_in(bed, values["alice"], "alice")


def test_two_users_may_have_one_secret(bed: Bed) -> None:
    settled_user(bed, "alice")
    settled_user(bed, "bob")
    bed.secret("pw", SECOND)
    bed.settle()
    assert can_log_in(bed, SECOND, "alice")
    assert can_log_in(bed, SECOND, "bob")
    assert registrations(bed) == 2


def test_J01_an_immutable_secret_is_replaced(bed: Bed) -> None:
    bed.secret("pw", FIRST)
    path = "/api/v1/namespaces/team-a/secrets/pw"
    merge = "application/merge-patch+json"
    bed.admin.patch(path, {"immutable": True}, content_type=merge)
    settled_user(bed)
    delete_secret(bed)
    bed.secret("pw", SECOND)
    bed.settle()
    assert can_log_in(bed, SECOND)
    assert registrations(bed) == 1


def test_another_secret_in_the_spec_is_another_password(bed: Bed) -> None:
    settled_user(bed)
    bed.secret("other", SECOND)
    with_password(bed, passwordSecretRef=reference("other"))
    bed.settle()
    assert can_log_in(bed, SECOND)
    assert registrations(bed) == 1


def test_a_password_that_lldap_has_already_is_not_registered(bed: Bed) -> None:
    """A person changed it first and then told the Secret."""
    settled_user(bed)
    bed.lldap.set_password("alice", SECOND.decode())
    bed.secret("pw", SECOND)
    bed.settle()
    assert registrations(bed) == 0
    assert proofs(bed) == 1
    assert status(bed)["passwordModifiedDate"] == password_date(bed)
    forget_the_past(bed)
    resync(bed, 2)
    assert proofs(bed) == 0


# --- adopted accounts ----------------------------------------------------------------------


def test_an_adopted_account_gets_the_password_of_the_secret(bed: Bed) -> None:
    Directory(bed).make_user("alice")
    bed.secret("pw", FIRST)
    with_password(bed)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert status(bed)["origin"] == "Adopted"
    assert can_log_in(bed)


def test_the_password_of_another_lldap_is_proved_before_it_is_set(bed: Bed) -> None:
    settled_user(bed)
    bed.lldap.reinstall()
    resync(bed)
    bed.run(10)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed)
    assert calls_of(bed, "createUser")
