"""A rate-limited queue with exponential back-off and priorities, as controllers use it.

- Three layers, each on top of the one before: Queue < DelayingQueue < RateLimitingQueue.
- A key is queued once, however often it is added, and is with one worker at a time.
- A key that is added while it is processed runs exactly once more afterwards.
- The highest priority comes first, first in first out within a priority.
- Of several delays of a key the earliest counts, and an add beats a pending delay.
- Each failure of a key doubles its delay up to a cap, until the key is forgotten.
- After shutdown nothing new is taken in, delayed keys are dropped, queued ones can be drained.
- No thread, no clock and no metrics library of its own: all are handed in.
- Any thread may call anything; no callback is made under a lock.
- Nothing refers to a key that is done (and, if it failed, forgotten).
"""

from workqueue.clock import Clock
from workqueue.delaying import DelayingQueue
from workqueue.metrics import NOOP, MetricsProvider, QueueObserver, QueueStats
from workqueue.queue import Item, NotProcessing, Queue, ShutDown
from workqueue.ratelimiter import ItemExponential, RateLimiter
from workqueue.ratelimiting import RateLimitingQueue

__all__ = [
    "NOOP",
    "Clock",
    "DelayingQueue",
    "Item",
    "ItemExponential",
    "MetricsProvider",
    "NotProcessing",
    "Queue",
    "QueueObserver",
    "QueueStats",
    "RateLimiter",
    "RateLimitingQueue",
    "ShutDown",
]
