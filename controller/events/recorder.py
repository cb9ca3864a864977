"""Events about our objects: never waited for, aggregated, bounded in every way."""

import enum
import logging
import random
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Protocol
from urllib.parse import quote

from controller.clock import Clock
from controller.events.eventseries import (
    EventType,
    ObjectReference,
    Series,
    SeriesKey,
    event_name,
    note_of,
    word,
)
from controller.events.tokens import TokenBuckets
from controller.events.unsent import Unsent
from controller.harness.resource import Object
from controller.loop import FOREVER
from informers import ApiFailure, PatchType, StatusError, StatusKind

_logger = logging.getLogger(__name__)

MAX_SERIES: Final = 3072
"""Events that are remembered so that a repetition counts them up."""

MAX_UNSENT: Final = 3000
"""Events that wait to be sent; then the object's own oldest goes, else the oldest of all."""

MANY_UNSENT: Final = MAX_UNSENT // 2

BUSY_SECONDS: Final = (0.1, 0.02)
"""Between two events while workers are busy; the second with more than MANY_UNSENT to send."""

SERIES_SECONDS: Final = 600.0
"""What has not happened for so long is a new event when it happens again."""

BURST: Final = 25
REFILL_SECONDS: Final = 300.0
"""An object may have BURST new events at once and one more every REFILL_SECONDS (client-go's)."""

_REFRESH: Final = (10.0, 600.0)  # between two counts sent for one series: doubling, bounded
_PAUSE: Final = (1.0, 30.0)  # after failures of the server: doubling, bounded
_ATTEMPTS: Final = 5
_TRANSIENT: Final = {StatusKind.TOO_MANY_REQUESTS, StatusKind.SERVER_FAULT}


class EventClient(Protocol):
    """What is needed of a REST client; raises ApiFailure."""

    def post(self, path: str, body: Object) -> Object:
        """POST."""
        ...

    def patch(self, path: str, body: Object, *, content_type: str) -> Object:
        """PATCH."""
        ...


