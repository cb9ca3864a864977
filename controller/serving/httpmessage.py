"""Requests and responses of the small HTTP server, and their bytes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

MAX_HEAD: Final = 8 * 1024
"""Bytes of request line and headers; a scraper's token alone may be 2 kB."""

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked: path and query apart, names of headers in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Response:
    """What is answered; for HEAD without its body."""

    status: HTTPStatus
    body: bytes
    content_type: str
    headers: Headers = ()


Handler = Callable[[Request], Response]

Guard = Callable[[Request], Response | None]
"""Asked before a handler: None lets the request pass, a response is sent instead."""


class RequestError(Exception):
    """A request that cannot be served; `response` says why."""

    def __init__(self, status: HTTPStatus, headers: Headers = ()) -> None:
        super().__init__(status.phrase)
        self.response = plain(status, headers=headers)


def plain(status: HTTPStatus, body: str | None = None, headers: Headers = ()) -> Response:
    """A response in plain text; by default the words of its status."""
    content = (status.phrase if body is None else body) + "\n"
    return Response(status, content.encode(), "text/plain; charset=utf-8", headers)


def admit_all(_: Request) -> None:
    """The guard that lets every request pass."""


def parse(head: bytes) -> Request:
    """The request that `head` asks. Raises RequestError if it is none that is served."""
    line, *fields = head.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    words = line.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1.") or not words[1].startswith("/"):
        raise RequestError(HTTPStatus.BAD_REQUEST)
    method, target, _ = words
    if method not in {"GET", "HEAD"}:
        raise RequestError(HTTPStatus.METHOD_NOT_ALLOWED, (("Allow", "GET, HEAD"),))
    path, _, query = target.partition("?")
    return Request(method, path, query, _headers(fields))


def _headers(fields: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for field in fields:
        name, colon, value = field.partition(":")
        if not colon or not name or name != name.strip():
            raise RequestError(HTTPStatus.BAD_REQUEST)
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def encode(request: Request | None, response: Response) -> bytes:
    """The bytes of `response`. `request` is None if it was not understood."""
    headers = (
        ("Content-Type", response.content_type),
        ("Content-Length", str(len(response.body))),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Connection", "close"),
        *response.headers,
    )
    lines = [f"HTTP/1.1 {response.status.value} {response.status.phrase}"]
    lines.extend(f"{name}: {value}" for name, value in headers)
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    return head if request is not None and request.method == "HEAD" else head + response.body
