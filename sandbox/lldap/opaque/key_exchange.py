"""The server's side of 3DH as opaque-ke 0.7 does it."""

from typing import NamedTuple

from lldap.opaque import hashing, ristretto255
from lldap.opaque.hashing import hkdf_expand, hmac_sha512, sha512, with_length

_PROTOCOL = b"RFCXXXX"
_NO_CONTEXT = with_length(b"")


class Parties(NamedTuple):
    """The keys that the three products are made of."""

    server_private: bytes
    server_ephemeral: bytes
    client_public: bytes
    client_ephemeral: bytes


class KeyExchange(NamedTuple):
    """The outcome: the server's MAC, and the one that only the right client can answer."""

    server_mac: bytes
    client_mac: bytes


def exchange_keys(parties: Parties, request: bytes, response: bytes) -> KeyExchange:
    """Run 3DH over the client's `request` and the server's `response` without its MAC."""
    server_public = ristretto255.public_key(parties.server_private)
    transcript = (
        _PROTOCOL
        + _NO_CONTEXT
        + with_length(parties.client_public)
        + request
        + with_length(server_public)
        + response
    )
    products = (
        ristretto255.multiply(parties.server_ephemeral, parties.client_ephemeral)
        + ristretto255.multiply(parties.server_private, parties.client_ephemeral)
        + ristretto255.multiply(parties.server_ephemeral, parties.client_public)
    )
    digest = sha512(transcript)
    handshake = _expand_label(hashing.hkdf_extract(products), b"HandshakeSecret", digest)
    server_mac = hmac_sha512(_expand_label(handshake, b"ServerMAC"), digest)
    return KeyExchange(
        server_mac,
        hmac_sha512(_expand_label(handshake, b"ClientMAC"), sha512(transcript + server_mac)),
    )


def _expand_label(key: bytes, label: bytes, context: bytes = b"") -> bytes:
    name = b"OPAQUE-" + label
    length = hashing.DIGEST_BYTES.to_bytes(2, "big")
    info = length + bytes([len(name)]) + name + bytes([len(context)]) + context
    return hkdf_expand(key, info, hashing.DIGEST_BYTES)
