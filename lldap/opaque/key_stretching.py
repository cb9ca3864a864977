"""The key stretching function of version 0.7, and the one result of it that is worth keeping."""

import hmac
import threading
from collections.abc import Callable

from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

KeyStretching = Callable[[bytes], bytes]

_SALT = b"lldap_opaque_salt"
_MEMORY_KIB = 51200
_OUTPUT_BYTES = 128


class Argon2:
    """Argon2id with lldap's parameters: 50 MiB and about 50 ms of a core each time.

    Any thread. At most `permits` run at a time, which bounds the memory; the others wait. It
    releases the interpreter's lock, so that as many run side by side as there are cores.
    """

    def __init__(self, permits: int) -> None:
        self._permits = threading.BoundedSemaphore(permits)

    def __call__(self, message: bytes) -> bytes:
        """The 128 bytes that `message` is stretched to."""
        with self._permits:
            return Argon2id(
                salt=_SALT, length=_OUTPUT_BYTES, iterations=1, lanes=1, memory_cost=_MEMORY_KIB
            ).derive(message)


class KeptKey:
    """The key that the last stretching gave, for whoever proves the same password again.

    It is found by what was stretched, so a key of another user, password or server is never
    taken. Any thread.
    """

    __slots__ = ("_entry",)

    def __init__(self) -> None:
        self._entry: tuple[bytes, bytes] | None = None

    def get(self, stretched: bytes) -> bytes | None:
        """The key that came of `stretched`, if that was the last."""
        entry = self._entry
        if entry is None or not hmac.compare_digest(entry[0], stretched):
            return None
        return entry[1]

    def put(self, stretched: bytes, key: bytes) -> None:
        """Keep `key`, in place of the one before."""
        self._entry = (stretched, key)
