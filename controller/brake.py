"""A brake on deletions: a mistake that deletes everything takes long enough to be noticed."""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable

from controller.reasoned import fail
from controller.reasons import Reason

WINDOW_SECONDS = 60.0


class Brake:
    """At most `per_minute` deletions in any minute, in the order in which they asked. Any thread.

    0 takes the brake off.
    """

    def __init__(self, per_minute: int, monotonic: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._monotonic = monotonic
        self._lock = threading.Lock()  # guards _done and _queue
        self._done: deque[float] = deque()
        self._queue: OrderedDict[str, float] = OrderedDict()  # who waits, and when it last asked

    def pass_or_wait(self, uid: str, words: str) -> None:
        """Go on with one deletion, or raise ReasonedError Deleting with the place in the queue."""
        place = self.take(uid)
        if place:
            raise fail(
                Reason.DELETING,
                f"{words} waits at place {place} for its deletion in lldap: "
                "LLDAP_MAX_DELETIONS_PER_MINUTE holds back many at once",
            ).looked_at_after(self.seconds_until_free())

    def take(self, uid: str) -> int:
        """0: delete now. Else the place in the queue; ask again later."""
        if self._per_minute == 0:
            return 0
        now = self._monotonic()
        with self._lock:
            self._forget_old_locked(now)
            self._queue[uid] = now  # a key that is there keeps its place
            place = list(self._queue).index(uid) + 1
            if place > self._per_minute - len(self._done):
                return place
            del self._queue[uid]
            self._done.append(now)
            return 0

    def seconds_until_free(self) -> float:
        """When the next deletion may go on, for who waits."""
        now = self._monotonic()
        with self._lock:
            if len(self._done) < self._per_minute or not self._done:
                return 1.0
            return max(1.0, self._done[0] + WINDOW_SECONDS - now)

    @property
    def waiting(self) -> int:
        """How many deletions wait."""
        with self._lock:
            return len(self._queue)

    def _forget_old_locked(self, now: float) -> None:
        while self._done and self._done[0] <= now - WINDOW_SECONDS:
            self._done.popleft()
        # Whoever has not asked for two windows is gone or let off: it holds up nobody.
        for uid, asked in list(self._queue.items()):
            if asked < now - 2 * WINDOW_SECONDS:
                del self._queue[uid]
