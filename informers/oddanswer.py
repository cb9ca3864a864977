"""An answer as http.client reads it, strict about where it begins and where it ends."""

import http.client
import io
import re
from collections.abc import Callable
from typing import Any, Final

_BEFORE_THE_ANSWER: Final = range(100, 200)
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_CLEAR: Final = frozenset({"", "identity", "chunked"})


class OddAnswer(http.client.HTTPResponse):
    """What has no plain head, and what urllib3 opens: a watch, or the answer of a proxy."""

    def __init__(
        self, answer: io.BufferedReader, method: str | None, ended: Callable[[], None]
    ) -> None:
        """Nothing has been taken of `answer` yet. `ended`: called before it is closed."""
        self._source = _Source(answer, ended)
        source: Any = self._source
        super().__init__(source, method=method)

    def begin(self) -> None:
        """Read the head. http.client would take "103 Early Hints" for the answer itself."""
        super().begin()
        while self.status in _BEFORE_THE_ANSWER:
            if self.status == http.HTTPStatus.SWITCHING_PROTOCOLS:
                raise http.client.HTTPException("another protocol, which nobody asked for")
            self.headers = self.msg = None  # type: ignore[assignment]  # as in its __init__
            super().begin()
        self._source.begun = True
        lengths = {length.strip() for length in self.headers.get_all("content-length", ())}
        encoding = self.headers.get("transfer-encoding", "").lower()
        if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)) or encoding not in _CLEAR:
            raise http.client.HTTPException("it is not clear where the answer ends")
        if lengths and self.chunked:
            self.will_close = True


class _Source:
    """What http.client takes for a socket, and for the file that it makes of one."""

    def __init__(self, answer: io.BufferedReader, ended: Callable[[], None]) -> None:
        self.begun = False
        self.read1, self.readinto = answer.read1, answer.readinto
        self.peek, self.flush = answer.peek, answer.flush
        self._answer = answer
        self._ended = ended

    def makefile(self, _mode: str) -> "_Source":
        return self

    def readline(self, limit: int) -> bytes:
        """http.client takes a head or a trailer that breaks off for one that is whole."""
        line = self._answer.readline(limit)
        if not line and self._answer.tell():
            raise http.client.IncompleteRead(b"")
        return line

    def read(self, size: int) -> bytes:
        """http.client hands on the size of a chunk; less than 0 would be: without any limit."""
        if size < 0:
            raise http.client.HTTPException("a chunk cannot be smaller than nothing")
        return self._answer.read(size)

    def close(self) -> None:
        if self.begun:  # of a proxy's answer to CONNECT, urllib3 leaves the body behind
            self._ended()
        self._answer.close()
