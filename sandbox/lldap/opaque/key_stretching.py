"""Key stretching that a test bed hands to both sides."""

import hashlib
import threading

from lldap.opaque import KeyStretching


class CountedStretching:
    """Counts how often `stretch` ran. Any thread."""

    def __init__(self, stretch: KeyStretching) -> None:
        self._stretch = stretch
        self._lock = threading.Lock()  # guards runs
        self.runs = 0

    def __call__(self, message: bytes) -> bytes:
        """What `stretch` makes of `message`."""
        with self._lock:
            self.runs += 1
        return self._stretch(message)


def cheap_stretching(message: bytes) -> bytes:
    """No stretching at all, for test beds where both sides are given it; it protects nothing."""
    return hashlib.sha512(message).digest() * 2
