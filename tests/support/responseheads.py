"""Heads of answers, plain and odd, and what http.client makes of them."""

import io
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import cast

from hypothesis import strategies as st

BODY = b'{"kind": "Status"}'

_NAMES = ("Content-Type", "Audit-Id", "X-Note", "x-note", "Set-Cookie", "Date", "Warning")
_VALUES = st.text(st.characters(max_codepoint=0xFF, exclude_characters="\r\n"))
_ODD_LINES = (
    "Connection: close",
    "connection: keep-alive",
    "Transfer-Encoding: chunked",
    "Content-Length: 3",
    "Content-Length : 3",
    "Content-Length: -1",
    "Content-Length: ",
    "Content-Length: 1_0",
    "Content-Length: \u00b2",
    " folded",
    "\tfolded",
    "no colon",
    ": no name",
    "a b: space in the name",
    "X: a\x00b",
    "X: a\rb",
    "X: a\nContent-Length: 1",
    "",
)
_STATUS_LINES = (
    *("HTTP/1.1 200 OK", "HTTP/1.1 201 Created", "HTTP/1.1 404 Not Found", "HTTP/1.1 500 "),
    *("HTTP/1.1 409", "HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified", "HTTP/1.0 200 OK"),
    *("HTTP/1.1 100 Continue", "HTTP/1.1 099 X", "HTTP/1.1 2000 X", "HTTP/1.1  200 OK", "200 OK"),
    *("http/1.1 200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 200 \u00e9"),
    "HTTP/1.1 200 OK\nTransfer-Encoding: chunked",
)


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    """An answer whose head is most often plain."""
    lines = [
        f"{draw(st.sampled_from(_NAMES))}:{draw(st.sampled_from(['', ' ', '  ']))}{draw(_VALUES)}"
        for _ in range(draw(st.integers(0, 4)))
    ]
    lines.append(f"Content-Length: {len(BODY)}")
    lines += draw(st.lists(st.sampled_from(_ODD_LINES), max_size=2))
    first = draw(st.sampled_from(_STATUS_LINES))
    head = "\r\n".join([first, *draw(st.permutations(lines))]).encode("latin-1")
    return head + draw(st.sampled_from([b"\r\n\r\n", b"\r\n", b""])) + BODY


class Received:
    """What http.client takes for a socket: everything has come already."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(cast("io.RawIOBase", io.BytesIO(self._data)))


@dataclass(frozen=True)
class Read:
    """An answer as a reader understood it."""

    status: int
    reason: str
    version: int
    fields: list[tuple[str, str]]
    length: int | None
    chunked: bool
    will_close: bool
    rest: bytes


def read_by(kind: type[HTTPResponse], data: bytes) -> Read | None:
    """None if it refuses the head."""
    with kind(Received(data), method="GET") as response:  # type: ignore[arg-type]
        try:
            response.begin()
        except (HTTPException, ValueError):
            return None
        return Read(
            response.status,
            response.reason.strip(),
            response.version,
            [(name, value.strip(" \t")) for name, value in response.headers.items()],
            response.length,
            bool(response.chunked),
            response.will_close,
            response.fp.read() if response.fp else b"",
        )
