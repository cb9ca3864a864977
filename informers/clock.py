"""Time as an argument."""

from typing import Protocol


class Clock(Protocol):
    """What the package needs of a clock; a test hands in one that it moves itself."""

    def monotonic(self) -> float:
        """Seconds from some fixed moment; never jumps."""
        ...
