"""What a queue tells about itself, in the meaning of client-go's workqueue metrics."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol


@dataclass(frozen=True, slots=True)
class QueueStats:
    """One consistent look at a queue, taken when a scrape asks for it.

    depth: keys that wait for a worker, by priority: ready ones and those that were added while
        they are processed, not delayed ones (workqueue_depth). A priority without keys is
        absent; whoever exports it keeps the series at 0.
    adds: adds so far that were not merged with an earlier one (workqueue_adds_total). A
        delayed add counts when it is due.
    retries: calls of `add_after` and `add_rate_limited` so far (workqueue_retries_total).
    unfinished_seconds: ages of all keys in process, summed (workqueue_unfinished_work_seconds).
    longest_running_seconds: the oldest of them (workqueue_longest_running_processor_seconds).
    """

    depth: Mapping[int, int]
    adds: int
    retries: int
    unfinished_seconds: float
    longest_running_seconds: float


class QueueObserver(Protocol):
    """Told each duration of one queue, by any thread, without the queue's lock.

    It must neither block for long nor raise: a worker is waiting for its key.
    """

    def queue_duration(self, seconds: float) -> None:
        """From the first add of a key to its get (workqueue_queue_duration_seconds)."""

    def work_duration(self, seconds: float) -> None:
        """From the get of a key to its done (workqueue_work_duration_seconds)."""


class MetricsProvider(Protocol):
    """Where queues report to. A queue without a name reports nothing."""

    def register(self, name: str, stats: Callable[[], QueueStats]) -> QueueObserver | None:
        """Called once for each named queue, when it is made; None: durations are not wanted.

        `stats` may be called by any thread, from now on.
        """


class _NoMetrics:
    def register(self, name: str, stats: Callable[[], QueueStats]) -> None:
        """Nobody listens."""


NOOP: Final[MetricsProvider] = _NoMetrics()
