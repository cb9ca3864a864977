"""Requests as bytes, and heads as http.client sees them."""

from http.client import HTTPResponse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers import ConnectionFailed
from informers.exchange import Headers, plain_head, request_bytes
from tests.support.responseheads import BODY, answers, read_by

PLAIN = b"HTTP/1.1 201 Created\r\nAudit-Id: 1\r\nX: a\r\nx: b\r\nContent-Length: 18"


@given(answers())
def test_a_plain_head_is_what_http_client_reads(data: bytes) -> None:
    head = plain_head(data)
    if head is None:
        return
    read = read_by(HTTPResponse, data)
    assert read is not None
    assert (head.status, head.length, data[head.size :]) == (read.status, read.length, read.rest)
    assert dict(head.headers) == dict(Headers(read.fields))
    assert (read.chunked, read.will_close) == (head.length is None, False)


@given(st.sampled_from(["chunked", "CHUNKED", "gzip, chunked", "chunked, chunked", "identity"]))
def test_chunks_are_plain_if_nothing_is_done_to_them(encoding: str) -> None:
    head = plain_head(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: {encoding}\r\n\r\n".encode())
    assert (head is not None) == (encoding == "chunked")
    assert head is None or head.length is None


def test_a_plain_head() -> None:
    head = plain_head(PLAIN + b"\r\n\r\n" + BODY)
    assert head is not None
    assert (head.status, head.size, head.length) == (201, len(PLAIN) + 4, 18)
    assert head.headers["x"] == "a, b"
    assert head.headers.get("AUDIT-ID") == "1"
    assert head.headers.get("y") is None
    assert len(head.headers) == 3


def test_a_line_in_the_status_line_is_left_to_http_client() -> None:
    assert plain_head(PLAIN.replace(b"Created", b"Created\nX: y") + b"\r\n\r\n" + BODY) is None


@pytest.mark.parametrize("size", range(0, len(PLAIN) + 4, 7))
def test_a_head_that_is_not_whole_is_not_read(size: int) -> None:
    assert plain_head((PLAIN + b"\r\n\r\n")[:size]) is None


@pytest.mark.parametrize(
    "line",
    [
        *("Connection: close", "Transfer-Encoding: chunked", "Content-Length: 18"),
        *(" folded", "x", "a b: c", "Content-Encoding: gzip", "Trailer: x"),
    ],
)
def test_an_odd_head_is_left_to_http_client(line: str) -> None:
    assert plain_head(PLAIN + b"\r\n" + line.encode() + b"\r\n\r\n" + BODY) is None


def test_a_request_says_how_long_it_is() -> None:
    headers = {"Host": "a:1", "Accept": "b"}
    assert request_bytes("GET", "/x?y=%20", headers, None) == (
        b"GET /x?y=%20 HTTP/1.1\r\nHost: a:1\r\nAccept: b\r\n\r\n"
    )
    assert request_bytes("POST", "/", headers, None).endswith(b"Content-Length: 0\r\n\r\n")
    assert request_bytes("PUT", "/", headers, b"{}").endswith(b"Content-Length: 2\r\n\r\n{}")


@pytest.mark.parametrize(
    ("target", "name", "value"),
    [
        *(("/a b", "Accept", "x"), ("/a\r\nX: y", "Accept", "x"), ("/\u00e9", "Accept", "x")),
        *(("", "Accept", "x"), ("/", "A b", "x"), ("/", "", "x"), ("/", "A:", "x\r\nX: y")),
        *(("/", "Accept", "secret\r\nX: y"), ("/", "Accept", "secret\n"), ("/", "Accept", "s\0")),
        ("/", "Accept", "secret \u20ac"),
    ],
)
def test_what_no_request_can_hold_is_not_sent_and_not_quoted(
    target: str, name: str, value: str
) -> None:
    with pytest.raises(ConnectionFailed) as caught:
        request_bytes("GET", target, {name: value}, None)
    assert not caught.value.sent
    assert "secret" not in str(caught.value)
