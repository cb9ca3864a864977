"""The seal: what the operator recorded, and nothing that anybody else could have written."""

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.ownership.seal import LONGEST, Sealer

KEY = b"k" * 32
VALUES = st.lists(st.text(max_size=8), max_size=4)


def test_the_seal_is_the_documented_one() -> None:
    message = b"record" + b"\x00\x03uid" + b"\x00\x07default" + b"\x00\x01a" + b"\x00\x0242"
    expected = hmac.new(KEY, message, hashlib.sha256).hexdigest()
    assert Sealer(KEY).seal("uid", "default", ["a", 42]) == expected


@given(VALUES, VALUES)
def test_no_two_lists_have_one_seal(one: list[str], other: list[str]) -> None:
    sealer = Sealer(KEY)
    seal = sealer.seal("uid", "default", one)
    assert sealer.holds(seal, "uid", "default", other) == (one == other)


@given(st.text(max_size=8), st.text(max_size=8))
def test_a_seal_counts_for_one_object_and_one_instance(uid: str, instance: str) -> None:
    sealer = Sealer(KEY)
    seal = sealer.seal("uid", "default", ["a"])
    assert sealer.holds(seal, uid, instance, ["a"]) == ((uid, instance) == ("uid", "default"))


def test_another_key_breaks_the_seal() -> None:
    seal = Sealer(KEY).seal("uid", "default", ["a"])
    assert not Sealer(b"l" * 32).holds(seal, "uid", "default", ["a"])


def test_without_a_key_nothing_is_sealed_and_no_seal_holds() -> None:
    sealer = Sealer(None)
    assert sealer.seal("uid", "default", ["a"]) is None
    assert not sealer.holds(Sealer(KEY).seal("uid", "default", ["a"]), "uid", "default", ["a"])
    assert not sealer.holds(None, "uid", "default", ["a"])


@pytest.mark.parametrize("seal", [None, 7, "", "0" * 64, "ä" * 64, ["a"], {"a": 1}])
def test_whatever_stands_in_its_place_does_not_hold(seal: object) -> None:
    assert not Sealer(KEY).holds(seal, "uid", "default", ["a"])


def test_a_value_that_is_too_long_for_its_length_does_not_hold() -> None:
    assert not Sealer(KEY).holds("0" * 64, "uid", "default", ["x" * (LONGEST + 1)])


def test_the_key_is_not_shown() -> None:
    assert "k" * 32 not in repr(Sealer(KEY))


def test_a_password_hash_is_keyed_and_salted_by_the_object() -> None:
    sealer = Sealer(KEY)
    message = b"\x00\x03uid" + b"secret-1"
    expected = hmac.new(KEY, message, hashlib.sha256).hexdigest()
    assert sealer.password_hash("uid", b"secret-1") == expected
    assert sealer.password_hash("other", b"secret-1") != expected


def test_without_a_key_a_password_hash_is_plain_as_the_documents_say() -> None:
    expected = hashlib.sha256(b"secret-1").hexdigest()
    assert Sealer(None).password_hash("uid", b"secret-1") == expected
