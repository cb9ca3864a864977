"""The delaying layer: keys that are added later."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TypeVar

from workqueue._schedule import Schedule
from workqueue.clock import Clock
from workqueue.metrics import NOOP, MetricsProvider, QueueStats
from workqueue.queue import Queue

K = TypeVar("K", bound=Hashable)

# Seconds; some ten years. Locks refuse waits of more than 292 years.
_LONGEST_DELAY = 3e8


class DelayingQueue(Queue[K]):
    """A Queue with `add_after`.

    Promises, beyond those of Queue:
    - A key waits at most once, either ready or delayed: of several adds the earliest time and
      the highest priority count. After each `add_after` the key is handed out, after that
      call and as soon as workers allow once the asked time has come.
    - No thread of its own: what is due moves when anyone calls `get`, `try_get`, `head`, `stats` or
      `len`, in the order of the due times, and a blocked `get` waits until the next one.
    - What is still delayed at shutdown is dropped.

    Not promised: a run at the later time when an earlier one came. An `add` drops the pending
    delay, and a key that is already waiting to run takes no delay (client-go keeps it and runs
    twice; controller-runtime's queue does as this one). No wanted look is lost by that: a
    delay is asked for by a run, or by a caller, that came before the run which replaces it. That
    run sees everything they saw, and asks again if it still wants to look later.

    `wake` is also called when the next due time moves forward, since a pool that waits for
    `next_due` must then wait less: every waiting worker must learn of it.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        name: str = "",
        metrics: MetricsProvider = NOOP,
        wake: Callable[[], None] | None = None,
    ) -> None:
        self._schedule: Schedule[K] = Schedule()  # no key of it is in _dirty
        self._retries = 0
        super().__init__(clock=clock, name=name, metrics=metrics, wake=wake)  # may be scraped now

    def add_after(self, key: K, seconds: float, priority: int = 0) -> None:
        """Add `key` in `seconds`; 0 or less: now. Dropped once the queue is shut down."""
        with self._lock:
            if self._shutting_down:
                return
            self._retries += 1
            if seconds > 0 and key not in self._dirty:
                news = self._delay_locked(key, min(seconds, _LONGEST_DELAY), priority)
            else:
                news = self._add_locked(key, priority)
        if news:
            self._call_wake(1)

    def next_due(self) -> float | None:
        """Seconds until the next delayed key becomes ready (0: look now); None: none is delayed."""
        with self._lock:
            due = self._schedule.next_due()
            return None if due is None else max(0.0, due - self._clock.monotonic())

    def _delay_locked(self, key: K, seconds: float, priority: int) -> bool:
        """Says whether the next due time moved forward."""
        before = self._schedule.next_due()
        due = self._clock.monotonic() + seconds
        self._schedule.put(key, due, priority)
        if before is not None and before <= due:
            return False
        if self._getters:
            # Each waiting getter must wait no longer than until the next due time. Were only one
            # told, it would take this key, and nobody would be up for the next one.
            self._condition.notify_all()
        return True

    def _add_locked(self, key: K, priority: int, since: float | None = None) -> bool:
        delayed = self._schedule.remove(key)
        if delayed is not None:
            priority = max(priority, delayed[0])
            since = min(delayed[1], self._clock.monotonic())  # it may be due, but not moved yet
        return super()._add_locked(key, priority, since)

    def _move_due_locked(self, now: float) -> int:
        due = self._schedule.next_due()
        if due is None or due > now:
            return 0
        # Queued since the due time, not since somebody looked: else a queue whose workers are all
        # busy would seem quick.
        return sum(
            self._add_locked(key, priority, since)
            for key, priority, since in self._schedule.pop_due(now)
        )

    def _next_due_locked(self) -> float | None:
        return self._schedule.next_due()

    def _idle_locked(self) -> bool:
        return not self._schedule and super()._idle_locked()

    def _shut_down_locked(self, *, draining: bool) -> None:
        self._schedule.clear()
        super()._shut_down_locked(draining=draining)

    def _stats_locked(self, now: float) -> QueueStats:
        return replace(super()._stats_locked(now), retries=self._retries)
