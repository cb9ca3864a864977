"""The plain queue: each key once, and never with two workers at a time."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from workqueue._ready import Ready
from workqueue.clock import Clock
from workqueue.metrics import NOOP, MetricsProvider, QueueStats

K = TypeVar("K", bound=Hashable)


class ShutDown(Exception):  # noqa: N818 - an expected end, as queue.Empty is
    """The queue is shut down and empty: nothing will ever come out of it again."""


class NotProcessing(Exception):  # noqa: N818 - says what is the case, as ShutDown does
    """`done` was called for a key that no worker holds: a mistake of the caller."""


@dataclass(frozen=True, slots=True)
class Item(Generic[K]):
    """A key as a worker gets it; it is the worker's alone until `done(key)`."""

    key: K
    priority: int


class Queue(Generic[K]):
    """A set of keys that need work, handed out by priority.

    Promises (client-go's work queue, with the priorities of controller-runtime's):
    - A key is handed to one worker at a time. After every `add` it is handed out once more,
      after that call; adds that come before that are merged into one.
    - An `add` of a key in process waits for its `done`.
    - The highest priority comes first, first in first out within a priority. Of merged adds the
      highest priority counts; a raise moves the key to the end of its new priority.
    - After `shut_down` adds are dropped and what is queued can still be taken.
    - Once a key is done and not added again, nothing here refers to it.

    Not promised: that low priorities ever come when higher ones never end.

    Any thread may call every method; only `get` and `shut_down_with_drain` block. Not for
    signal handlers: they may interrupt a thread that holds the lock. Keys are hashed and
    compared under the lock. Each get needs exactly one `done`.

    `wake` is called, without the lock, once for each key that becomes ready, by the thread whose
    call made it ready (`add`, `done`), so that one pool can wait on several queues. It may be
    called while its own thread is inside a method of the queue, and must neither block nor raise.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        name: str = "",
        metrics: MetricsProvider = NOOP,
        wake: Callable[[], None] | None = None,
    ) -> None:
        self._clock = clock
        self._name = name
        self._wake = wake
        # Guards all fields below, and those of the layers above. A key is in _ready exactly
        # when it is in _dirty and not in _processing.
        self._lock = threading.Lock()
        # Getters wait on it until shutdown, drainers after it: never both, so that a notify()
        # meant for a getter cannot be lost to a drainer.
        self._condition = threading.Condition(self._lock)
        self._ready: Ready[K] = Ready()
        self._dirty: dict[K, tuple[int, float]] = {}  # wants a run: priority, since when
        self._processing: dict[K, float] = {}  # held by a worker: since when
        self._getters = 0  # threads that wait in get
        self._adds = 0
        self._shutting_down = False
        self._draining = False
        self._observer = metrics.register(name, self.stats) if name else None

    def add(self, key: K, priority: int = 0, *, overtake: bool = True) -> None:
        """Have `key` handed out after this call; dropped once the queue is shut down.

        Without `overtake` a key that wants a run already keeps its priority and its place.
        """
        with self._lock:
            if self._shutting_down or (not overtake and key in self._dirty):
                return
            ready = self._add_locked(key, priority)
        if ready:
            self._call_wake(1)

    def try_get(self) -> Item[K] | None:
        """Take the next key; None when nothing is ready. Never blocks."""
        with self._lock:
            now = self._clock.monotonic()
            moved = self._move_due_locked(now)
            taken = self._take_locked(now)
        self._call_wake(moved)
        return self._hand_out(taken) if taken else None

    def get(self, timeout: float | None = None) -> Item[K] | None:
        """Take the next key, waiting up to `timeout` seconds (None: without end); else None.

        Raises ShutDown when the queue is shut down and empty.
        """
        with self._lock:
            now = self._clock.monotonic()
            deadline = None if timeout is None else now + timeout
            while True:
                moved = self._move_due_locked(now)
                taken = self._take_locked(now)
                if taken:
                    break
                if self._shutting_down:
                    raise ShutDown(f"work queue {self._name!r} is shut down and empty")
                if deadline is not None and now >= deadline:
                    return None
                now = self._wait_locked(now, deadline)
        self._call_wake(moved)
        return self._hand_out(taken)

    def done(self, key: K) -> None:
        """Give `key` back; if it was added meanwhile, it is ready again.

        Raises NotProcessing when no get of `key` is open.
        """
        with self._lock:
            since = self._processing.pop(key, None)
            if since is None:
                raise NotProcessing(
                    f"work queue {self._name!r}: done({key!r}) without a get of that key; "
                    "call done exactly once for each item"
                )
            seconds = self._clock.monotonic() - since
            wanted = self._dirty.get(key)
            if wanted is not None:
                self._push_locked(key, wanted[0])
            elif self._shutting_down and self._idle_locked():
                self._condition.notify_all()
        if self._observer is not None:
            self._observer.work_duration(seconds)
        if wanted is not None:
            self._call_wake(1)

    def shut_down(self) -> None:
        """Drop adds from now on, let waiting getters go, and end every wait for a drain."""
        with self._lock:
            self._shut_down_locked(draining=False)

    def shut_down_with_drain(self, timeout: float) -> bool:
        """Shut down and wait up to `timeout` seconds until all queued keys are done.

        Says whether nothing is queued or in process any more; once true it stays true. False:
        the time is over, or another thread called `shut_down`. Workers must go on taking keys.
        """
        with self._lock:
            self._shut_down_locked(draining=True)
            deadline = self._clock.monotonic() + timeout
            while self._draining and not self._idle_locked():
                left = deadline - self._clock.monotonic()
                if left <= 0:
                    break
                self._clock.wait(self._condition, left)
            return self._idle_locked()

    @property
    def shutting_down(self) -> bool:
        """Whether the queue was shut down."""
        with self._lock:
            return self._shutting_down

    def head(self) -> int | None:
        """The priority of the next ready key; None when nothing is ready."""
        with self._lock:
            moved = self._move_due_locked(self._clock.monotonic())
            priority = self._ready.head()
        self._call_wake(moved)
        return priority

    def __len__(self) -> int:
        """How many keys are ready; out of date when it is read."""
        with self._lock:
            moved = self._move_due_locked(self._clock.monotonic())
            length = len(self._ready)
        self._call_wake(moved)
        return length

    def idle(self) -> bool:
        """Whether nothing is queued, delayed or in process."""
        with self._lock:
            return self._idle_locked()

    def stats(self) -> QueueStats:
        """What a scrape needs to know; works with and without a name."""
        with self._lock:
            now = self._clock.monotonic()
            moved = self._move_due_locked(now)
            stats = self._stats_locked(now)
        self._call_wake(moved)
        return stats

    def _add_locked(self, key: K, priority: int, since: float | None = None) -> bool:
        """Have `key` want a run, `since` then (None: now); says whether it became ready."""
        wanted = self._dirty.get(key)
        if wanted is not None:
            self._raise_locked(key, wanted, priority)
            return False
        self._dirty[key] = priority, self._clock.monotonic() if since is None else since
        self._adds += 1
        if key in self._processing:
            return False
        self._push_locked(key, priority)
        return True

    def _raise_locked(self, key: K, wanted: tuple[int, float], priority: int) -> None:
        """Give `key`, which wants a run already, a higher priority."""
        before, since = wanted
        if priority <= before:
            return
        self._dirty[key] = priority, since
        if key not in self._processing:
            self._ready.remove(key, before)
            self._ready.push(key, priority)

    def _push_locked(self, key: K, priority: int) -> None:
        self._ready.push(key, priority)
        if self._getters:
            self._condition.notify()

    def _take_locked(self, now: float) -> tuple[Item[K], float] | None:
        """Move the next key to a worker; says how long it was queued."""
        if not self._ready:
            return None
        key, priority = self._ready.pop()
        _, since = self._dirty.pop(key)
        self._processing[key] = now
        return Item(key, priority), now - since

    def _hand_out(self, taken: tuple[Item[K], float]) -> Item[K]:
        item, queued = taken
        if self._observer is not None:
            self._observer.queue_duration(queued)
        return item

    def _wait_locked(self, now: float, deadline: float | None) -> float:
        """Wait until notified, `deadline` or the next due time; says what time it is then."""
        ends = [end for end in (deadline, self._next_due_locked()) if end is not None]
        self._getters += 1
        try:
            self._clock.wait(self._condition, min(ends) - now if ends else None)
        finally:
            self._getters -= 1
        return self._clock.monotonic()

    def _shut_down_locked(self, *, draining: bool) -> None:
        self._shutting_down = True
        self._draining = draining
        self._condition.notify_all()

    def _idle_locked(self) -> bool:
        return not self._dirty and not self._processing

    def _stats_locked(self, now: float) -> QueueStats:
        depth = self._ready.sizes()
        for key in self._processing.keys() & self._dirty.keys():
            priority, _ = self._dirty[key]
            depth[priority] = depth.get(priority, 0) + 1
        ages = [now - since for since in self._processing.values()]
        return QueueStats(
            depth=depth,
            adds=self._adds,
            retries=0,
            unfinished_seconds=sum(ages),
            longest_running_seconds=max(ages, default=0.0),
        )

    def _move_due_locked(self, now: float) -> int:  # noqa: ARG002 - for the delaying layer
        """Make ready what is due at `now`; says how many keys became ready."""
        return 0

    def _next_due_locked(self) -> float | None:
        """When the next delayed key is due."""
        return None

    def _call_wake(self, times: int) -> None:
        """Tell a pool of `times` ready keys; the caller does not hold the lock."""
        if self._wake is not None:
            for _ in range(times):
                self._wake()
