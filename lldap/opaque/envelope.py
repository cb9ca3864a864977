"""The envelope of version 0.7: what a client derives from a password and the server stores.

It holds no ciphertext. The client's key pair follows from the randomized password and the nonce,
and the tag shows whoever has the same randomized password that nonce and server key are genuine.
"""

import hmac

from lldap.opaque import hashing, messages, ristretto255
from lldap.opaque.hashing import hkdf_expand, with_length
from lldap.opaque.ristretto255 import ELEMENT_BYTES

_PRIVATE_KEY_SEED_BYTES = 32


def masking_key(randomized_password: bytes) -> bytes:
    """The key that hides the envelope on its way back."""
    return hkdf_expand(randomized_password, b"MaskingKey", messages.MASKING_KEY_BYTES)


def client_secret(randomized_password: bytes, nonce: bytes) -> bytes:
    """The client's private key, a scalar."""
    seed = hkdf_expand(randomized_password, nonce + b"PrivateKey", _PRIVATE_KEY_SEED_BYTES)
    return hashing.hash_to_scalar(seed, b"OPAQUE-HashToScalar")


def client_public(randomized_password: bytes, nonce: bytes) -> bytes:
    """The client's public key."""
    return ristretto255.public_key(client_secret(randomized_password, nonce))


def auth_tag(randomized_password: bytes, nonce: bytes, server_public: bytes) -> bytes:
    """The tag over nonce, server key and both identities, which are the public keys."""
    key = hkdf_expand(randomized_password, nonce + b"AuthKey", messages.MAC_BYTES)
    client = client_public(randomized_password, nonce)
    identities = with_length(server_public) + with_length(client)
    return hashing.hmac_sha512(key, nonce + server_public + identities)


def seal(randomized_password: bytes, nonce: bytes, server_public: bytes) -> bytes:
    """The registration upload."""
    return (
        client_public(randomized_password, nonce)
        + masking_key(randomized_password)
        + nonce
        + auth_tag(randomized_password, nonce, server_public)
    )


def mask(key: bytes, nonce: bytes, plain: bytes) -> bytes:
    """`plain` (server key and envelope) under the one-time pad of masking key and nonce.

    Masking again gives back what was masked.
    """
    pad = hkdf_expand(key, nonce + b"CredentialResponsePad", messages.MASKED_BYTES)
    number = int.from_bytes(pad, "big") ^ int.from_bytes(plain, "big")
    return number.to_bytes(messages.MASKED_BYTES, "big")


def opens(randomized_password: bytes, masking_nonce: bytes, masked: bytes) -> bool:
    """Whether `masked` holds an envelope that was sealed with this randomized password."""
    plain = mask(masking_key(randomized_password), masking_nonce, masked)
    server_public, nonce, tag = messages.split(
        plain,
        "the masked envelope",
        ELEMENT_BYTES,
        messages.NONCE_BYTES,
        messages.MAC_BYTES,
    )
    return hmac.compare_digest(auth_tag(randomized_password, nonce, server_public), tag)
