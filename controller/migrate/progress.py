"""A word now and then on work that takes long."""

from collections.abc import Callable
from typing import Final, TextIO

EVERY_SECONDS: Final = 2.0


class Progress:
    """Tells how far something is, at most every EVERY_SECONDS. One thread."""

    def __init__(self, stream: TextIO, monotonic: Callable[[], float]) -> None:
        self._stream = stream
        self._monotonic = monotonic
        self._told = monotonic()

    def at(self, what: str, done: int, total: int) -> None:
        """`done` of `total` are done."""
        now = self._monotonic()
        if now - self._told >= EVERY_SECONDS:
            self._told = now
            self._stream.write(f"{what}: {done} of {total}\n")
            self._stream.flush()
