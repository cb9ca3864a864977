"""The server's long-lived secrets, in the layout of opaque-ke 0.7."""

import hashlib
from typing import NamedTuple

from lldap.opaque import ristretto255
from lldap.opaque.messages import split

_OPRF_SEED_BYTES = 64


class ServerSetup(NamedTuple):
    """What a server setup holds: the OPRF seed and two private keys."""

    oprf_seed: bytes
    private_key: bytes
    fake_private_key: bytes  # stands in for the key of a user without a password

    @classmethod
    def from_bytes(cls, setup: bytes) -> "ServerSetup":
        """The parts of a serialized setup; InvalidMessage when it has another length."""
        return cls(*split(setup, "the server setup", _OPRF_SEED_BYTES, 32, 32))


def setup_from_seed(seed: bytes) -> bytes:
    """A serialized setup that depends on `seed` alone."""
    wide = [hashlib.sha512(name + seed).digest() for name in (b"oprf", b"server", b"fake")]
    return wide[0] + b"".join(ristretto255.scalar_from_uniform(each) for each in wide[1:])
