"""Proving passwords on a server of either version, or on one that is upgraded meanwhile."""

import pytest

from lldap.errors import Conflict
from lldap.opaque import Version
from lldap.passwords import PasswordNotConfirmed
from tests.support.password_bed import Bed
from tests.support.password_endpoints import OWN_NAME, OWN_PASSWORD

V0_7, V4_0 = Version.V0_7, Version.V4_0
each_version = pytest.mark.parametrize("speaks", list(Version), ids=lambda version: version.name)


@each_version
def test_has_password_tells_the_stored_password_from_all_others(speaks: Version) -> None:
    bed = Bed(speaks)
    bed.lldap.set_directly("alice", b"password")

    assert bed.passwords.has_password("alice", b"password")
    assert not bed.passwords.has_password("alice", b"other")
    assert not bed.passwords.has_password("nobody", b"password")
    assert {call.write for call in bed.lldap.calls} == {False}


def test_has_password_proves_a_record_that_waits_for_its_owners_login_in_the_old_version() -> None:
    bed = Bed(V0_7)
    bed.lldap.set_directly("alice", b"password")
    bed.lldap.server.upgrade()

    assert bed.passwords.has_password("alice", b"password")
    assert not bed.passwords.has_password("alice", b"other")
    assert "v07/login/start" in bed.lldap.paths("alice")
    assert not bed.passwords.is_misregistered("alice", b"password")


@pytest.mark.parametrize("username", ["alice", OWN_NAME])
def test_another_conflict_is_no_old_record(username: str) -> None:
    bed = Bed(V4_0)
    bed.passwords.has_password("alice", b"password")

    def conflict(_path: str) -> None:
        call = bed.lldap.calls[-1]
        if (call.username, call.path) == (username, "login/start"):
            raise Conflict("HTTP 409", "something_new")

    bed.lldap.before = conflict
    with pytest.raises(Conflict):
        bed.passwords.has_password("alice", b"password")


@pytest.mark.parametrize(
    ("registered_in", "speaks", "works", "misregistered"),
    [
        (V0_7, V0_7, True, False),
        (V4_0, V0_7, False, False),
        (V0_7, V4_0, False, True),
        (V4_0, V4_0, True, False),
    ],
)
def test_a_password_registered_in_the_wrong_version_is_not_one_that_works(
    registered_in: Version, speaks: Version, works: bool, misregistered: bool
) -> None:
    bed = Bed(speaks)
    bed.register_in(registered_in, "alice", b"password")
    assert bed.lldap.logs_in("alice", b"password") == works

    assert bed.passwords.has_password("alice", b"password") == works
    assert bed.passwords.is_misregistered("alice", b"password") == misregistered
    assert not bed.passwords.is_misregistered("alice", b"other")


def test_a_proof_in_the_version_of_before_an_upgrade_does_not_count() -> None:
    bed = Bed(V0_7)
    bed.passwords.has_password("alice", b"password")  # 0.7 is known now
    bed.lldap.server.upgrade()
    bed.register_in(V0_7, "alice", b"password")  # what an older client does; nobody can log in

    assert not bed.passwords.has_password("alice", b"password")
    assert bed.passwords.is_misregistered("alice", b"password")


def test_a_server_that_changes_its_version_all_the_time_confirms_nothing() -> None:
    bed = Bed(V0_7)
    lldap, records = bed.lldap, {}
    for version in Version:
        lldap.server.speaks = version
        lldap.set_directly(OWN_NAME, OWN_PASSWORD)
        lldap.set_directly("alice", b"password")
        records[version] = dict(lldap.records)

    def flip(_path: str) -> None:
        if lldap.calls[-1].username == "alice":
            lldap.server.speaks = V4_0 if lldap.server.speaks is V0_7 else V0_7
            lldap.records = records[lldap.server.speaks]

    lldap.before = flip
    with pytest.raises(PasswordNotConfirmed, match="changed its version"):
        bed.passwords.has_password("alice", b"password")
