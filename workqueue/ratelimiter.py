"""How long a key that failed has to wait."""

import threading
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

K = TypeVar("K", bound=Hashable)
K_contra = TypeVar("K_contra", bound=Hashable, contravariant=True)

# Failures are counted up to here: the delay has long reached its cap.
_MAX_FAILURES = 10_000


class RateLimiter(Protocol[K_contra]):
    """Decides the delay of each retry. Any thread may call it."""

    def when(self, key: K_contra) -> float:
        """Record a failure of `key`; the seconds to wait before the next try."""

    def forget(self, key: K_contra) -> None:
        """`key` succeeded, or is gone: its next failure is its first."""

    def num_requeues(self, key: K_contra) -> int:
        """The failures of `key` since it was last forgotten."""


class ItemExponential(Generic[K]):
    """`base` seconds after the first failure of a key, twice as long after each, at most `cap`.

    Every key counts alone, without jitter. A key that failed is kept until it is forgotten;
    failures beyond 10 000 are not counted. Raises ValueError unless 0 < base <= cap < infinity.
    """

    def __init__(self, base: float = 0.005, cap: float = 300.0) -> None:
        if not 0 < base <= cap < float("inf"):
            raise ValueError(f"back-off needs 0 < base <= cap, got base {base} and cap {cap}")
        # Doubled until the cap is reached and no further, so that no number of failures overflows.
        delays = [base]
        while delays[-1] * 2 < cap:
            delays.append(delays[-1] * 2)
        self._delays = (*delays, cap)
        self._lock = threading.Lock()  # guards _failures
        self._failures: dict[K, int] = {}

    def when(self, key: K) -> float:
        """Record a failure of `key`; the seconds to wait before the next try."""
        with self._lock:
            failures = self._failures.get(key, 0)
            self._failures[key] = min(failures + 1, _MAX_FAILURES)
        return self._delays[min(failures, len(self._delays) - 1)]

    def forget(self, key: K) -> None:
        """`key` succeeded, or is gone: its next failure is its first."""
        with self._lock:
            self._failures.pop(key, None)

    def num_requeues(self, key: K) -> int:
        """The failures of `key` since it was last forgotten."""
        with self._lock:
            return self._failures.get(key, 0)
