"""ApiClientTransport: answers that go on, and how they end."""

import socket
import threading
import time
from collections.abc import Callable

import pytest

from informers import (
    ApiClientTransport,
    ApiFailure,
    ConnectionFailed,
    DeadlineExceeded,
    StreamClosed,
)
from informers.apiclient import HTTPStream
from tests.informers.rawserver import (
    CHUNKED,
    Peer,
    Script,
)
from tests.informers.sites import LONG, SHORT, Site, failed


def streaming(*pieces: bytes, then: Callable[[Peer], object] = Peer.hang) -> Script:
    def run(peer: Peer) -> None:
        peer.receive()
        peer.send(CHUNKED)
        for piece in pieces:
            peer.chunk(piece)
        then(peer)

    return run


def open_stream(transport: ApiClientTransport, read_timeout: float = LONG) -> HTTPStream:
    return transport.stream(
        "/watch", query=[("watch", "true")], timeout=LONG, read_timeout=read_timeout
    )


def read_for(stream: HTTPStream, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += stream.read()
    return data


def test_a_stream_gives_what_comes_when_it_comes_and_then_its_end(
    site: Callable[[Script], Site],
) -> None:
    more = threading.Event()

    def late(peer: Peer) -> None:
        more.wait(LONG)
        peer.chunk(b"three\n")
        peer.chunk(b"")

    with site(streaming(b"one\n", b"two\n", then=late)) as transport:
        stream = open_stream(transport)
        assert stream.status == 200
        assert stream.headers.get("transfer-encoding") == "chunked"
        assert read_for(stream, 8) == b"one\ntwo\n"
        more.set()
        assert read_for(stream, 6) == b"three\n"
        assert stream.read() == b""
        assert stream.read() == b""
        stream.close()


@pytest.mark.parametrize("connection", ["close", "keep-alive"])
def test_a_stream_without_chunks_is_read_to_its_end(connection: str) -> None:
    def run(peer: Peer) -> None:
        peer.receive()
        peer.send(f"HTTP/1.1 200 OK\r\nConnection: {connection}\r\n\r\none\n".encode())
        peer.over.wait(0.05)
        peer.send(b"two\n")

    with Site(run, None) as transport:
        stream = open_stream(transport)
        assert read_for(stream, 8) == b"one\ntwo\n"
        assert stream.read() == b""
        stream.close()


def test_F03_a_half_open_connection_ends_with_the_read_timeout(
    site: Callable[[Script], Site],
) -> None:
    with site(streaming(b"one\n")) as transport:
        stream = open_stream(transport, read_timeout=SHORT)
        assert stream.read() == b"one\n"
        error, seconds = failed(stream.read)
        assert isinstance(error, DeadlineExceeded)
        assert SHORT <= seconds < SHORT + 0.3
        stream.close()


def test_the_read_timeout_starts_anew_with_each_byte() -> None:
    def drip(peer: Peer) -> None:
        for _ in range(8):
            time.sleep(SHORT / 3)
            peer.chunk(b"x")

    with Site(streaming(then=drip), None) as transport:
        stream = open_stream(transport, read_timeout=SHORT)
        assert read_for(stream, 8) == b"x" * 8
        stream.close()


@pytest.mark.parametrize("end", [lambda peer: None, Peer.reset], ids=["closed", "reset"])
def test_F07_a_stream_that_breaks_off_is_a_failed_connection(end: Callable[[Peer], None]) -> None:
    with Site(streaming(b"one\n", then=end), None) as transport:
        stream = open_stream(transport)
        error, _ = failed(lambda: [stream.read() for _ in range(3)])
        assert isinstance(error, ConnectionFailed)
        stream.close()


def test_the_headers_of_a_stream_must_come_in_time() -> None:
    with Site(Peer.hang, None) as transport:
        error, seconds = failed(lambda: transport.stream("/w", timeout=SHORT, read_timeout=LONG))
        assert isinstance(error, DeadlineExceeded)
        assert seconds < SHORT + 0.3


def test_the_body_of_a_refused_stream_must_come_in_time_too() -> None:
    def refuse(peer: Peer) -> None:
        peer.receive()
        peer.send(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 1000\r\n\r\n")
        peer.drip(b"x" * 1000)

    with Site(refuse, None) as transport:
        stream = transport.stream("/w", timeout=SHORT, read_timeout=LONG)
        assert stream.status == 403
        error, seconds = failed(lambda: read_for(stream, 1000))
        assert isinstance(error, DeadlineExceeded)
        assert seconds < SHORT + 0.3
        stream.close()


@pytest.mark.parametrize("head", [CHUNKED, b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"])
def test_F04_close_ends_a_read_that_waits_in_another_thread(
    site: Callable[[Script], Site], head: bytes
) -> None:
    def silent(peer: Peer) -> None:
        peer.receive()
        peer.send(head)
        peer.hang()

    with site(silent) as transport:
        stream = open_stream(transport, read_timeout=60.0)
        errors: list[ApiFailure] = []
        thread = threading.Thread(target=lambda: errors.append(failed(stream.read)[0]))
        thread.start()
        time.sleep(0.1)
        started = time.monotonic()
        stream.close()
        thread.join(LONG)
        assert not thread.is_alive()
        assert time.monotonic() - started < 0.5
        assert isinstance(errors[0], StreamClosed)


def test_a_closed_stream_is_closed_for_good() -> None:
    with Site(streaming(b"one\n"), None) as transport:
        stream = open_stream(transport)
        stream.close()
        stream.close()
        with pytest.raises(StreamClosed):
            stream.read()


def test_a_stream_closed_between_two_reads_lets_go_of_its_connection(
    dialled: list[socket.socket],
) -> None:
    with Site(streaming(b"one\n"), None) as transport:
        stream = open_stream(transport)
        assert stream.read() == b"one\n"
        assert dialled[0].fileno() >= 0
        stream.close()
        assert dialled[0].fileno() == -1


def test_streams_closed_at_any_moment_of_a_read_leave_nothing_open() -> None:
    def busy(peer: Peer) -> None:
        peer.receive()
        peer.send(CHUNKED)
        while not peer.over.is_set():
            peer.chunk(b"x" * 100)

    ended: list[ApiFailure] = []

    def read(stream: HTTPStream) -> None:
        try:
            while True:
                stream.read()
        except ApiFailure as error:
            ended.append(error)

    with Site(busy, None) as transport:
        for n in range(50):
            stream = open_stream(transport)
            thread = threading.Thread(target=read, args=(stream,))
            thread.start()
            time.sleep(0.0001 * (n % 7))
            stream.close()
            thread.join(LONG)
            assert not thread.is_alive()
    assert len(ended) == 50
    assert {type(error) for error in ended} == {StreamClosed}


def test_a_transport_that_is_closed_opens_no_stream(site: Callable[[Script], Site]) -> None:
    with site(streaming()) as transport:
        transport.close()
        error, _ = failed(lambda: open_stream(transport))
        assert isinstance(error, ConnectionFailed)
        assert not error.sent
