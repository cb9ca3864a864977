"""The two versions against each other, and the upgrade from one to the other."""

import os

import pytest

from lldap.opaque import Client, ClientV07, ClientV40, KeptKey, Version
from sandbox.lldap.opaque import (
    OldRecordError,
    PasswordRecord,
    PasswordServer,
    cheap_stretching,
)

V0_7, V4_0 = Version.V0_7, Version.V4_0
CLIENTS: dict[Version, Client] = {
    V0_7: ClientV07(random=os.urandom, stretch=cheap_stretching),
    V4_0: ClientV40(),
}


def server_that_speaks(version: Version) -> PasswordServer:
    return PasswordServer(version, seed=b"seed", random=os.urandom, stretch=cheap_stretching)


def register(server: PasswordServer, version: Version) -> PasswordRecord:
    registration = CLIENTS[version].begin_registration(b"password", KeptKey())
    response = server.registration_start("alice", registration.request)
    return server.registration_finish(registration.finish(response))


def proved(server: PasswordServer, record: PasswordRecord, version: Version) -> bool:
    proof = CLIENTS[version].begin_proof(b"password", KeptKey())
    return proof.check(server.login_start("alice", proof.request, record).response)


@pytest.mark.parametrize(
    ("registered_with", "speaks", "logs_in", "by_07", "by_40"),
    [
        (V0_7, V0_7, True, True, False),
        (V4_0, V0_7, False, False, False),
        (V0_7, V4_0, False, True, False),
        (V4_0, V4_0, True, False, True),
    ],
)
def test_only_a_registration_in_the_version_of_the_server_lets_its_user_log_in(
    registered_with: Version, speaks: Version, logs_in: bool, by_07: bool, by_40: bool
) -> None:
    server = server_that_speaks(speaks)

    record = register(server, registered_with)  # no error, whatever the version

    assert (server.simple_login("alice", b"password", record) is not None) == logs_in
    assert proved(server, record, V0_7) == by_07
    assert proved(server, record, V4_0) == by_40


def test_an_upgraded_server_re_encodes_a_record_at_its_owners_next_login() -> None:
    server = server_that_speaks(V0_7)
    record = register(server, V0_7)
    server.upgrade()

    assert server.simple_login("alice", b"wrong", record) is None
    renewed = server.simple_login("alice", b"password", record)

    assert renewed is not None
    assert renewed.version is V4_0
    assert proved(server, renewed, V4_0)
    assert not proved(server, renewed, V0_7)
    assert server.simple_login("alice", b"password", renewed) is renewed


def test_an_old_record_is_a_conflict_and_is_proved_at_the_end_point_of_07() -> None:
    server = server_that_speaks(V0_7)
    record = register(server, V0_7)
    server.upgrade()
    right = CLIENTS[V0_7].begin_proof(b"password", KeptKey())
    wrong = CLIENTS[V0_7].begin_proof(b"wrong", KeptKey())

    with pytest.raises(OldRecordError):
        proved(server, record, V0_7)
    with pytest.raises(OldRecordError):
        proved(server, record, V4_0)
    assert right.check(server.v07_login_start("alice", right.request, record).response)
    assert not wrong.check(server.v07_login_start("alice", wrong.request, record).response)


def test_the_end_point_of_07_proves_no_record_of_40() -> None:
    server = server_that_speaks(V4_0)
    record = register(server, V0_7)  # the trap: stored as one of 4.0
    proof = CLIENTS[V0_7].begin_proof(b"password", KeptKey())

    assert proved(server, record, V0_7)
    assert not proof.check(server.v07_login_start("alice", proof.request, record).response)
    assert not proof.check(server.v07_login_start("alice", proof.request, None).response)


def test_a_login_of_a_user_without_a_password_is_refused() -> None:
    assert server_that_speaks(V0_7).simple_login("alice", b"", None) is None


def test_the_setup_follows_from_the_seed() -> None:
    record = register(server_that_speaks(V4_0), V4_0)

    assert proved(server_that_speaks(V4_0), record, V4_0)
