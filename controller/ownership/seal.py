"""The seal: which recorded values the operator itself wrote into a status.

Whoever may write a status can forge what stands in it. What could make the operator do more
than the spec and lldap allow counts only under this seal; without a key, or with a wrong seal,
the record is lost and nothing else is.
"""

import hashlib
import hmac
from collections.abc import Iterable

LONGEST = 0xFFFF  # bytes of one value: what a length of two bytes can say


def length_prefixed(value: bytes) -> bytes:
    """`value` behind its two-byte big-endian length, so that no two lists read alike."""
    return len(value).to_bytes(2, "big") + value


class Sealer:
    """Makes and checks seals with the hash key. Any thread."""

    def __init__(self, key: bytes | None) -> None:
        self._key = key

    def __repr__(self) -> str:
        return f"Sealer(key={'set' if self._key else 'none'})"

    def seal(self, uid: str, instance: str, values: Iterable[object]) -> str | None:
        """The seal over `values` for the object `uid`; None without a key."""
        if self._key is None:
            return None
        parts = [uid, instance, *(str(value) for value in values)]
        message = b"record" + b"".join([length_prefixed(part.encode()) for part in parts])
        return hmac.digest(self._key, message, "sha256").hex()

    def holds(self, seal: object, uid: str, instance: str, values: Iterable[object]) -> bool:
        """Whether `seal` is the one that this operator would write now, whatever stands there."""
        texts = [str(value) for value in values]
        if not isinstance(seal, str) or any(len(text.encode()) > LONGEST for text in texts):
            return False
        expected = self.seal(uid, instance, texts)
        return expected is not None and hmac.compare_digest(expected.encode(), seal.encode())

    def password_hash(self, uid: str, value: bytes) -> str:
        """What status.passwordHash holds for a password.

        Keyed and salted by the object when there is a key: a plain hash of a human password
        in a readable status can be guessed.
        """
        if self._key is None:
            return hashlib.sha256(value).hexdigest()
        message = length_prefixed(uid.encode()) + value
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()
