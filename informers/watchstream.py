"""From the bytes of a watch to its events: one JSON object a line."""

from collections import deque
from typing import Final, NamedTuple

import orjson

from informers.errors import EndOfStream, GarbledStream
from informers.objects import Object
from informers.transport import RawStream

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
"""etcd takes objects of 1.5 MiB; as JSON, with its managedFields, one stays far below this."""


class WatchEvent(NamedTuple):
    """One event; `type` is ADDED, MODIFIED, DELETED, BOOKMARK, ERROR or something newer."""

    type: str
    object: Object


class LineSplitter:
    """Cuts a stream of bytes at its line ends, wherever the pieces begin and end. One thread.

    Works on bytes: a character that is spread over two pieces is never looked at half. Empty
    lines are dropped; a carriage return before the line end is white space to JSON.
    """

    def __init__(self, max_line: int = MAX_LINE_BYTES) -> None:
        self._max_line = max_line
        self._begun: list[bytes] = []  # pieces of the line whose end has not come
        self._begun_bytes = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that end in `piece`. Raises GarbledStream for a line above the bound."""
        *ended, rest = piece.split(b"\n")
        if ended and self._begun:
            ended[0] = b"".join((*self._begun, ended[0]))
            self._begun.clear()
            self._begun_bytes = 0
        if rest:
            self._begun.append(rest)
            self._begun_bytes += len(rest)
        if self._begun_bytes > self._max_line or any(len(x) > self._max_line for x in ended):
            raise GarbledStream(f"a line of the watch is longer than {self._max_line} bytes")
        return [line for line in ended if line.strip()]


def decode_event(line: bytes) -> WatchEvent:
    """The event in one line. Raises GarbledStream, which neither quotes nor keeps it."""
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        event = None
    if isinstance(event, dict):
        kind, obj = event.get("type"), event.get("object")
        if isinstance(kind, str) and isinstance(obj, dict):
            return WatchEvent(kind, obj)
    raise GarbledStream("a line of the watch is no event")


class RestWatchStream:
    """The events of one watch. `close`: any thread; `next`: one thread."""

    def __init__(self, stream: RawStream, max_line: int = MAX_LINE_BYTES) -> None:
        self._stream = stream
        self._splitter = LineSplitter(max_line)
        self._lines: deque[bytes] = deque()

    def next(self) -> WatchEvent | None:
        """See WatchStream. Waits as long as the transport's `read_timeout`."""
        while not self._lines:
            piece = self._stream.read()
            if piece is None:
                return None
            if not piece:
                raise EndOfStream("the server ended the watch")
            self._lines.extend(self._splitter.feed(piece))
        return decode_event(self._lines.popleft())

    def close(self) -> None:
        """Let go of the connection; a `next` that waits raises StreamClosed."""
        self._stream.close()
