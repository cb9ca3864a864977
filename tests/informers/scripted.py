"""A source that plays a script, a handler that keeps a record, and how both are stepped."""

import math
import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from informers import (
    ApiFailure,
    ConnectionFailed,
    EndOfStream,
    IndexFunc,
    InformerMetrics,
    ListerWatcher,
    ListPage,
    Object,
    Reflector,
    SharedInformer,
    StatusError,
    StreamClosed,
    Transform,
    WatchEvent,
    drop_managed_fields,
    key_of,
)
from informers.reflector import POLL_SECONDS
from tests.support.clock import FakeClock

EXPIRED = StatusError(410, "Expired", "too old resource version: 1 (325)", body_is_status=True)
TOO_LARGE = StatusError(
    504,
    "Timeout",
    "Too large resource version",
    details={"causes": [{"reason": "ResourceVersionTooLarge"}]},
    retry_after=1.0,
    body_is_status=True,
)
THROTTLED = StatusError(429, "", "Too many requests, please try again later.", retry_after=3.0)
FORBIDDEN = StatusError(403, "Forbidden", "users is forbidden", body_is_status=True)
MISSING = StatusError(404, "", "404 page not found")
BROKEN = StatusError(500, "InternalError", "boom", body_is_status=True)
REFUSED = ConnectionFailed("Connection refused", sent=False)
END = EndOfStream("end")


def obj(
    name: str, rv: str | int, *, uid: str = "", namespace: str | None = "a", **rest: object
) -> Object:
    metadata: Object = {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": str(rv)}
    if namespace is not None:
        metadata["namespace"] = namespace
    return {"metadata": metadata, **rest}


def page(rv: str | int, *items: Object, token: str = "") -> ListPage:
    return ListPage(list(items), str(rv), token)


def added(item: Object) -> WatchEvent:
    return WatchEvent("ADDED", item)


def modified(item: Object) -> WatchEvent:
    return WatchEvent("MODIFIED", item)


def deleted(item: Object) -> WatchEvent:
    return WatchEvent("DELETED", item)


def bookmark(rv: str | int) -> WatchEvent:
    return WatchEvent("BOOKMARK", {"kind": "X", "metadata": {"resourceVersion": str(rv)}})


def error_event(code: int, reason: str, **rest: object) -> WatchEvent:
    return WatchEvent("ERROR", {"kind": "Status", "code": code, "reason": reason, **rest})


Step = WatchEvent | ApiFailure | Callable[[], None] | None


class ScriptedStream:
    """Plays its steps: an event is given, an error raised, a function called, None given.

    After the last it has nothing for ever.
    """

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps = deque(steps)
        self.closed = False

    def next(self) -> WatchEvent | None:
        while self.steps:
            step = self.steps.popleft()
            if isinstance(step, ApiFailure):
                raise step
            if step is None or isinstance(step, WatchEvent):
                return step
            step()
        if self.closed:
            raise StreamClosed("closed")
        return None

    def close(self) -> None:
        self.closed = True


class ScriptedListWatch:
    """Answers lists and watches in the order given, and keeps what it was asked."""

    def __init__(
        self,
        lists: Sequence[ListPage | ApiFailure],
        watches: Sequence[Sequence[Step] | ApiFailure] = (),
    ) -> None:
        self.lists = deque(lists)
        self.watches = deque(watches)
        self.calls: list[tuple[Any, ...]] = []
        self.streams: list[ScriptedStream] = []
        self.times: list[float] = []
        self.clock: FakeClock | None = None

    @property
    def verbs(self) -> list[str]:
        return [call[0] for call in self.calls]

    @property
    def versions(self) -> list[tuple[str, str]]:
        return [(call[0], call[1]) for call in self.calls]

    def list(self, resource_version: str, limit: int, continue_token: str) -> ListPage:
        self._called("LIST", resource_version, limit, continue_token)
        answer = self.lists.popleft() if self.lists else page(999)
        if isinstance(answer, ApiFailure):
            raise answer
        return answer

    def watch(self, resource_version: str, timeout_seconds: int) -> ScriptedStream:
        self._called("WATCH", resource_version, timeout_seconds)
        answer = self.watches.popleft() if self.watches else ()
        if isinstance(answer, ApiFailure):
            raise answer
        stream = ScriptedStream(answer)
        self.streams.append(stream)
        return stream

    def _called(self, *call: object) -> None:
        self.calls.append(call)
        if self.clock is not None:
            self.times.append(self.clock.monotonic())


class Recorder:
    """Keeps what it was told, as tuples that are easy to compare."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def on_add(self, obj: Object, initial: bool) -> None:
        self.told.append(("add", key_of(obj), obj["metadata"]["resourceVersion"], initial))

    def on_update(self, old: Object, new: Object) -> None:
        versions = old["metadata"]["resourceVersion"], new["metadata"]["resourceVersion"]
        self.told.append(("update", key_of(new), *versions))

    def on_delete(self, obj: Object, final_state_unknown: bool) -> None:
        version = obj["metadata"]["resourceVersion"]
        self.told.append(("delete", key_of(obj), version, final_state_unknown))


class Rig:
    """An informer over a source, driven in one thread with a clock that stands still by itself."""

    def __init__(
        self,
        source: ListerWatcher | Mapping[str, ListerWatcher],
        *,
        indexers: Mapping[str, IndexFunc] | None = None,
        rng: random.Random | None = None,
        transform: Transform = drop_managed_fields,
        metrics: InformerMetrics | None = None,
        relist_seconds: float = math.inf,
    ) -> None:
        self.clock = FakeClock()
        if isinstance(source, ScriptedListWatch):
            source.clock = self.clock
        self.informer = SharedInformer(
            source,
            clock=self.clock,
            random=rng or random.Random(1),
            name="users",
            indexers=indexers,
            transform=transform,
            metrics=metrics,
            relist_seconds=relist_seconds,
        )
        self.recorder = Recorder()
        self.registration = self.informer.add_handler(self.recorder)
        self.store = self.informer.store

    @property
    def reflector(self) -> Reflector:
        return self.informer.reflectors[0]

    @property
    def told(self) -> list[tuple[Any, ...]]:
        self.deliver()
        return self.recorder.told

    def last_error(self) -> ApiFailure | None:
        return self.informer.last_error

    def deliver(self) -> None:
        for registration in self.informer.registrations:
            while registration.step() == 0:
                pass

    def step(self, count: int = 1) -> float:
        wait = 0.0
        for _ in range(count):
            wait = self.reflector.step()
        return wait

    def settle(self, seconds: float = 0.0) -> None:
        """Step all reflectors until they have nothing now, then go on for `seconds`.

        Pauses of the reflectors within `seconds` are slept through with the clock. It moves on to
        the end only if `seconds` are given and some reflector has nothing to do but to look again.
        """
        until = self.clock.monotonic() + seconds
        for _ in range(20_000):
            waits = [reflector.step() for reflector in self.informer.reflectors]
            if 0 in waits:
                continue
            left = until - self.clock.monotonic()
            pauses = [wait for wait in waits if wait != POLL_SECONDS]
            wait = min(pauses, default=left)
            if left <= 0 or wait > left:
                return
            self.clock.advance(wait)
        raise AssertionError("a hot loop")
