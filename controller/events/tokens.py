"""Token buckets by key: a burst at once, then one more at a steady pace."""

from collections import OrderedDict
from typing import Final

MAX_KEYS: Final = 3072
"""Beyond it the key that asked longest ago is forgotten; its bucket is full again by then."""


class TokenBuckets:
    """One bucket a key. Not for several threads: the caller holds a lock."""

    def __init__(self, burst: int, refill_seconds: float) -> None:
        self._burst = burst
        self._refill_seconds = refill_seconds
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, since when

    def take(self, key: str, now: float) -> bool:
        """Take a token of `key`; whether there was one."""
        tokens, since = self._buckets.pop(key, (float(self._burst), now))
        tokens = min(self._burst, tokens + (now - since) / self._refill_seconds)
        taken = tokens >= 1.0
        self._buckets[key] = (tokens - 1.0 if taken else tokens, now)
        if len(self._buckets) > MAX_KEYS:
            self._buckets.popitem(last=False)
        return taken
