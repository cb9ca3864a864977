"""Which bytes count as an element of the group."""

import hashlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lldap.opaque import InvalidMessage
from lldap.opaque.ristretto255 import (
    IDENTITY,
    decode_element,
    element_from_uniform,
    invert,
    multiply,
    scalar_from_uniform,
)

P = 2**255 - 19
uniform = st.binary(max_size=16).map(lambda value: hashlib.sha512(value).digest())


@given(uniform)
def test_what_the_map_gives_is_an_element(wide: bytes) -> None:
    element = element_from_uniform(wide)

    assert decode_element(element, "it") == element


@given(uniform, uniform)
def test_the_inverse_undoes_a_multiplication(wide: bytes, secret: bytes) -> None:
    element, scalar = element_from_uniform(wide), scalar_from_uniform(secret)

    assert multiply(invert(scalar), multiply(scalar, element)) == element


@given(uniform)
def test_another_encoding_of_an_element_is_refused(wide: bytes) -> None:
    number = int.from_bytes(element_from_uniform(wide), "little")

    for other in (number | 1 << 255, P - number, number | 1):
        with pytest.raises(InvalidMessage, match="it is not an element"):
            decode_element(other.to_bytes(32, "little"), "it")


@pytest.mark.parametrize("encoding", [0, P, P + 2, 1 << 255, 1, 2**256 - 1])
def test_identity_and_numbers_beyond_the_field_are_refused(encoding: int) -> None:
    with pytest.raises(InvalidMessage):
        decode_element(encoding.to_bytes(32, "little"), "it")


@given(st.binary(max_size=80).filter(lambda value: len(value) != len(IDENTITY)))
def test_another_length_is_refused(encoded: bytes) -> None:
    with pytest.raises(InvalidMessage, match="32 bytes"):
        decode_element(encoded, "it")


@pytest.mark.slow
def test_a_start_leaves_no_copy_of_the_library_behind(tmp_path: object) -> None:
    code = "import os, lldap.opaque.ristretto255; print(os.listdir(os.environ['TMPDIR']))"
    environment = {"TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}

    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
