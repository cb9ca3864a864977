"""The client of version 0.7."""

import os
import random

import pytest

from lldap.opaque import Argon2, ClientV07, InvalidMessage, KeptKey
from lldap.opaque.oprf import Blinded, finalize, hash_to_group
from lldap.opaque.ristretto255 import multiply, random_scalar
from sandbox.lldap.opaque import CountedStretching
from tests.support.opaque_vectors import RecordedRandomness, Vector, load_vectors

ARGON2 = Argon2(permits=2)
each_vector = pytest.mark.parametrize("vector", load_vectors(), ids=lambda vector: vector.username)


@each_vector
def test_registration_is_that_of_the_real_crate(vector: Vector) -> None:
    recorded = vector.registration
    drawn = RecordedRandomness(recorded["blind_random_bytes"], recorded["envelope_nonce"])
    client = ClientV07(random=drawn, stretch=ARGON2)

    registration = client.begin_registration(vector.password, KeptKey())

    assert registration.request == recorded["request"]
    assert registration.finish(recorded["response"]) == recorded["upload"]
    assert drawn.left == b""


@each_vector
def test_proof_request_is_that_of_the_real_crate_and_proves_the_password(vector: Vector) -> None:
    drawn = RecordedRandomness(vector.login["client_random_bytes"])
    client = ClientV07(random=drawn, stretch=ARGON2)

    proof = client.begin_proof(vector.password, KeptKey())

    assert proof.request == vector.login["request"]
    assert proof.check(vector.login["response"])
    assert drawn.left == b""


@each_vector
def test_another_password_is_not_proved(vector: Vector) -> None:
    drawn = RecordedRandomness(vector.login["client_random_bytes"])
    client = ClientV07(random=drawn, stretch=ARGON2)

    proof = client.begin_proof(vector.password + b"x", KeptKey())

    assert not proof.check(vector.login["response"])


@each_vector
def test_one_argon2_serves_the_registration_and_the_proof(vector: Vector) -> None:
    recorded = vector.registration
    drawn = RecordedRandomness(
        recorded["blind_random_bytes"],
        recorded["envelope_nonce"],
        vector.login["client_random_bytes"],
    )
    stretch = CountedStretching(ARGON2)
    client, kept = ClientV07(random=drawn, stretch=stretch), KeptKey()

    client.begin_registration(vector.password, kept).finish(recorded["response"])

    assert client.begin_proof(vector.password, kept).check(vector.login["response"])
    assert stretch.runs == 1


def test_a_kept_key_never_serves_another_password() -> None:
    vector, *_ = load_vectors()
    stretch = CountedStretching(ARGON2)
    client, kept = ClientV07(random=os.urandom, stretch=stretch), KeptKey()
    client.begin_registration(vector.password, kept).finish(vector.registration["response"])

    drawn = RecordedRandomness(vector.login["client_random_bytes"])
    other = ClientV07(random=drawn, stretch=stretch).begin_proof(b"another", kept)

    assert not other.check(vector.login["response"])
    assert stretch.runs == 2


def test_the_function_does_not_depend_on_the_blind() -> None:
    password, key = b"correct horse", random_scalar(os.urandom)
    expected = finalize(password, multiply(key, hash_to_group(password)))

    for seed in range(20):
        blinded = Blinded(password, random.Random(seed).randbytes)
        assert blinded.finalize(multiply(key, blinded.request)) == expected


def test_a_zero_blind_is_drawn_again() -> None:
    usable = random.Random(1).randbytes(64)

    blinded = Blinded(b"password", RecordedRandomness(bytes(64), usable))

    assert blinded.request == Blinded(b"password", RecordedRandomness(usable)).request


def test_an_answer_that_is_the_request_is_refused() -> None:
    vector, *_ = load_vectors()
    client = ClientV07(random=os.urandom, stretch=ARGON2)
    registration = client.begin_registration(b"password", KeptKey())
    proof = client.begin_proof(b"password", KeptKey())

    with pytest.raises(InvalidMessage, match="the one that was sent"):
        registration.finish(registration.request + vector.registration["response"][32:])
    with pytest.raises(InvalidMessage, match="the one that was sent"):
        proof.check(proof.request[:32] + vector.login["response"][32:])
