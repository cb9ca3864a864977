"""The group ristretto255, on libsodium.

Elements and scalars are their 32-byte encodings. Any thread: libsodium keeps no state here, and
rbcl gives each call a buffer of its own.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import rbcl

from lldap.opaque.errors import InvalidMessage

ELEMENT_BYTES = 32
IDENTITY = bytes(ELEMENT_BYTES)
ZERO_SCALAR = bytes(32)
WIDE_BYTES = 64  # reduced or mapped from this many bytes, a result is uniform


def _remove_library_copy() -> None:
    """Remove the copy of libsodium that rbcl writes to the temporary directory.

    It writes one of 3 MB at every start and never removes it; the loaded library outlives its
    file. Where an open file cannot be removed it stays.
    """
    copy = getattr(sys.modules.get("rbcl._sodium"), "lib_path", None)
    if copy is not None:
        try:
            Path(copy).unlink(missing_ok=True)
        except OSError:
            return


_remove_library_copy()


def decode_element(encoded: bytes, what: str) -> bytes:
    """`encoded` itself, when it is the canonical encoding of an element that is not the identity.

    Raises InvalidMessage, which names `what`.
    """
    if len(encoded) != ELEMENT_BYTES:
        raise InvalidMessage(f"{what} is not {ELEMENT_BYTES} bytes long")
    # libsodium takes the identity, which would let a server fix the result, and it ignores the
    # highest bit, which is never set in a canonical encoding
    refused = encoded == IDENTITY or encoded[-1] & 0x80
    if refused or not rbcl.crypto_core_ristretto255_is_valid_point(encoded):
        raise InvalidMessage(f"{what} is not an element of ristretto255")
    return encoded


def element_from_uniform(wide: bytes) -> bytes:
    """The one-way map from 64 uniform bytes to an element."""
    return bytes(rbcl.crypto_core_ristretto255_from_hash(wide))


def scalar_from_uniform(wide: bytes) -> bytes:
    """64 bytes, read little-endian, modulo the order of the group."""
    return bytes(rbcl.crypto_core_ristretto255_scalar_reduce(wide))


def random_scalar(random: Callable[[int], bytes]) -> bytes:
    """A uniform scalar that is not zero."""
    scalar = ZERO_SCALAR
    while scalar == ZERO_SCALAR:
        scalar = scalar_from_uniform(random(WIDE_BYTES))
    return scalar


def invert(scalar: bytes) -> bytes:
    """The inverse of a scalar that is not zero."""
    return bytes(rbcl.crypto_core_ristretto255_scalar_invert(scalar))


def multiply(scalar: bytes, element: bytes) -> bytes:
    """`scalar`·`element`, for a scalar that is not zero and an element that was decoded."""
    return bytes(rbcl.crypto_scalarmult_ristretto255(scalar, element))


def public_key(secret: bytes) -> bytes:
    """`secret`·B, for a secret that is not zero."""
    return bytes(rbcl.crypto_scalarmult_ristretto255_base(secret))