class EventRecorder:
    """Takes events at once and sends them later; what cannot be sent is counted and forgotten.

    `event()`: any thread; never blocks, never raises, whatever the server does. `step()` and
    `flush()`: one thread. What happens again to an object for the same reason, with the same
    note, within 10 minutes is counted up in one event. `count` is told "created", "updated",
    "failed" or "dropped". The client must have no fence: a replica that stops still reports.

    While workers are `busy` events are sent at a slow pace (BUSY_SECONDS): a server that takes an
    event does not take their work meanwhile. Whoever makes it so calls `work_rests` when they are
    busy no more; then everything is sent at once.
    """

    def __init__(
        self,
        client: EventClient,
        *,
        clock: Clock,
        rng: random.Random,
        controller: str,
        instance: str,
        count: Callable[[str], None],
    ) -> None:
        """`controller` is a qualified name; `instance` says which replica, usually its Pod."""
        self._client = client
        self._clock = clock
        self._rng = rng
        self._controller = controller
        self._instance = word(instance)
        self._count = count
        self._wake: Callable[[], None] = _nobody
        self._busy: Callable[[], bool] = _never
        self._lock = threading.Lock()  # guards the next four
        self._series: OrderedDict[SeriesKey, Series] = OrderedDict()  # latest last
        self._unsent = Unsent()  # all of them in _series
        self._budget = TokenBuckets(BURST, REFILL_SECONDS)
        self._paced_at = 0.0  # the moment from which the pace of BUSY_SECONDS counts
        self._failures = 0  # in a row; of the sending thread alone
        self._resume_at = 0.0

    def wake_with(self, wake: Callable[[], None]) -> None:
        """Call `wake` when there is something to send: for a Loop."""
        self._wake = wake

    def yield_to(self, busy: Callable[[], bool]) -> None:
        """Hold back while `busy()`, which any thread may ask and which takes no time."""
        self._busy = busy

    def work_rests(self) -> None:
        """Nobody is busy any more. Any thread."""
        if self._unsent:
            self._wake()

    def event(
        self, reference: ObjectReference, kind: EventType, reason: str, action: str, note: str
    ) -> None:
        """Something happened to an object. `note` names no secret; it is cut to 512 bytes."""
        reason = word(reason)
        now = self._clock.monotonic()
        with self._lock:
            if not self._unsent:
                self._paced_at = now
            waited = self._held_back_locked(now) > 0
            lost = self._add_locked(reference, kind, reason, word(action), note_of(note))
        self._tell(lost, "dropped")
        if not waited:  # else the sender looks again by itself, or when the work rests
            self._wake()

    def step(self) -> float:
        """Send one event if one is due; the seconds until the next."""
        now = self._clock.monotonic()
        if now < self._resume_at:
            return self._resume_at - now
        with self._lock:
            held_back = self._held_back_locked(now)
        if held_back > 0:
            return held_back
        series = self._take_due(now)
        if series is not None:
            self._send(series)
        return self._wait()

    def flush(self, seconds: float) -> None:
        """Send all that is unsent, until that fails or `seconds` are over. For the end."""
        deadline = self._clock.monotonic() + seconds
        while self._clock.monotonic() < deadline:
            series = self._take_due(FOREVER)
            if series is None or not self._send(series):
                return

    # Taking in.

    def _add_locked(
        self, reference: ObjectReference, kind: EventType, reason: str, action: str, note: str
    ) -> int:
        """Count it into its series, or begin one; how many events are lost by that."""
        now, moment = self._clock.monotonic(), self._clock.now()
        series = self._series.get((reference.uid, kind, reason, note))
        if series is not None and now - series.last_at < SERIES_SECONDS:
            series.again(moment, now)
            self._series.move_to_end(series.key)
            return self._put_locked(series)
        if not self._budget.take(reference.uid, now):
            return 1
        name = self._new_name(reference)
        series = Series(reference, kind, reason, action, note, name, moment, moment, now, due=now)
        self._series[series.key] = series
        self._series.move_to_end(series.key)
        lost = self._put_locked(series)
        return lost + self._forget_oldest_locked()

    def _put_locked(self, series: Series) -> int:
        if series.refused or series.key in self._unsent:
            return 0
        self._unsent.add(series.key)
        if len(self._unsent) <= MAX_UNSENT:
            return 0
        self._unsent.remove(self._unsent.least_needed(series.key))
        return 1

    def _forget_oldest_locked(self) -> int:
        if len(self._series) <= MAX_SERIES:
            return 0
        key, _ = self._series.popitem(last=False)
        if key not in self._unsent:
            return 0
        self._unsent.remove(key)
        return 1

    def _held_back_locked(self, now: float) -> float:
        """Seconds for which what is unsent waits because the workers come first."""
        if not self._unsent or not self._busy():
            return 0.0
        pause = BUSY_SECONDS[len(self._unsent) > MANY_UNSENT]
        return self._paced_at + pause - now

    # Sending.

    def _take_due(self, now: float) -> Series | None:
        """A copy of the series to send first, taken from the queue."""
        with self._lock:
            for key in self._unsent:
                series = self._series[key]
                if series.due <= now:
                    self._unsent.remove(key)
                    return replace(series)
        return None

    def _wait(self) -> float:
        due = max(self._next_due(self._clock.monotonic()), self._resume_at)
        return max(0.0, due - self._clock.monotonic())

    def _next_due(self, now: float) -> float:
        """When the next is due; the search ends at one that is due by `now`."""
        earliest = FOREVER
        with self._lock:
            for key in self._unsent:
                earliest = min(earliest, self._series[key].due)
                if earliest <= now:
                    break
        return earliest

    def _send(self, sent: Series) -> bool:
        """Send one; False if the server is in no state to take events."""
        error = self._call(sent)
        verdict = _verdict(sent, error)
        with self._lock:
            self._paced_at = self._clock.monotonic()
            lost = self._settle_locked(sent, verdict)
        self._tell(lost, "dropped")
        if verdict is _Verdict.DONE:
            self._tell(1, "updated" if sent.sent else "created")
        elif verdict is _Verdict.REFUSED:
            self._tell(1, "failed")
            _logger.info("the event %s about %s was refused: %s", sent.reason, sent.name, error)
        if not _is_transient(error):
            self._failures = 0
            return True
        self._pause(error)
        return False

    def _call(self, series: Series) -> ApiFailure | None:
        path = f"/apis/events.k8s.io/v1/namespaces/{quote(series.namespace, safe='')}/events"
        try:
            if series.sent == 0:
                self._client.post(path, series.body(self._controller, self._instance))
            else:
                path = f"{path}/{quote(series.name, safe='')}"
                self._client.patch(path, series.progress(), content_type=PatchType.MERGE)
        except ApiFailure as error:
            return error
        return None

    def _settle_locked(self, sent: Series, verdict: "_Verdict") -> int:
        """What becomes of the series that `sent` was a copy of; how many events are lost."""
        series = self._series.get(sent.key)
        if series is None or series.name != sent.name:
            return 0
        now = self._clock.monotonic()
        if verdict is _Verdict.REFUSED:
            series.refused = True
        elif verdict is _Verdict.LATER:
            series.attempts += 1
        elif verdict is _Verdict.GONE:
            series.anew(self._new_name(series.reference))
            series.due = now
        else:
            series.attempts, series.sent = 0, sent.count
            series.due = now + min(_REFRESH[1], _REFRESH[0] * 2.0**series.pushes)
            series.pushes += 1
        return self._put_locked(series) if series.count > series.sent else 0

    def _pause(self, error: ApiFailure | None) -> None:
        asked = error.retry_after if isinstance(error, StatusError) else None
        pause = min(_PAUSE[1], _PAUSE[0] * 2.0 ** min(self._failures, 10))
        self._failures += 1
        self._resume_at = self._clock.monotonic() + max(pause, asked or 0.0)

    def _new_name(self, reference: ObjectReference) -> str:
        return event_name(reference.name, self._rng.getrandbits(64))

    def _tell(self, times: int, outcome: str) -> None:
        for _ in range(times):
            self._count(outcome)


class _Verdict(enum.Enum):
    DONE = enum.auto()
    GONE = enum.auto()  # the Event to update is not there any more: they do not live long
    LATER = enum.auto()
    REFUSED = enum.auto()  # as in a namespace that is being deleted


def _verdict(sent: Series, error: ApiFailure | None) -> _Verdict:
    kind = error.kind if isinstance(error, StatusError) else None
    # The name is ours: it exists if an earlier try was carried out and its answer lost.
    if error is None or (kind is StatusKind.ALREADY_EXISTS and not sent.sent):
        return _Verdict.DONE
    if kind is StatusKind.NOT_FOUND and sent.sent:
        return _Verdict.GONE
    if _is_transient(error) and sent.attempts + 1 < _ATTEMPTS:
        return _Verdict.LATER
    return _Verdict.REFUSED


def _is_transient(error: ApiFailure | None) -> bool:
    if error is None:
        return False
    return not isinstance(error, StatusError) or error.kind in _TRANSIENT


def _nobody() -> None:
    """Nobody sends by himself yet."""


def _never() -> bool:
    """There is no work to yield to yet."""
    return False
