"""The server's side of version 0.7 answers to the byte what opaque-ke 0.7.0 answered."""

import os

import pytest

from lldap.opaque import Argon2, ClientV07, InvalidMessage, KeptKey
from sandbox.lldap.opaque import ServerV07, cheap_stretching
from tests.support.opaque_vectors import RecordedRandomness, Vector, load_vectors

ARGON2 = Argon2(permits=2)
VECTORS = load_vectors()
each_vector = pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.username)


def server_of(vector: Vector, *randomness: bytes) -> ServerV07:
    drawn = RecordedRandomness(*randomness)
    return ServerV07(vector.server_setup, random=drawn, stretch=ARGON2)


@each_vector
def test_registration_response_is_that_of_the_real_crate(vector: Vector) -> None:
    recorded = vector.registration
    server = server_of(vector)

    assert server.registration_start(vector.username, recorded["request"]) == recorded["response"]
    assert server.registration_finish(recorded["upload"]) == recorded["upload"]


@each_vector
def test_credential_response_and_finalization_are_those_of_the_real_crate(vector: Vector) -> None:
    recorded = vector.login
    server = server_of(vector, recorded["server_random_bytes"])

    start = server.login_start(vector.username, recorded["request"], vector.registration["upload"])

    assert start.response == recorded["response"]
    assert start.state == recorded["finalization"]


@each_vector
def test_the_registered_password_is_verified_and_no_other(vector: Vector) -> None:
    server, record = server_of(vector), vector.registration["upload"]

    assert server.verify(vector.username, vector.password, record)
    assert not server.verify(vector.username, vector.password + b"x", record)
    assert not server.verify("somebody-else", vector.password, record)


def test_an_answer_without_a_record_is_well_formed_and_fits_no_password() -> None:
    vector = VECTORS[0]
    server = ServerV07(vector.server_setup, random=os.urandom, stretch=cheap_stretching)
    client = ClientV07(random=os.urandom, stretch=cheap_stretching)
    proof = client.begin_proof(vector.password, KeptKey())

    first = server.login_start("nobody", proof.request, None).response
    second = server.login_start("nobody", proof.request, None).response

    assert len(first) == len(second) == 320
    assert first[:32] == second[:32], "the same user is evaluated with the same key"
    assert first[32:] != second[32:]
    assert not proof.check(first)


@pytest.mark.parametrize("bad", [b"", bytes(32), b"\xff" * 32, bytes(31), bytes(33)])
def test_a_request_that_is_no_element_is_an_invalid_message(bad: bytes) -> None:
    vector = VECTORS[0]
    server = server_of(vector)

    with pytest.raises(InvalidMessage):
        server.registration_start("alice", bad)
    with pytest.raises(InvalidMessage):
        server.login_start("alice", bad + vector.login["request"][32:], None)
    with pytest.raises(InvalidMessage):
        server.login_start("alice", vector.login["request"][:64] + bad, None)
    with pytest.raises(InvalidMessage):
        server.registration_finish(bad + vector.registration["upload"][32:])
    with pytest.raises(InvalidMessage):
        server.registration_finish(vector.registration["upload"][:-1])
