"""The quick look at a head sees what http.client sees."""

from http.client import HTTPResponse

import pytest
from hypothesis import given

from lldap.responsehead import PlainResponse, plain_fields
from tests.support.responseheads import BODY, answers, read_by

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX: a\r\nx: b\r\nContent-Length: 18"


@given(answers())
def test_every_answer_is_understood_as_http_client_does(data: bytes) -> None:
    assert read_by(PlainResponse, data) == read_by(HTTPResponse, data)


def test_a_plain_head_is_read_here() -> None:
    fields = plain_fields(PLAIN)
    assert fields is not None
    assert fields.get("content-TYPE") == "application/json"
    assert fields.get_all("X") == ["a", "b"]
    assert fields.get("x") == "a"
    assert fields.get("Y", "none") == "none"
    assert fields.get_all("Y") is None
    assert len(fields.items()) == 4
    seen = read_by(PlainResponse, PLAIN + b"\r\n\r\n" + BODY)
    assert seen is not None
    assert (seen.length, seen.rest) == (18, BODY)


@pytest.mark.parametrize(
    "line",
    [
        "Connection: close",
        "Transfer-Encoding: chunked",
        "Content-Length: 18",
        " folded",
        "x",
        "a b: c",
    ],
)
def test_an_odd_head_is_left_to_http_client(line: str) -> None:
    assert plain_fields(PLAIN + b"\r\n" + line.encode()) is None


def test_a_head_without_a_length_is_left_to_http_client() -> None:
    assert plain_fields(b"HTTP/1.1 200 OK\r\nX: a") is None
