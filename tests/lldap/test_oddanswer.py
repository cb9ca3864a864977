"""Answers that http.client reads, and what is asked of them beyond that."""

import io
from http.client import HTTPException
from typing import cast

import pytest

from lldap.oddanswer import OddAnswer

OK = b"HTTP/1.1 200 OK\r\n"
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\nContent-Length: 7\r\n\r\n"


def begun(data: bytes) -> OddAnswer:
    found = OddAnswer(io.BufferedReader(cast("io.RawIOBase", io.BytesIO(data))), "GET")
    found.begin()
    return found


@pytest.mark.parametrize("before", [EARLY, b"HTTP/1.1 100 Continue\r\n\r\n" + EARLY + EARLY])
def test_what_comes_before_the_answer_is_none(before: bytes) -> None:
    found = begun(before + OK + b"Content-Length: 2\r\n\r\n{}")
    assert (found.status, found.read(9), found.headers.get("link")) == (200, b"{}", None)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 101 Switching Protocols\r\n",
        *(OK + b"Content-Length: %b\r\n" % length for length in (b"+2", b"-1", b"1_0", b"")),
        *(OK + b"Content-Length: %b\r\n" % length for length in (b"2, 2", b"9" * 19)),
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n",
        OK + b"Transfer-Encoding: gzip, chunked\r\n",
    ],
)
def test_an_answer_whose_end_is_not_clear_is_refused(head: bytes) -> None:
    with pytest.raises(HTTPException):
        begun(head + b"\r\n2\r\n{}\r\n0\r\n\r\n")


def test_a_length_may_be_said_twice() -> None:
    found = begun(OK + b"Content-Length: 2\r\n" * 2 + b"\r\n{}")
    assert (found.read(9), found.will_close) == (b"{}", False)
    assert found.taken == 59


def test_after_chunks_with_a_length_the_connection_is_left() -> None:
    head = OK + b"Transfer-Encoding: chunked\r\n"
    assert begun(head + b"Content-Length: 2\r\n\r\n").will_close
    assert not begun(head + b"\r\n").will_close


@pytest.mark.parametrize("size", [b"-1", b"-7"])
def test_a_chunk_smaller_than_nothing_is_refused(size: bytes) -> None:
    found = begun(OK + b"Transfer-Encoding: chunked\r\n\r\n" + size + b"\r\n" + b"x" * 99)
    with pytest.raises(HTTPException):
        found.read(10)


@pytest.mark.parametrize(
    "whole",
    [
        OK + b"Content-Length: 10\r\n\r\n0123456789",
        OK + b"Transfer-Encoding: chunked\r\n\r\n02\r\n{}\r\n0a\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
    ],
)
def test_an_answer_that_breaks_off_anywhere_is_none(whole: bytes) -> None:
    assert is_whole(whole)
    assert not any(is_whole(whole[:size]) for size in range(len(whole)))


def is_whole(data: bytes) -> bool:
    try:
        found = begun(data)
        found.read(100)
    except (HTTPException, ConnectionError):
        return False
    return not found.length
