"""The quick look at a head sees what http.client sees."""

from http.client import HTTPResponse

import pytest
from hypothesis import given

from lldap.responsehead import plain_head
from tests.support.responseheads import BODY, answers, read_by

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX: a\r\nContent-Length: 18"


@given(answers())
def test_a_plain_head_is_understood_as_http_client_does(data: bytes) -> None:
    head = plain_head(data)
    if head is None:
        return
    read = read_by(HTTPResponse, data)
    assert read is not None
    assert (head.status, head.length, data[head.size :]) == (read.status, read.length, read.rest)
    types = [value for name, value in read.fields if name.lower() == "content-type"]
    assert head.content_type == (types or [""])[0]
    assert (read.chunked, read.will_close) == (False, False)


def test_a_plain_head_is_read_here() -> None:
    head = plain_head(PLAIN + b"\r\n\r\n" + BODY)
    assert head is not None
    assert (head.status, head.content_type) == (200, "application/json")
    assert (head.size, head.length) == (len(PLAIN) + 4, 18)


@pytest.mark.parametrize("size", range(0, len(PLAIN) + 4, 7))
def test_a_head_that_is_not_whole_is_not_read(size: int) -> None:
    assert plain_head((PLAIN + b"\r\n\r\n")[:size]) is None


@pytest.mark.parametrize(
    "line",
    [
        *("Connection: close", "Transfer-Encoding: chunked", "Content-Length: 18", "Trailer: x"),
        *(" folded", "x", "a b: c"),
    ],
)
def test_an_odd_head_is_left_to_http_client(line: str) -> None:
    assert plain_head(PLAIN + b"\r\n" + line.encode() + b"\r\n\r\n" + BODY) is None


@pytest.mark.parametrize("line", [b"X: a", b"Content-Length: -1", b"Content-Length: 1_0"])
def test_a_head_without_a_length_is_left_to_http_client(line: bytes) -> None:
    assert plain_head(b"HTTP/1.1 200 OK\r\n" + line + b"\r\n\r\n") is None
