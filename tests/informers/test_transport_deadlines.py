"""ApiClientTransport: every call ends in time, whatever a server or the network does."""

import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from informers import (
    ApiFailure,
    DeadlineExceeded,
    readiness,
)
from tests.informers.rawserver import (
    CHUNKED,
    Certificate,
    Peer,
    RawServer,
    Script,
    serve,
    transport_to,
)
from tests.informers.sites import LONG, SHORT, Site, failed

HEADERS = b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * 1000


@pytest.mark.parametrize(
    "dripped",
    [
        HEADERS,
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b"x" * 900,
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 900,
        CHUNKED + b"00000000000000000000000000000000000000000000000000001\r\nx\r\n" * 20,
    ],
    ids=["headers", "body with a length", "body without a length", "chunks"],
)
def test_C09_a_server_that_drips_ends_with_the_deadline(
    site: Callable[[Script], Site], dripped: bytes
) -> None:
    def drip(peer: Peer) -> None:
        peer.receive()
        quick, slow = dripped[:30], dripped[30:]
        peer.send(quick)
        peer.drip(slow)

    with site(drip) as transport:
        error, seconds = failed(lambda: transport.request("GET", "/x", timeout=SHORT))
        assert isinstance(error, DeadlineExceeded)
        assert error.sent
        assert SHORT <= seconds < SHORT + 0.3


def test_C09_a_slow_answer_within_the_deadline_is_an_answer() -> None:
    def slow(peer: Peer) -> None:
        time.sleep(0.2)
        peer.answer(b"late")

    with Site(serve(slow), None) as transport:
        assert transport.request("GET", "/x", timeout=LONG).body == b"late"


def test_C09_one_slow_call_holds_up_no_other() -> None:
    def answer(peer: Peer) -> None:
        if "/slow" in peer.requests[-1][0]:
            peer.hang()
        peer.answer()

    with Site(serve(answer), None) as transport:
        errors: list[ApiFailure] = []
        thread = threading.Thread(
            target=lambda: errors.append(
                failed(lambda: transport.request("GET", "/slow", timeout=SHORT))[0]
            )
        )
        thread.start()
        started = time.monotonic()
        for _ in range(10):
            transport.request("GET", "/fast", timeout=LONG)
        assert time.monotonic() - started < SHORT
        thread.join(LONG)
        assert isinstance(errors[0], DeadlineExceeded)


def test_a_server_that_never_answers_ends_with_the_deadline(site: Callable[[Script], Site]) -> None:
    with site(Peer.hang) as transport:
        error, seconds = failed(lambda: transport.request("GET", "/x", timeout=SHORT))
        assert isinstance(error, DeadlineExceeded)
        assert error.sent
        assert SHORT <= seconds < SHORT + 0.3


def test_who_waits_uses_no_processor(
    site: Callable[[Script], Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, real = [], readiness._wait

    def wait(sock: socket.socket, event: int, seconds: float) -> None:
        waits.append(event)
        real(sock, event, seconds)

    monkeypatch.setattr(readiness, "_wait", wait)
    with site(Peer.hang) as transport:
        failed(lambda: transport.request("GET", "/x", timeout=SHORT))
    assert 1 <= len(waits) <= 3  # with TLS, tickets of the session come


def test_a_server_that_does_not_take_the_request_ends_with_the_deadline(
    site: Callable[[Script], Site],
) -> None:
    with site(Peer.hang) as transport:
        body = b"x" * (64 << 20)
        error, seconds = failed(lambda: transport.request("POST", "/x", body=body, timeout=SHORT))
        assert isinstance(error, DeadlineExceeded)
        assert error.sent
        assert seconds < SHORT + 0.5


@pytest.fixture
def black_hole() -> Iterator[int]:
    """A port where nobody accepts and the queue of waiting connections is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        for _ in range(3):
            waiter = socket.socket()
            waiter.setblocking(False)
            waiter.connect_ex(listener.getsockname())
            waiting.append(waiter)
        yield listener.getsockname()[1]
        for waiter in waiting:
            waiter.close()


def test_a_black_hole_ends_with_the_deadline_and_was_not_sent(black_hole: int) -> None:
    with transport_to(f"http://127.0.0.1:{black_hole}") as transport:
        error, seconds = failed(lambda: transport.request("POST", "/x", timeout=SHORT))
        assert isinstance(error, DeadlineExceeded)
        assert not error.sent
        assert SHORT <= seconds < SHORT + 0.3


def test_an_address_that_does_not_answer_leaves_time_for_the_next(
    black_hole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RawServer(serve(lambda peer: peer.answer(b"here"))) as server:
        both = [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))
            for port in (black_hole, server.port)
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
        with transport_to("http://api.example") as transport:
            assert transport.request("GET", "/x", timeout=2 * SHORT).body == b"here"


def test_a_handshake_that_does_not_go_on_ends_with_the_deadline(certificate: Certificate) -> None:
    with RawServer(Peer.hang) as server:
        url = server.url.replace("http:", "https:")
        with transport_to(url, ca=certificate.path) as transport:
            error, seconds = failed(lambda: transport.request("POST", "/x", timeout=SHORT))
            assert isinstance(error, DeadlineExceeded)
            assert not error.sent
            assert seconds < SHORT + 0.3
