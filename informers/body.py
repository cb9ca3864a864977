"""The body of an answer that goes on, such as a watch."""

import urllib3

from informers.chunks import PIECE_BYTES, Chunks
from informers.connection import TimedConnection


class Body:
    """Gives the body as it comes. `abort`: any thread; the rest: one thread.

    One in chunks is taken apart here, any other by urllib3.
    """

    def __init__(self, response: urllib3.BaseHTTPResponse) -> None:
        """`response` is that of a TimedConnection, and nothing has been read of its body."""
        connection = response.connection
        assert isinstance(connection, TimedConnection)
        assert connection.reader is not None
        self._reader = connection.reader
        self._response = response
        self._raw = connection.response
        plain = "content-encoding" not in response.headers
        self._chunks = Chunks() if plain and self._raw is not None and self._raw.chunked else None

    def idle_after(self, seconds: float) -> None:
        """From now on each read may take `seconds`; the call's deadline no longer counts."""
        self._reader.idle_after(seconds)

    def abort(self) -> None:
        """Make a read that waits in another thread end at once."""
        self._reader.abort()

    def read(self) -> bytes:
        """What has come; b"" at the end. Raises CALL_ERRORS."""
        chunks = self._chunks
        if chunks is None:
            return self._response.read1(PIECE_BYTES)
        assert self._raw is not None
        part = chunks.read(self._raw.fp)
        if not part:
            self._let_go(chunks)
        return part

    def _let_go(self, chunks: Chunks) -> None:
        """The next call may use the connection, if its answer begins where this one ends."""
        assert self._raw is not None
        if chunks.rest or self._raw.will_close:
            self._response.close()
        elif not self._raw.isclosed():
            self._raw.close()
            self._response.release_conn()
