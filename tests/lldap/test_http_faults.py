"""HTTP to a raw server on loopback: faults and deadlines."""

import socket
import time

import pytest

from lldap import (
    ConnectionFailed,
    HttpTransport,
    OutcomeUnknown,
    SystemClock,
)
from lldap.http import TimedSocket
from tests.lldap.http_bed import Connect, failure, send
from tests.lldap.loopback import Connection, Handler, answer_all, hang

# Faults before anything is sent


def test_a_refused_connection_was_surely_not_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    transport = HttpTransport(f"http://127.0.0.1:{port}", clock=SystemClock())
    error = failure(transport)
    assert type(error) is ConnectionFailed
    assert str(error) == f"no connection to 127.0.0.1:{port}: Connection refused"
    transport.close()


@pytest.mark.parametrize("host", ["x" * 64, "a..b", "-.invalid"])
def test_a_name_without_an_address_was_surely_not_sent(host: str) -> None:
    transport = HttpTransport(f"http://{host}:1", clock=SystemClock())
    assert type(failure(transport)) is ConnectionFailed
    transport.close()


def test_C09_a_server_that_does_not_accept_is_left_at_the_deadline() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        with socket.create_connection(address), socket.socket() as second:
            second.setblocking(False)
            second.connect_ex(address)  # the backlog is full now
            transport = HttpTransport(f"http://127.0.0.1:{address[1]}", clock=SystemClock())
            began = time.monotonic()
            assert type(failure(transport, timeout=0.3)) is ConnectionFailed
            assert time.monotonic() - began < 2.0
            transport.close()


# Faults after something was sent


def reset_at_once(connection: Connection) -> None:
    connection.reset()


def reset_after_the_request(connection: Connection) -> None:
    connection.request()
    connection.reset()


def close_after_the_request(connection: Connection) -> None:
    connection.request()


def half_a_body(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"data":')


def half_a_chunk(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{")


def chunks_without_an_end(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")


def chunks_without_the_last_line(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")


def half_a_header(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")


def until_the_connection_ends(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.0 200 OK\r\n\r\n{}")


def no_http(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")


def odd_chunk_size(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n")


def chunk_below_zero(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n{}\r\n")


def length_of_many_digits(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n{}")


def two_lengths(connection: Connection) -> None:
    connection.request()
    connection.answer(b"{}", "200 OK", "Content-Length: 1")


def another_protocol(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")


def endless_header(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n")


def reset_in_the_body(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    time.sleep(0.05)
    connection.reset()


@pytest.mark.parametrize(
    "fault",
    [
        reset_after_the_request,
        reset_in_the_body,
        close_after_the_request,
        half_a_body,
        half_a_chunk,
        chunks_without_an_end,
        chunks_without_the_last_line,
        half_a_header,
        until_the_connection_ends,
        no_http,
        odd_chunk_size,
        chunk_below_zero,
        length_of_many_digits,
        two_lengths,
        another_protocol,
        endless_header,
    ],
)
def test_C02_without_a_whole_answer_the_outcome_is_unknown_and_nothing_is_sent_again(
    connect: Connect, fault: Handler
) -> None:
    transport, server = connect(fault, answer_all)
    error = failure(transport)
    assert type(error) is OutcomeUnknown
    assert len(server.connections) == 1
    assert send(transport).status == 200
    assert len(server.connections) == 2


def test_a_reset_at_once_may_come_before_or_after_the_request_was_sent(connect: Connect) -> None:
    transport, server = connect(reset_at_once, answer_all)
    assert type(failure(transport)) in {ConnectionFailed, OutcomeUnknown}
    assert send(transport).status == 200
    assert len(server.connections) == 2


ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 100


def drip_headers(connection: Connection) -> None:
    connection.request()
    connection.drip(ANSWER)


def drip_body(connection: Connection) -> None:
    connection.request()
    head, body = ANSWER[:-100], ANSWER[-100:]
    connection.sock.sendall(head)
    connection.drip(body)


def drip_chunks(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    connection.drip(b"1\r\nx\r\n" * 50)


def drip_more_headers_for_ever(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(b"HTTP/1.1 200 OK\r\n")
    connection.drip(b"X-Header: 1\r\n" * 50, 0.02)


@pytest.mark.parametrize(
    "slow", [hang, drip_headers, drip_body, drip_chunks, drip_more_headers_for_ever]
)
def test_C09_the_deadline_is_that_of_the_whole_call(connect: Connect, slow: Handler) -> None:
    transport, server = connect(slow, answer_all)
    began = time.monotonic()
    error = failure(transport, timeout=0.4)
    took = time.monotonic() - began
    assert type(error) is OutcomeUnknown
    assert str(error) == "no whole answer within 0.4 s"
    assert 0.35 < took < 1.5
    assert send(transport).status == 200
    assert len(server.connections) == 2


def test_C09_a_server_that_does_not_read_is_left_at_the_deadline(connect: Connect) -> None:
    def never_read(connection: Connection) -> None:
        connection.stop.wait(10.0)

    transport, _ = connect(never_read)
    began = time.monotonic()
    with pytest.raises(OutcomeUnknown, match="within"):
        send(transport, timeout=0.4, body=b"x" * 50_000_000)
    assert time.monotonic() - began < 2.0


@pytest.mark.parametrize("size", [0, 50_000_000], ids=["for an answer", "for room"])
def test_who_waits_uses_no_processor(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    waits, real = [], TimedSocket._wait

    def wait(self: TimedSocket, event: int) -> None:
        waits.append(event)
        real(self, event)

    monkeypatch.setattr(TimedSocket, "_wait", wait)

    def never_read(connection: Connection) -> None:
        connection.stop.wait(10.0)

    transport, _ = connect(never_read)
    with pytest.raises(OutcomeUnknown, match="within"):
        send(transport, timeout=0.2, body=b"x" * size)
    assert 1 <= len(waits) <= 2 + size / 10_000  # at least so much fits into a socket's buffer


def test_C09_a_slow_answer_within_the_deadline_is_an_answer(connect: Connect) -> None:
    def slow(connection: Connection) -> None:
        connection.request()
        time.sleep(0.3)
        connection.answer()

    transport, _ = connect(slow)
    assert send(transport, timeout=5.0).status == 200
