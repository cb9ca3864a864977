"""The rate-limiting layer: keys that failed are added after a back-off."""

from collections.abc import Callable, Hashable
from typing import TypeVar

from workqueue.clock import Clock
from workqueue.delaying import DelayingQueue
from workqueue.metrics import NOOP, MetricsProvider
from workqueue.ratelimiter import RateLimiter

K = TypeVar("K", bound=Hashable)


class RateLimitingQueue(DelayingQueue[K]):
    """A DelayingQueue that asks a RateLimiter for the delay of a retry.

    A worker calls `add_rate_limited` when a key failed and `forget` when it succeeded or is gone;
    without `forget` its delay stays high and the limiter keeps the key. `done` is due in
    both cases: `forget` clears only the limiter.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        limiter: RateLimiter[K],
        name: str = "",
        metrics: MetricsProvider = NOOP,
        wake: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(clock=clock, name=name, metrics=metrics, wake=wake)
        self._limiter = limiter

    def add_rate_limited(self, key: K, priority: int = 0) -> None:
        """Record a failure of `key` and add it when its back-off is over."""
        self.add_after(key, self._limiter.when(key), priority)

    def forget(self, key: K) -> None:
        """End the back-off of `key`; a pending add stays."""
        self._limiter.forget(key)

    def num_requeues(self, key: K) -> int:
        """The failures of `key` since it was last forgotten."""
        return self._limiter.num_requeues(key)
