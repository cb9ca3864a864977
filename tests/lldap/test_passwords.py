"""Setting passwords on a server of either version, or on one that is upgraded meanwhile."""

import pytest

from lldap.errors import LoginRefused
from lldap.opaque import Version
from lldap.passwords import PasswordNotConfirmed, UnsupportedServer
from tests.support.password_bed import Bed
from tests.support.password_endpoints import OWN_NAME, Call

V0_7, V4_0 = Version.V0_7, Version.V4_0
each_version = pytest.mark.parametrize("speaks", list(Version), ids=lambda version: version.name)


@each_version
@pytest.mark.parametrize("password", [b"x", "pässwörd ❄".encode(), b"p" * 4096], ids=len)
def test_the_user_can_log_in_with_what_was_set(speaks: Version, password: bytes) -> None:
    bed = Bed(speaks)

    assert bed.passwords.set_password("alice", password) is speaks

    assert bed.lldap.logs_in("alice", password)
    assert not bed.lldap.logs_in("alice", password + b"x")
    assert bed.lldap.logins == 1


def test_a_change_costs_four_calls_of_which_only_the_registration_is_authenticated() -> None:
    bed = Bed(V0_7)
    bed.passwords.set_password("first", b"password")
    del bed.lldap.calls[:]

    bed.passwords.set_password("alice", b"password")

    assert bed.lldap.calls == [
        Call("register/start", "alice", authenticated=True, write=False),
        Call("register/finish", "alice", authenticated=True, write=True),
        Call("login/start", "alice", authenticated=False, write=False),
        Call("login/start", OWN_NAME, authenticated=False, write=False),
    ]


def test_a_change_costs_one_argon2_and_a_login_one_more() -> None:
    bed = Bed(V0_7)

    bed.passwords.set_password("alice", b"password")
    assert bed.stretch.runs == 2
    bed.passwords.set_password("bob", b"password")
    assert bed.stretch.runs == 3

    bed.lldap.renew()
    bed.passwords.set_password("carol", b"password")
    assert bed.stretch.runs == 5, "the kept result goes with the login that it was made for"


def test_what_is_read_of_a_registration_is_read_before_its_proof() -> None:
    bed = Bed(V0_7)
    seen: list[list[str]] = []

    def overwritten_at_first() -> None:
        seen.append(bed.lldap.paths("alice"))
        if len(seen) == 1:
            bed.lldap.set_directly("alice", b"a person's own")

    bed.passwords.set_password("alice", b"password", registered=overwritten_at_first)

    once = ["register/start", "register/finish"]
    assert seen == [once, [*once, "login/start", *once]]
    assert bed.lldap.logs_in("alice", b"password")


@each_version
def test_user_names_are_lower_cased(speaks: Version) -> None:
    bed = Bed(speaks)

    bed.passwords.set_password("Alice.B", b"password")

    assert bed.lldap.logs_in("alice.b", b"password")
    assert bed.passwords.has_password("ALICE.B", b"password")
    assert {call.username for call in bed.lldap.calls} == {"alice.b", OWN_NAME}


def test_the_operators_own_account_is_never_set() -> None:
    bed = Bed(V0_7)

    with pytest.raises(ValueError, match="never managed"):
        bed.passwords.set_password("Operator", b"password")

    assert bed.lldap.paths() == ["login/start"]


@pytest.mark.parametrize("call", range(1, 12))
def test_an_upgrade_before_any_call_ends_with_a_password_that_works(call: int) -> None:
    bed = Bed(V0_7)
    bed.at_call(call, bed.lldap.server.upgrade)

    version = bed.passwords.set_password("alice", b"password")

    assert bed.lldap.logs_in("alice", b"password")
    assert bed.lldap.paths("alice").count("register/finish") <= 2
    # an upgrade behind the last call finds an old record, which the next login re-encodes
    assert version is (V0_7 if call > len(bed.lldap.calls) else V4_0)


def test_an_upgrade_after_the_users_proof_is_seen_by_the_own_proof_that_follows() -> None:
    bed = Bed(V0_7)
    bed.passwords.set_password("first", b"password")
    del bed.lldap.calls[:]
    bed.at_call(4, bed.lldap.server.upgrade)  # register/start, register/finish, proof, own proof

    assert bed.passwords.set_password("alice", b"password") is V4_0

    assert bed.lldap.paths("alice") == ["register/start", "register/finish", "login/start"] * 2
    assert bed.lldap.logins == 2, "the account's own record waited for a login"


def test_a_password_that_is_overwritten_meanwhile_is_registered_again() -> None:
    bed = Bed(V0_7)
    bed.passwords.set_password("first", b"password")
    bed.at_call(3, lambda: bed.lldap.set_directly("alice", b"a person's own"))

    bed.passwords.set_password("alice", b"password")

    assert bed.lldap.logs_in("alice", b"password")
    assert bed.lldap.paths("alice").count("register/finish") == 2


def test_a_password_that_is_never_the_stored_one_is_given_up_after_two_registrations() -> None:
    bed = Bed(V0_7)

    def overwrite(path: str) -> None:
        if path.endswith("login/start") and "alice" in bed.lldap.records:
            bed.lldap.set_directly("alice", b"another")

    bed.lldap.before = overwrite
    with pytest.raises(PasswordNotConfirmed, match="password of alice"):
        bed.passwords.set_password("alice", b"password")

    assert bed.lldap.paths("alice").count("register/finish") == 2


def test_a_server_that_speaks_neither_version_gets_no_registration() -> None:
    bed = Bed(V0_7)
    bed.lldap.tamper = lambda _path, body: {**body, "credential_response": "AAAA"}

    with pytest.raises(UnsupportedServer, match=r"neither OPAQUE 0\.7 nor 4\.0"):
        bed.passwords.set_password("alice", b"password")

    assert bed.lldap.logins == 2
    assert bed.lldap.paths() == ["login/start"] * 4
    assert "alice" not in bed.lldap.records

    bed.lldap.tamper = lambda _path, body: body
    assert bed.passwords.set_password("alice", b"password") is V0_7, "it is looked for again"


def test_once_neither_version_was_found_nothing_is_registered_until_one_is() -> None:
    bed = Bed(V0_7)
    bed.passwords.set_password("first", b"password")
    tamper = bed.lldap.tamper
    bed.lldap.tamper = lambda _path, body: {**body, "credential_response": "AAAA"}
    for _ in range(3):
        with pytest.raises(UnsupportedServer):
            bed.passwords.set_password("alice", b"password")

    assert bed.lldap.paths("alice").count("register/finish") == 1

    bed.lldap.tamper = tamper
    assert bed.passwords.set_password("alice", b"password") is V0_7


def test_a_failed_own_proof_counts_only_after_a_login_with_the_file_read_again() -> None:
    bed = Bed(V0_7)
    bed.lldap.set_directly(OWN_NAME, b"rotated password")
    bed.lldap.file = b"rotated password"

    assert bed.passwords.set_password("alice", b"password") is V0_7

    assert bed.lldap.logins == 2


def test_a_refused_new_login_is_what_the_caller_sees() -> None:
    bed = Bed(V0_7)
    bed.lldap.set_directly(OWN_NAME, b"not in the file")

    with pytest.raises(LoginRefused):
        bed.passwords.set_password("alice", b"password")

    assert "alice" not in bed.lldap.records
