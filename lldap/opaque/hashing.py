"""What the protocol builds from SHA-512: HKDF, HMAC, expand_message_xmd (RFC 9380) and I2."""

import hashlib
import hmac

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from lldap.opaque import ristretto255

DIGEST_BYTES = 64
_BLOCK_BYTES = 128
_SHA512 = hashes.SHA512()


def with_length(value: bytes) -> bytes:
    """I2: the length as two bytes, then the value (at most 65,535 bytes)."""
    return len(value).to_bytes(2, "big") + value


def sha512(message: bytes) -> bytes:
    """SHA-512."""
    return hashlib.sha512(message).digest()


def hmac_sha512(key: bytes, message: bytes) -> bytes:
    """HMAC over SHA-512."""
    return hmac.digest(key, message, "sha512")


def hkdf_extract(material: bytes) -> bytes:
    """HKDF-Extract without a salt."""
    return hmac_sha512(bytes(DIGEST_BYTES), material)


def hkdf_expand(key: bytes, info: bytes, length: int) -> bytes:
    """HKDF-Expand; `key` is a pseudorandom key of 64 bytes."""
    return HKDFExpand(_SHA512, length, info).derive(key)


def expand_message(message: bytes, tag: bytes) -> bytes:
    """64 bytes of expand_message_xmd: with SHA-512 that is exactly one block."""
    suffix = tag + bytes([len(tag)])
    length = DIGEST_BYTES.to_bytes(2, "big")
    first = sha512(bytes(_BLOCK_BYTES) + message + length + b"\x00" + suffix)
    return sha512(first + b"\x01" + suffix)


def hash_to_scalar(message: bytes, tag: bytes) -> bytes:
    """H2S: the scalar that `message` hashes to under the domain separation tag."""
    return ristretto255.scalar_from_uniform(expand_message(message, tag))
