"""The parts of a connection that no scripted server reaches for sure."""

import io
import socket
import time
from collections.abc import Iterator

import pytest

from informers.connection import OpenReaders, Reader, TimedConnection
from tests.support.clock import FakeClock


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def reader_of(sock: socket.socket, readers: OpenReaders) -> Reader:
    raw = sock.makefile("rb", buffering=0)
    assert isinstance(raw, io.RawIOBase)
    sock.settimeout(0)
    return Reader(raw, sock, lambda: time.monotonic() + 5.0, readers, time.monotonic)


def test_an_answer_that_begins_after_all_was_aborted_is_aborted_too(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    readers = OpenReaders()
    readers.abort_all()
    with reader_of(pair[0], readers) as reader:
        assert reader.read(1) == b""


def test_an_answer_that_has_been_read_is_not_aborted(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    readers = OpenReaders()
    reader = reader_of(pair[0], readers)
    reader.close()
    reader.close()
    reader.abort()
    readers.abort_all()
    pair[1].send(b"x")
    assert pair[0].recv(1) == b"x"


def test_no_wait_begins_after_the_deadline(pair: tuple[socket.socket, socket.socket]) -> None:
    clock = FakeClock()
    connection = TimedConnection(host="x", readers=OpenReaders(), monotonic=clock.monotonic)
    connection.sock = pair[0]
    connection.timeout = 1.0
    connection.send(b"x")
    clock.advance(1.0)
    with pytest.raises(TimeoutError):
        connection.send(b"x")
    assert connection.timeout == 0.001
    connection.timeout = None
    connection.send(b"x")
    assert connection.timeout is None
    connection.sock = None
