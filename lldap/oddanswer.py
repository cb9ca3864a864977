"""An answer as http.client reads it, strict about where it begins and where it ends."""

import http.client
import io
import re
from typing import Any, Final

_BEFORE_THE_ANSWER: Final = range(100, 200)
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_CLEAR: Final = frozenset({"", "identity", "chunked"})


class OddAnswer(http.client.HTTPResponse):
    """What has no plain head: in chunks, without a body, the last of its connection or odder."""

    def __init__(self, answer: io.BufferedReader, method: str | None) -> None:
        """Nothing has been taken of `answer` yet, and it is not closed in here."""
        self._source = _Source(answer)
        source: Any = self._source
        super().__init__(source, method=method)

    @property
    def taken(self) -> int:
        """Bytes of head and body so far."""
        return self._source.taken

    def begin(self) -> None:
        """Read the head. http.client would take "103 Early Hints" for the answer itself."""
        super().begin()
        while self.status in _BEFORE_THE_ANSWER:
            if self.status == http.HTTPStatus.SWITCHING_PROTOCOLS:
                raise http.client.HTTPException("another protocol, which nobody asked for")
            self.headers = self.msg = None  # type: ignore[assignment]  # as in its __init__
            super().begin()
        lengths = {length.strip() for length in self.headers.get_all("content-length", ())}
        encoding = self.headers.get("transfer-encoding", "").lower()
        if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)) or encoding not in _CLEAR:
            raise http.client.HTTPException("it is not clear where the answer ends")
        if lengths and self.chunked:
            self.will_close = True


class _Source:
    """What http.client takes for a socket, and for the file that it makes of one."""

    def __init__(self, answer: io.BufferedReader) -> None:
        self.taken = 0
        self._answer = answer

    def makefile(self, _mode: str) -> "_Source":
        return self

    def readline(self, limit: int) -> bytes:
        """http.client takes a head or a trailer that breaks off for one that is whole."""
        line = self._answer.readline(limit)
        self.taken += len(line)
        if not line and self.taken:
            raise http.client.IncompleteRead(b"")
        return line

    def read(self, size: int) -> bytes:
        """http.client hands on the size of a chunk; less than 0 would be: without any limit."""
        if size < 0:
            raise http.client.HTTPException("a chunk cannot be smaller than nothing")
        data = self._answer.read(size)
        self.taken += len(data)
        return data

    def close(self) -> None:
        """Whoever gave the answer closes it."""
