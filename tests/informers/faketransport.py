"""A transport that gives the answer it was made with, and streams of given pieces."""

import datetime
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
import pytest
from urllib3 import HTTPHeaderDict

from informers import (
    Object,
    RawResponse,
    RestClient,
    StatusError,
)
from informers.transport import NO_HEADERS, BeforeSend, Query

NOW = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)


class Bytes:
    """A stream of the pieces given, then its end."""

    def __init__(self, pieces: Iterable[bytes | None], error: Exception | None = None) -> None:
        self.status = 200
        self.headers: Mapping[str, str] = {}
        self.pieces = iter(pieces)
        self.error = error
        self.closed = False

    def read(self) -> bytes | None:
        for piece in self.pieces:
            return piece
        if self.error:
            raise self.error
        return b""

    def close(self) -> None:
        self.closed = True


def line(kind: str, obj: Object) -> bytes:
    return orjson.dumps({"type": kind, "object": obj}) + b"\n"


class FakeTransport:
    """Gives the answer it was made with and keeps the request."""

    def __init__(self, status: int = 200, body: bytes = b"{}", **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answer = RawResponse(status, HTTPHeaderDict(named), body)
        self.error: Exception | None = None
        self.asked: dict[str, Any] = {}
        self.opened = Bytes([body])

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        headers: Mapping[str, str] = NO_HEADERS,
        body: bytes | None = None,
        timeout: float,
        before_send: BeforeSend | None = None,
    ) -> RawResponse:
        if before_send is not None:
            before_send(timeout)
        self.asked = {
            "method": method,
            "path": path,
            "query": list(query),
            "headers": dict(headers),
            "body": body,
            "timeout": timeout,
        }
        if self.error:
            raise self.error
        return self.answer

    def stream(
        self,
        path: str,
        *,
        query: Query = (),
        headers: Mapping[str, str] = NO_HEADERS,
        timeout: float,
        read_timeout: float,
    ) -> Bytes:
        self.request("GET", path, query=query, headers=headers, timeout=timeout)
        self.asked["read_timeout"] = read_timeout
        self.opened.status = self.answer.status
        self.opened.headers = self.answer.headers
        return self.opened


def client(transport: FakeTransport, **options: Any) -> RestClient:
    return RestClient(transport, call_seconds=10.0, now=lambda: NOW, **options)


def refusal(transport: FakeTransport) -> StatusError:
    with pytest.raises(StatusError) as caught:
        client(transport).get("/x")
    return caught.value
