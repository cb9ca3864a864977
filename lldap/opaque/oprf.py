"""The oblivious pseudorandom function of version 0.7, the client's side of it.

The server applies its key to a blinded password: it does not learn the password, and the client
does not learn the key. The result does not depend on the blind.
"""

from collections.abc import Callable

from lldap.opaque import hashing, ristretto255

_CONTEXT = b"\x00\x00\x01"  # base mode, suite 0x0001
_HASH_TO_GROUP = b"VOPRF06-HashToGroup-" + _CONTEXT
_FINALIZE = hashing.with_length(b"VOPRF06-Finalize-" + _CONTEXT)


def hash_to_group(password: bytes) -> bytes:
    """The element that stands for `password`."""
    return ristretto255.element_from_uniform(hashing.expand_message(password, _HASH_TO_GROUP))


def finalize(password: bytes, evaluated: bytes) -> bytes:
    """The function's output, from key·hash_to_group(password)."""
    parts = hashing.with_length(password) + hashing.with_length(evaluated) + _FINALIZE
    return hashing.sha512(parts)


class Blinded:
    """One evaluation: `request` goes to the server, `finalize` takes its answer."""

    __slots__ = ("_blind", "_password", "request")

    def __init__(self, password: bytes, random: Callable[[int], bytes]) -> None:
        self._password = password
        self._blind = ristretto255.random_scalar(random)
        self.request = ristretto255.multiply(self._blind, hash_to_group(password))

    def finalize(self, evaluated: bytes) -> bytes:
        """The function's output, from the element that the server answered (decoded)."""
        unblinded = ristretto255.multiply(ristretto255.invert(self._blind), evaluated)
        return finalize(self._password, unblinded)
