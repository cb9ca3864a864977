"""A body that comes in chunks, taken apart as it comes."""

import http.client
import io
import re
from typing import Final

PIECE_BYTES: Final = 64 * 1024  # read at once: a TLS record has 16 KB at most

MAX_LINE_BYTES: Final = 16 * 1024
"""Of what may stand between two chunks: more is no body in chunks."""

_SIZE: Final = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
_END: Final = b"\r\n"


class Chunks:
    """Takes the pieces of a body in chunks, wherever they are cut. One thread.

    http.client asks the connection for each size by itself, and urllib3 copies what it gets: that
    is most of what reading a watch costs.
    """

    def __init__(self) -> None:
        self._left = 0  # bytes of this chunk that have not come
        self._inside = False  # a chunk: its data, or the line end after it
        self._trailing = False  # after the last chunk
        self._held = b""  # what has come of a line
        self.ended = False

    @property
    def rest(self) -> bytes:
        """What has come behind the end."""
        return self._held

    def read(self, answer: io.BufferedReader) -> bytes:
        """What has come of the body in `answer`, at least a byte; b"" at its end.

        Waits for it. Raises HTTPException for no such body, or one that breaks off.
        """
        while not self.ended:
            piece = answer.read1(PIECE_BYTES)
            if not piece:
                raise http.client.IncompleteRead(b"")
            part = self.feed(piece)
            if part:
                return part
        return b""

    def feed(self, piece: bytes) -> bytes:
        """What `piece` holds of the body. Raises HTTPException if it is none in chunks."""
        data = self._held + piece if self._held else piece
        found, at = [], 0
        while not self.ended:
            if self._left:
                part = data[at : at + self._left]
                found.append(part)
                at += len(part)
                self._left -= len(part)
            after = None if self._left else self._line(data, at)
            if after is None:
                break
            at = after
        self._held = data[at:]
        if not self.ended and len(self._held) > MAX_LINE_BYTES:
            raise _malformed()
        return found[0] if len(found) == 1 else b"".join(found)

    def _line(self, data: bytes, at: int) -> int | None:
        """Understand the line that begins at `at`: where it ends; None if it is not whole."""
        if self._inside or self._trailing:
            return self._line_end(data, at)
        size = _SIZE.match(data, at)
        if size is None:
            if b"\n" in data[at:]:
                raise _malformed()
            return None
        self._left = int(size[1], 16)
        self._inside = self._left > 0
        self._trailing = not self._inside
        return size.end()

    def _line_end(self, data: bytes, at: int) -> int | None:
        end = data.find(_END, at)
        if end == at:
            self.ended = self._trailing
            self._inside = False
        elif self._inside and len(data) >= at + len(_END):
            raise _malformed()
        return None if end < 0 else end + len(_END)


def _malformed() -> http.client.HTTPException:
    return http.client.HTTPException("the chunks of the body are malformed")
