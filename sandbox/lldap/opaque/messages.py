"""What a client sends, taken apart: the same in both versions. InvalidMessage is lldap's 400."""

from typing import NamedTuple

from lldap.opaque.messages import ENVELOPE_BYTES, MASKING_KEY_BYTES, NONCE_BYTES, split
from lldap.opaque.ristretto255 import ELEMENT_BYTES, decode_element


class CredentialRequest(NamedTuple):
    """The start of a login."""

    blinded: bytes
    client_nonce: bytes
    client_ephemeral: bytes


class Record(NamedTuple):
    """A registration upload, which is also what a server stores of a password."""

    client_public: bytes
    masking_key: bytes
    envelope: bytes


def check_registration_request(request: bytes) -> None:
    """Nothing, or InvalidMessage."""
    decode_element(request, "the registration request")


def read_credential_request(request: bytes) -> CredentialRequest:
    """The parts, the elements checked."""
    parts = CredentialRequest(
        *split(request, "the credential request", ELEMENT_BYTES, NONCE_BYTES, ELEMENT_BYTES)
    )
    decode_element(parts.blinded, "the blinded element")
    decode_element(parts.client_ephemeral, "the client's ephemeral key")
    return parts


def read_record(upload: bytes) -> Record:
    """The parts, the element checked."""
    record = Record(
        *split(upload, "the registration upload", ELEMENT_BYTES, MASKING_KEY_BYTES, ENVELOPE_BYTES)
    )
    decode_element(record.client_public, "the client's public key")
    return record


def dummy_record(client_public: bytes, masking_key: bytes) -> bytes:
    """The record of a user that has none: its envelope opens with no password."""
    return client_public + masking_key + bytes(ENVELOPE_BYTES)
