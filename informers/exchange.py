"""A request as bytes, and the whole answer to it.

http.client hands the head of every answer to Python's e-mail parser, and urllib3 copies what comes
out of it: that is most of what a small call costs. A head with nothing odd about it is read here,
and its body, which says how long it is or comes in chunks (an API server sends all above 2 KB so);
any other answer is left to them.
"""

import http.client
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import urllib3

from informers.chunks import Chunks
from informers.connection import TimedConnection
from informers.errors import AnswerTooLarge, ConnectionFailed
from informers.transport import BeforeSend, RawResponse

PIECE_BYTES: Final = 4 * 1024 * 1024

_STATUS: Final = re.compile(rb"HTTP/1\.1 ([2-5]\d\d)(?: [^\r\n]*)?\r\n")
_FIELD: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+:[\x01-\x09\x0b\x0c\x0e-\xff]*", re.ASCII)
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_TARGET: Final = re.compile(r"[!-~]+")
_ODD: Final = frozenset({"content-encoding", "connection", "trailer"})
_WITHOUT_BODY: Final = frozenset({204, 304})


class Headers(Mapping[str, str]):
    """The header fields of an answer. Names in any case; of a repeated one, all values."""

    def __init__(self, fields: Iterable[tuple[str, str]]) -> None:
        self._fields: dict[str, str] = {}
        for name, value in fields:
            lower = name.lower()
            held = self._fields.get(lower)
            self._fields[lower] = value if held is None else f"{held}, {value}"

    def __getitem__(self, name: str) -> str:
        return self._fields[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


@dataclass(frozen=True, slots=True)
class Head:
    """A plain head: `size` bytes of it, then the body, and the connection stays.

    `length`: bytes of the body; None if it comes in chunks.
    """

    status: int
    headers: Headers
    size: int
    length: int | None


def plain_head(data: bytes) -> Head | None:
    """The head that `data` begins with; None if it is not whole, or if anything is odd about it."""
    end = data.find(b"\r\n\r\n")
    status = _STATUS.match(data)
    if end < 0 or status is None or int(status[1]) in _WITHOUT_BODY:
        return None
    fields = data[:end].decode("latin-1").split("\r\n")[1:]
    if not all(map(_FIELD.fullmatch, fields)):
        return None
    parted = (field.partition(":") for field in fields)
    headers = Headers((name, value.strip(" \t")) for name, _, value in parted)
    if not _ODD.isdisjoint(headers):
        return None
    length, encoding = headers.get("content-length"), headers.get("transfer-encoding")
    if length is None and encoding == "chunked":
        return Head(int(status[1]), headers, end + 4, None)
    if length is None or encoding is not None or not _LENGTH.fullmatch(length):
        return None
    return Head(int(status[1]), headers, end + 4, int(length))


def request_bytes(
    method: str, target: str, headers: Mapping[str, str], body: bytes | None
) -> bytes:
    """One request. Raises ConnectionFailed for what no request can hold; it quotes nothing."""
    fields = [f"{name}: {value}" for name, value in headers.items()]
    if body is not None or method not in {"GET", "DELETE"}:
        fields.append(f"Content-Length: {len(body or b'')}")
    if not _TARGET.fullmatch(target) or not all(map(_FIELD.fullmatch, fields)):
        raise ConnectionFailed("the request holds characters that HTTP cannot", sent=False)
    head = "\r\n".join((f"{method} {target} HTTP/1.1", *fields, "\r\n"))
    return head.encode("latin-1") + (body or b"")


def exchange(
    connection: TimedConnection,
    method: str,
    request: bytes,
    *,
    max_bytes: int,
    before_send: BeforeSend | None,
) -> RawResponse:
    """Send `request` over a connection that stands, and read the whole answer.

    A connection that cannot be used again is closed then, as it is after any error. Raises
    CALL_ERRORS, AnswerTooLarge and what `before_send` raises.
    """
    try:
        connection.begin(request, before_send)
        with connection.answer() as answer:
            return _whole(connection, method, answer, max_bytes)
    except BaseException:
        connection.close()
        raise


def _whole(
    connection: TimedConnection, method: str, answer: io.BufferedReader, max_bytes: int
) -> RawResponse:
    head = plain_head(answer.peek(1))
    if head is None:
        return _odd(connection, method, answer, max_bytes)
    answer.read(head.size)
    if head.length is None:
        body = _in_chunks(connection, answer, max_bytes)
    else:
        body = _of_length(answer, head.length, max_bytes)
        connection.end_at(head.size + head.length)
    return RawResponse(head.status, head.headers, body)


def _of_length(answer: io.BufferedReader, length: int, max_bytes: int) -> bytes:
    if length > max_bytes:
        raise _too_large(max_bytes)
    body = answer.read(length)
    if len(body) < length:
        raise http.client.IncompleteRead(body, length - len(body))
    return body


def _in_chunks(connection: TimedConnection, answer: io.BufferedReader, max_bytes: int) -> bytes:
    chunks, parts, size = Chunks(), [], 0
    while part := chunks.read(answer):
        parts.append(part)
        size += len(part)
        if size > max_bytes:
            raise _too_large(max_bytes)
    connection.end_at(answer.tell() - len(chunks.rest))
    return b"".join(parts)


def _odd(
    connection: TimedConnection, method: str, answer: io.BufferedReader, max_bytes: int
) -> RawResponse:
    """An answer that is packed, without a body, of unknown length, or its connection's last."""
    response = connection.read_by_http_client(answer, method)
    response.begin()
    headers = Headers(response.headers.items())
    wrapped = urllib3.HTTPResponse(
        response, headers=headers, status=response.status, preload_content=False
    )
    pieces, size = [], 0
    while piece := wrapped.read(PIECE_BYTES):
        pieces.append(piece)
        size += len(piece)
        if size > max_bytes:
            raise _too_large(max_bytes)
    if response.will_close:
        connection.close()
    return RawResponse(response.status, headers, b"".join(pieces))


def _too_large(max_bytes: int) -> AnswerTooLarge:
    return AnswerTooLarge(f"the answer is longer than {max_bytes} bytes")
