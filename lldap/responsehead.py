"""The head of an answer, read here if nothing about it is odd.

http.client gives every head to Python's e-mail parser, which takes as long as the rest of a small
call. Any head that is not quite plain is still left to it.
"""

import re
from dataclasses import dataclass

_STATUS = re.compile(rb"HTTP/1\.1 ([2-5]\d\d)(?: [ -~]*)?\r\n")
_FIELD = re.compile(r"([\w!#$%&'*+.^`|~-]+):[ \t]*([^\0\r\n]*?)[ \t]*", re.ASCII)
_LENGTH = re.compile(r"[0-9]{1,18}")
_ODD = frozenset({"transfer-encoding", "connection", "trailer"})
_WITHOUT_BODY = frozenset({204, 304})


@dataclass(frozen=True, slots=True)
class Head:
    """A plain head: `size` bytes of it, then `length` bytes of body, and the connection stays."""

    status: int
    content_type: str
    size: int
    length: int


def plain_head(data: bytes) -> Head | None:
    """The head that `data` begins with; None if it is not whole, or if anything is odd about it."""
    end = data.find(b"\r\n\r\n")
    status = _STATUS.match(data)
    if end < 0 or status is None or int(status[1]) in _WITHOUT_BODY:
        return None
    lines = data[:end].decode("latin-1").split("\r\n")[1:]
    found = [match for match in map(_FIELD.fullmatch, lines) if match is not None]
    fields = {match[1].lower(): match[2] for match in reversed(found)}
    lengths = [match[2] for match in found if match[1].lower() == "content-length"]
    if len(found) < len(lines) or not _ODD.isdisjoint(fields) or len(lengths) != 1:
        return None
    if not _LENGTH.fullmatch(lengths[0]):
        return None
    content_type = fields.get("content-type", "")
    return Head(int(status[1]), content_type, end + 4, int(lengths[0]))
