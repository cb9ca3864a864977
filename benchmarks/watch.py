"""Sees objects become ready, as whoever waits for them would."""

import http.client
import threading
import time
from collections.abc import Callable
from typing import Self
from urllib.parse import urlencode

import orjson

from benchmarks.bare import Connection
from benchmarks.objects import Object, collection
from benchmarks.process import Sample

POLL_SECONDS = 1.0

Judge = Callable[[str, Object], bool]


def ready(event: str, obj: Object) -> bool:
    """Whether the object's Ready is True for what its spec is now."""
    if event == "DELETED":
        return False
    generation = obj["metadata"]["generation"]
    for condition in (obj.get("status") or {}).get("conditions") or ():
        if condition["type"] == "Ready":
            return bool(
                condition["status"] == "True" and condition.get("observedGeneration") == generation
            )
    return False


def deleted(event: str, obj: Object) -> bool:
    """Whether the object is gone."""
    del obj
    return event == "DELETED"


def _nothing() -> None:
    """Nobody is known who could have ended."""


class Watch:
    """Notes when each object of a kind was `done`; from `start` on. Its thread ends with it.

    `began` and `ended`: `sample()` at the first event at all, and at the last object.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        namespace: str,
        kind: str,
        *,
        done: Judge = ready,
        expected: int = 0,
    ) -> None:
        self._connection = connect()
        self._path = collection(namespace, kind)
        self._done = done
        self._expected = expected
        self._sample: Callable[[], Sample] = lambda: Sample(time.monotonic(), 0.0)
        self._changed = threading.Condition()  # guards all below
        self._closed = False
        self.began: Sample | None = None
        self.ended: Sample | None = None
        self.done: dict[str, float] = {}
        self.versions: dict[str, str] = {}
        version = self._connection.call("GET", f"{self._path}?limit=1")["metadata"]
        query = {"watch": "true", "resourceVersion": version["resourceVersion"]}
        self._stream = self._connection.open("GET", f"{self._path}?{urlencode(query)}")
        self._thread = threading.Thread(target=self._read, name=f"watch {kind}", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._closed = True
        self._connection.cut()
        self._thread.join()
        self._stream.close()
        self._connection.close()

    def sample_with(self, sample: Callable[[], Sample]) -> None:
        """Whom `began` and `ended` ask."""
        self._sample = sample

    def wait(
        self, seconds: float, count: int | None = None, check: Callable[[], None] = _nothing
    ) -> None:
        """Until `count` objects (default: all that are expected) are done.

        `check` raises when nobody is left who works; asked once in POLL_SECONDS.
        """
        wanted = self._expected if count is None else count
        deadline = time.monotonic() + seconds
        with self._changed:
            while not self._changed.wait_for(lambda: len(self.done) >= wanted, POLL_SECONDS):
                check()
                if time.monotonic() > deadline:
                    text = f"{len(self.done)} of {wanted} were done within {seconds:g} s"
                    raise TimeoutError(text)

    def forget(self) -> None:
        """Begin anew: nothing was seen."""
        with self._changed:
            self.done.clear()
            self.began = self.ended = None

    def forget_one(self, name: str) -> None:
        """That object was not seen."""
        with self._changed:
            self.done.pop(name, None)

    def wait_for(self, name: str, seconds: float) -> float:
        """When that object was done."""
        with self._changed:
            if not self._changed.wait_for(lambda: name in self.done, seconds):
                raise TimeoutError(f"{name} was not done within {seconds:g} s")
            return self.done[name]

    def _read(self) -> None:
        try:
            for line in self._stream:
                event = orjson.loads(line)
                self._take(event["type"], event["object"])
        except (OSError, ValueError, http.client.HTTPException):
            if not self._closed:
                raise

    def _take(self, event: str, obj: Object) -> None:
        now = time.monotonic()
        with self._changed:
            if self.began is None and event != "ADDED":
                self.began = self._sample()
            name = obj["metadata"]["name"]
            if not self._done(event, obj):
                self.done.pop(name, None)
                return
            self.done.setdefault(name, now)
            if len(self.done) >= self._expected and self.ended is None:
                self.ended = self._sample()
            self._changed.notify_all()
