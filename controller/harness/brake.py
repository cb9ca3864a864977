"""A brake on deletions: a mistake that deletes everything takes long enough to be noticed."""

import threading
from collections import OrderedDict
from collections.abc import Callable

from controller.harness.conditions import ready_of
from controller.harness.reasoned import fail
from controller.harness.reasons import Reason
from controller.harness.resource import Resource

WINDOW_SECONDS = 60.0
SOON_SECONDS = 1.0  # a turn that has come is asked for again after this


class Brake:
    """At most `per_minute` deletions in any minute, in the order in which they asked. Any thread.

    0 takes the brake off. Who waits is told its place and when to ask again: a minute before its
    turn, in case that others were let off meanwhile, and in its turn. Whoever has not come a
    minute after its turn holds up nobody any more.

    A brake knows nothing of the process before. If that one let somebody wait, the last minute is
    taken for used up: a process that crashes again and again deletes no more than one that runs.
    """

    def __init__(self, per_minute: int, monotonic: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._monotonic = monotonic
        self._lock = threading.Lock()  # guards the next five
        self._passed: OrderedDict[str, float] = OrderedDict()  # in the last minute, and when
        self._line: list[str] = []  # who waits, in order
        self._kept_until: dict[str, float] = {}  # who waits, and how long its place is kept
        self._has_held = False  # this brake, anybody
        self._met: set[str] = set()  # whose deletion this process has seen

    def meet(self, resource: Resource) -> None:
        """A deletion begins: to be called before anything can let it wait."""
        shown = ready_of(resource.recorded)
        with self._lock:
            if resource.uid in self._met:
                return
            self._met.add(resource.uid)
            if shown.get("reason") == Reason.DELETING and not self._has_held:
                self._inherit_locked(self._monotonic())

    def pass_or_wait(self, uid: str, words: str) -> None:
        """Go on with one deletion, or raise ReasonedError Deleting with the place in the queue."""
        place, seconds = self.take(uid)
        if place:
            raise fail(
                Reason.DELETING,
                f"{words} waits at place {place} for its deletion in lldap: "
                "LLDAP_MAX_DELETIONS_PER_MINUTE holds back many at once",
            ).looked_at_after(seconds)

    def take(self, uid: str) -> tuple[int, float]:
        """Place 0: delete now. Else the place in the line, and the seconds until it asks again."""
        if self._per_minute == 0:
            return 0, 0.0
        now = self._monotonic()
        with self._lock:
            self._forget_old_locked(now)
            if uid in self._passed:  # its deletion did not come to an end: it is still the same one
                return 0, 0.0
            waits = uid in self._kept_until
            place = self._line.index(uid) + 1 if waits else len(self._line) + 1
            if place <= self._per_minute - len(self._passed):
                self._leave_locked(uid)
                self._passed[uid] = now
                return 0, 0.0
            self._has_held = True
            if not waits:
                self._line.append(uid)
            seconds = max(SOON_SECONDS, self._turn_locked(place, now) - now)
            self._kept_until[uid] = now + seconds + WINDOW_SECONDS
            early = seconds - WINDOW_SECONDS
            return place, early if early > SOON_SECONDS else seconds

    def forget(self, uid: str) -> None:
        """The object is gone."""
        with self._lock:
            self._met.discard(uid)
            self._leave_locked(uid)

    @property
    def waiting(self) -> int:
        """How many deletions wait."""
        with self._lock:
            return len(self._line)

    def _inherit_locked(self, now: float) -> None:
        self._has_held = True
        for number in range(self._per_minute - len(self._passed)):
            self._passed[f"the process before: {number}"] = now

    def _turn_locked(self, place: int, now: float) -> float:
        """When the deletion at `place` may go on: a minute after one before it, each."""
        rounds, slot = divmod(place - 1, self._per_minute)
        free = self._per_minute - len(self._passed)
        times = [now] * free + [passed + WINDOW_SECONDS for passed in self._passed.values()]
        return times[slot] + rounds * WINDOW_SECONDS

    def _leave_locked(self, uid: str) -> None:
        if self._kept_until.pop(uid, None) is not None:
            self._line.remove(uid)

    def _forget_old_locked(self, now: float) -> None:
        while self._passed and next(iter(self._passed.values())) <= now - WINDOW_SECONDS:
            self._passed.popitem(last=False)
        while self._line and self._kept_until[self._line[0]] < now:
            self._leave_locked(self._line[0])
