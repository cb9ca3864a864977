"""The messages of the wire: their parts have the same lengths and the same order in 0.7 and 4.0."""

from typing import NamedTuple

from lldap.opaque.errors import InvalidMessage
from lldap.opaque.ristretto255 import ELEMENT_BYTES, decode_element

NONCE_BYTES = 32
MAC_BYTES = 64
MASKING_KEY_BYTES = 64
ENVELOPE_BYTES = NONCE_BYTES + MAC_BYTES
MASKED_BYTES = ELEMENT_BYTES + ENVELOPE_BYTES


def split(message: bytes, what: str, *lengths: int) -> list[bytes]:
    """The parts of `message`; InvalidMessage names `what` when the total is another."""
    if len(message) != sum(lengths):
        raise InvalidMessage(f"{what} has {len(message)} bytes instead of {sum(lengths)}")
    parts, start = [], 0
    for length in lengths:
        parts.append(message[start : start + length])
        start += length
    return parts


class RegistrationResponse(NamedTuple):
    """The server's answer to the start of a registration."""

    evaluated: bytes
    server_public: bytes


def read_registration_response(message: bytes, request: bytes) -> RegistrationResponse:
    """The parts of the answer to `request`, the elements checked; else InvalidMessage."""
    parts = split(message, "the registration response", ELEMENT_BYTES, ELEMENT_BYTES)
    response = RegistrationResponse(*parts)
    _decode_evaluated(response.evaluated, request)
    decode_element(response.server_public, "the server's public key")
    return response


class CredentialResponse(NamedTuple):
    """The server's answer to the start of a login."""

    evaluated: bytes
    masking_nonce: bytes
    masked: bytes
    server_nonce: bytes
    server_ephemeral: bytes
    server_mac: bytes


def read_credential_response(message: bytes, request: bytes) -> CredentialResponse:
    """The parts of the answer to `request`, the elements checked; else InvalidMessage."""
    parts = split(
        message,
        "the credential response",
        ELEMENT_BYTES,
        NONCE_BYTES,
        MASKED_BYTES,
        NONCE_BYTES,
        ELEMENT_BYTES,
        MAC_BYTES,
    )
    response = CredentialResponse(*parts)
    _decode_evaluated(response.evaluated, request)
    decode_element(response.server_ephemeral, "the server's ephemeral key")
    return response


def _decode_evaluated(element: bytes, request: bytes) -> None:
    decode_element(element, "the evaluated element")
    # a server that sends back what it got has applied no key: the password alone would decide
    if element == request[:ELEMENT_BYTES]:
        raise InvalidMessage("the evaluated element is the one that was sent")
