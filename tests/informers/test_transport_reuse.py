"""Which connections are used again."""

import socket

import pytest

from informers import AnswerTooLarge, ConnectionFailed
from informers.connection import KEEPALIVE
from tests.informers.rawserver import CHUNKED, Certificate, Peer, RawServer, serve, transport_to
from tests.informers.sites import LONG, Site

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
KEPT = ANSWER.replace(b"OK\r\n", b"OK\r\nConnection: keep-alive\r\n")
NEXT = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("sent", "connections"),
    [
        (ANSWER, 1),
        (ANSWER + NEXT, 3),
        (ANSWER.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"), 3),
        (KEPT, 1),
        (KEPT + NEXT, 3),
        (CHUNKED + b"2\r\n{}\r\n0\r\n\r\n", 1),
        (CHUNKED + b"2\r\n{}\r\n0\r\n\r\nHTTP/1.1", 3),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", 3),
    ],
    ids=["plain", "more than an answer", "closed", "kept", "more", "chunks", "more", "HTTP/1.0"],
)
def test_a_connection_is_used_again_if_its_answer_ended_where_it_said(
    sent: bytes, connections: int
) -> None:
    place = Site(serve(lambda peer: peer.send(sent)), None)
    with place as transport:
        for _ in range(3):
            assert transport.request("GET", "/", timeout=LONG).body == b"{}"
        assert len(place.server.peers) == connections


def test_a_connection_is_left_with_what_came_behind_a_long_answer() -> None:
    long = b"HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n" + b"x" * 40_000 + NEXT
    place = Site(serve(lambda peer: peer.send(long)), None)
    with place as transport:
        for _ in range(2):
            assert len(transport.request("GET", "/", timeout=LONG).body) == 40_000
        assert len(place.server.peers) == 2


def test_what_comes_early_is_not_the_answer_and_no_later_call_gets_another_s() -> None:
    def script(peer: Peer) -> None:
        while request := peer.receive():
            peer.send(b"HTTP/1.1 103 Early Hints\r\n\r\n")
            peer.answer(request[2])

    place = Site(script, None)
    with place as transport:
        for said in (b"one", b"two"):
            assert transport.request("POST", "/", body=said, timeout=LONG).body == said
        assert len(place.server.peers) == 1


def test_what_came_behind_the_refusal_of_a_watch_is_no_answer() -> None:
    sent = ANSWER.replace(b"200 OK", b"410 Gone") + NEXT
    place = Site(serve(lambda peer: peer.send(sent)), None)
    with place as transport:
        for _ in range(2):
            stream = transport.stream("/watch", timeout=LONG, read_timeout=LONG)
            assert b"".join(iter(stream.read, b"")) == b"{}"
            stream.close()
        assert len(place.server.peers) == 2


def test_a_connection_whose_handshake_was_interrupted_is_not_used(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    with Site(serve(Peer.answer), certificate) as transport:
        with monkeypatch.context() as patch:
            patch.setattr("urllib3.connection.ssl_wrap_socket", interrupted)
            with pytest.raises(KeyboardInterrupt):
                transport.request("GET", "/", timeout=LONG)
        assert transport.request("GET", "/", timeout=LONG).status == 200


def test_a_connection_sends_at_once_and_notices_a_peer_that_vanished(
    dialled: list[socket.socket],
) -> None:
    with Site(serve(Peer.answer), None) as transport:
        transport.request("GET", "/", timeout=LONG)
        (sock,) = dialled
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        for level, option, value in KEEPALIVE:
            assert sock.getsockopt(level, option) == value


def test_an_answer_that_ends_too_early_is_none_and_its_connection_is_left() -> None:
    def script(peer: Peer) -> None:
        peer.receive()
        peer.send(ANSWER[:-1])

    with Site(script, None) as transport, pytest.raises(ConnectionFailed, match="IncompleteRead"):
        transport.request("GET", "/", timeout=LONG)


@pytest.mark.parametrize("chunked", [False, True])
def test_an_answer_may_be_as_long_as_the_limit(chunked: bool) -> None:
    def answer(peer: Peer) -> None:
        body = b"x" * (10 if "/ten" in peer.requests[-1][0] else 11)
        if chunked:
            peer.send(CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        else:
            peer.answer(body)

    with (
        RawServer(serve(answer)) as server,
        transport_to(server.url, max_bytes=10) as transport,
    ):
        assert transport.request("GET", "/ten", timeout=LONG).body == b"x" * 10
        with pytest.raises(AnswerTooLarge):
            transport.request("GET", "/eleven", timeout=LONG)
        assert transport.request("GET", "/ten", timeout=LONG).body == b"x" * 10
        assert len(server.peers) == 2


@pytest.mark.parametrize(("behind", "connections"), [(b"", 1), (b"HTTP/1.1 200 OK\r\n", 3)])
def test_a_watch_that_ended_leaves_its_connection(behind: bytes, connections: int) -> None:
    sent = CHUNKED + b"2\r\n{}\r\n0\r\n\r\n" + behind
    place = Site(serve(lambda peer: peer.send(sent)), None)
    with place as transport:
        for _ in range(3):
            stream = transport.stream("/watch", timeout=LONG, read_timeout=LONG)
            assert b"".join(iter(stream.read, b"")) == b"{}"
            stream.close()
        assert len(place.server.peers) == connections


def test_nothing_is_sent_over_a_connection_whose_handshake_failed(certificate: Certificate) -> None:
    """Its socket stands, without TLS."""
    began: list[bytes] = []

    def no_tls(peer: Peer) -> None:
        began.append(peer.sock.recv(1))
        peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        while received := peer.sock.recv(4096):
            began.append(received)

    with RawServer(no_tls) as server:
        url = server.url.replace("http:", "https:")
        with transport_to(url, ca=certificate.path, token="secret") as transport:
            for _ in range(3):
                with pytest.raises(ConnectionFailed):
                    transport.request("GET", "/secrets", timeout=LONG)
    assert len(server.peers) == 3
    assert not any(b"secret" in received for received in began)


def test_nothing_is_kept_of_answers_that_have_been_read() -> None:
    with Site(serve(lambda peer: peer.send(ANSWER)), None) as transport:
        for _ in range(3):
            transport.request("GET", "/", timeout=LONG)
        assert transport._readers._open == set()
