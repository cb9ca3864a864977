"""The head of an answer, read here if nothing about it is odd.

http.client gives every head to Python's e-mail parser, which takes as long as the rest of a small
call. Any head that is not quite plain is still left to it.
"""

import re
from collections.abc import Iterable
from http.client import HTTPMessage, HTTPResponse
from typing import Any

_STATUS = re.compile(rb"HTTP/1\.1 ([2-5]\d\d)(?: ([ -~]*))?\r\n")
_FIELD = re.compile(r"([\w!#$%&'*+.^`|~-]+):[ \t]*([^\0\r\n]*?)[ \t]*", re.ASCII)
_ODD = frozenset({"transfer-encoding", "connection", "trailer"})
_WITHOUT_BODY = frozenset({204, 304})


class Fields(HTTPMessage):
    """Header fields, split already; of a repeated one `get` has the first. Not to be changed."""

    def __init__(self, fields: Iterable[tuple[str, str]]) -> None:
        super().__init__()
        self._fields = list(fields)
        self._first = {name.lower(): value for name, value in reversed(self._fields)}

    @property
    def names(self) -> Iterable[str]:
        """The names, in lower case."""
        return self._first.keys()

    def get(self, name: str, failobj: Any = None) -> Any:  # noqa: ANN401 - as the base class has it
        """The first value of `name`."""
        return self._first.get(name.lower(), failobj)

    def items(self) -> list[tuple[str, str]]:
        """All fields, as they came."""
        return list(self._fields)

    def get_all(self, name: str, failobj: Any = None) -> Any:  # noqa: ANN401
        """All values of `name`."""
        lower = name.lower()
        return [value for each, value in self._fields if each.lower() == lower] or failobj

    def get_payload(self, *_: object, **__: object) -> None:
        """None: a head has no body."""


class PlainResponse(HTTPResponse):
    """http.client's, with its own look at the head."""

    def begin(self) -> None:
        """Read the head."""
        known: HTTPMessage | None = self.headers
        if known is not None:
            return
        there: bytes = self.fp.peek(1)
        end = there.find(b"\r\n\r\n")
        status = _STATUS.match(there)
        fields = plain_fields(there[:end]) if end >= 0 else None
        if status is None or fields is None or int(status[1]) in _WITHOUT_BODY:
            super().begin()
            return
        self.fp.read(end + 4)
        self.version, self.chunked, self.will_close = 11, False, False
        self.code = self.status = int(status[1])
        self.reason = (status[2] or b"").decode("ascii")
        self.headers = self.msg = fields
        self.length = int(fields.get("content-length"))


def plain_fields(head: bytes) -> Fields | None:
    """The fields of a head whose body has a stated length and whose connection stays open."""
    lines = head.decode("latin-1").split("\r\n")[1:]
    matches = [match for match in map(_FIELD.fullmatch, lines) if match is not None]
    fields = Fields((match[1], match[2]) for match in matches)
    lengths = fields.get_all("content-length", [])
    plain = len(lengths) == 1 and lengths[0].isascii() and lengths[0].isdigit()
    odd = len(matches) < len(lines) or not _ODD.isdisjoint(fields.names)
    return None if odd or not plain else fields
