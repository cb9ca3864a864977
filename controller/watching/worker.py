"""Workers: one pool over the queues of all kinds."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from controller.clock import Clock
from controller.harness.outcome import Result
from controller.watching.background import BackgroundLimit, is_urgent
from workqueue import Item, RateLimitingQueue

_LOG = logging.getLogger("controller.watching.worker")

IDLE_SECONDS = 60.0  # a bound on lateness, should a wake-up ever be missed

Reconcile = Callable[[str], Result]


@dataclass(frozen=True, slots=True)
class Controller:
    """One kind: its queue and its reconcile function, which takes `namespace/name`."""

    name: str
    queue: RateLimitingQueue[str]
    reconcile: Reconcile


def settle(queue: RateLimitingQueue[str], item: Item[str], result: Result) -> None:
    """What becomes of a key: the whole of the retry rules.

    | result | failures | comes back |
    |---|---|---|
    | rate limited | counted | after the queue's back-off, at the same priority |
    | requeue after | forgotten | after that time |
    | done | forgotten | when something happens |
    """
    if result.rate_limited:
        queue.add_rate_limited(item.key, item.priority)
        return
    queue.forget(item.key)
    if result.requeue_after is not None:
        queue.add_after(item.key, result.requeue_after, item.priority)


class WorkerPool:
    """Serves the queues fairly: highest priority first, equals in turn.

    Keys that nobody waits for get a part of the workers only: see BackgroundLimit. Of those the
    kind that was added first comes first, and the others when it has nothing ready: what is named
    is made before what names it, which would only say that it waits. It is busy from
    the first key that is taken until nothing is ready and no worker has a key. `add`, `rest_with`
    and `workers`: before the first step. Everything else: any thread.
    """

    def __init__(self, clock: Clock) -> None:
        self._controllers: list[Controller] = []
        self._clock = clock
        self._rested: Callable[[], None] = _nobody
        self._condition = threading.Condition()  # guards all below
        self._turn = 0
        self._events = 0  # counts wake-ups: one between looking and waiting is not missed
        self._working = 0  # workers that have a key
        self._limit = BackgroundLimit(clock)
        self._waited: set[int] = set()  # threads that have taken no key since they waited
        self._busy = False
        self._stopping = False

    def add(self, controller: Controller) -> None:
        """Serve one more queue."""
        self._controllers.append(controller)

    def rest_with(self, rested: Callable[[], None]) -> None:
        """Call `rested`, in a worker's thread, whenever the pool is busy no more."""
        self._rested = rested

    def workers(self, count: int) -> None:
        """So many threads will call `step`."""
        self._limit.workers = count

    @property
    def busy(self) -> bool:
        """Whether workers have keys or find more; out of date when it is read."""
        return self._busy

    def wake(self) -> None:
        """A queue has something ready: the queues' own wake-up."""
        with self._condition:
            self._events += 1
            self._condition.notify()

    def stop(self) -> None:
        """No key is taken any more; whoever waits is woken."""
        with self._condition:
            self._stopping = True
            self._condition.notify_all()

    def step(self) -> float:
        """Work on one key, or wait a while for one; 0 always. Any number of threads."""
        seen = self._events
        taken = self._take()
        if taken is None:
            self._rest(seen)
            self._wait(seen)
        else:
            self._work(*taken)
        return 0.0

    def try_step(self) -> bool:
        """Work on one key if one is ready; False if not. For tests that drive everything."""
        seen = self._events
        taken = self._take()
        if taken is None:
            self._rest(seen)
        else:
            self._work(*taken)
        return taken is not None

    def next_due(self) -> float | None:
        """Seconds until a delayed key becomes ready."""
        return min(
            (due for c in self._controllers if (due := c.queue.next_due()) is not None),
            default=None,
        )

    def _take(self) -> tuple[Controller, Item[str]] | None:
        order = self._in_turn()
        while True:
            heads = {c: head for c in order if (head := c.queue.head()) is not None}
            if not heads:
                return None
            priority = max(heads.values())
            first = order if is_urgent(priority) else self._controllers
            controller = next(c for c in first if heads.get(c) == priority)
            if not self._begin(priority):
                return None
            item = controller.queue.try_get()
            if item is None or is_urgent(item.priority) != is_urgent(priority):
                self._correct(priority, item)
            if item is not None:
                return controller, item

    def _in_turn(self) -> list[Controller]:
        """The controllers, each time beginning with another; none when work is to stop."""
        with self._condition:
            if self._stopping:
                return []
            self._turn = (self._turn + 1) % len(self._controllers)
            turn = self._turn
        return self._controllers[turn:] + self._controllers[:turn]

    def _begin(self, priority: int) -> bool:
        """Go to work on a key of that priority; False if background work has enough workers.

        Who has waited lets another worker wait for the next delayed key: so of those who wait
        there is always one that wakes for it, though `wake` tells only one.
        """
        me = threading.get_ident()
        with self._condition:
            if not self._limit.admits(priority):
                return False
            self._limit.begin(priority)
            self._working += 1
            self._busy = True
            if me in self._waited:
                self._waited.discard(me)
                self._condition.notify()
            return True

    def _correct(self, priority: int, item: Item[str] | None) -> None:
        """Others were faster: the key of that priority was gone, or this is another one."""
        with self._condition:
            self._limit.end(priority)
            if item is None:
                self._working -= 1
            else:
                self._limit.begin(item.priority)

    def _rest(self, seen: int) -> None:
        """Nothing was ready: unless somebody works, or more came since, the pool is at rest."""
        with self._condition:
            rests = self._busy and not self._working and self._events == seen
            if rests:
                self._busy = False
        if rests:
            self._rested()

    def _wait(self, seen: int) -> None:
        due = self.next_due()
        refused = any(c.queue.head() is not None for c in self._controllers)
        with self._condition:
            self._waited.add(threading.get_ident())
            if self._events == seen and not self._stopping:
                again = self._limit.more_in() if refused else None
                seconds = [end for end in (due, again) if end is not None]
                self._clock.wait(self._condition, min(seconds, default=IDLE_SECONDS))

    def _work(self, controller: Controller, item: Item[str]) -> None:
        try:
            settle(controller.queue, item, self._reconcile(controller, item.key))
        finally:
            controller.queue.done(item.key)
            with self._condition:
                self._working -= 1
                self._limit.end(item.priority)

    def _reconcile(self, controller: Controller, key: str) -> Result:
        try:
            return controller.reconcile(key)
        except Exception as error:  # noqa: BLE001 - one object never ends a worker
            _LOG.exception("%s %s: a reconcile ended in an unexpected way", controller.name, key)
            return Result(rate_limited=True, error=error)


def _nobody() -> None:
    """Nobody waits for a rest."""
