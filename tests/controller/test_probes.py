import contextlib
import errno
import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.clock import SystemClock
from controller.configuration.values import Address
from controller.loop import FOREVER, Loop
from controller.serving.httpmessage import (
    MAX_HEAD,
    Handler,
    Request,
    RequestError,
    Response,
    parse,
    plain,
)
from controller.serving.httpserver import REQUEST_SECONDS, HTTPServer
from controller.serving.probes import no_loop_failed, probe_routes
from tests.support.clock import FakeClock

ANY_PORT = Address("127.0.0.1", 0)


def get(path: str, **headers: str) -> Request:
    path, _, query = path.partition("?")
    return Request("GET", path, query, headers)


def ask(routes: dict[str, Handler], path: str) -> tuple[int, str]:
    request = get(path)
    response = routes[request.path](request)
    return response.status.value, response.body.decode()


def ok() -> None:
    return None


def missing() -> str:
    return "LldapUser is not listed yet"


def broken() -> str:
    raise KeyError("secret text")


def test_a_process_that_is_well_says_ok() -> None:
    routes = probe_routes({"loops": ok}, {"informers": ok, "election": ok})

    assert ask(routes, "/healthz") == (200, "ok\n")
    assert ask(routes, "/readyz") == (200, "ok\n")


def test_readiness_names_what_is_missing() -> None:
    routes = probe_routes({}, {"election": ok, "informers": missing})

    assert ask(routes, "/readyz") == (
        503,
        "[-] informers: LldapUser is not listed yet\nfailed\n",
    )
    assert ask(routes, "/healthz") == (200, "ok\n")


@pytest.mark.parametrize("query", ["verbose", "verbose=", "verbose=true", "a=b&verbose"])
def test_verbose_lists_the_checks(query: str) -> None:
    routes = probe_routes({"loops": ok, "lease": ok}, {"election": ok, "informers": missing})

    assert ask(routes, f"/healthz?{query}") == (200, "[+] loops\n[+] lease\nok\n")
    assert ask(routes, f"/readyz?{query}") == (
        503,
        "[+] election\n[-] informers: LldapUser is not listed yet\nfailed\n",
    )


def test_a_check_that_is_broken_fails_and_quotes_nothing() -> None:
    code, body = ask(probe_routes({"loops": broken}, {}), "/healthz")

    assert code == 503
    assert "KeyError" in body
    assert "secret" not in body


def test_a_loop_that_an_error_ended_is_named() -> None:
    def fail() -> float:
        raise ValueError

    loops = [
        Loop("fine", lambda: FOREVER, clock=FakeClock()),
        Loop("worker-1", fail, clock=FakeClock()),
    ]
    routes = probe_routes({"loops": no_loop_failed(loops)}, {})
    assert ask(routes, "/healthz")[0] == 200

    loops[1].start()
    assert loops[1].join(5.0)

    assert ask(routes, "/healthz") == (
        503,
        "[-] loops: ended by an error: worker-1\nfailed\n",
    )


# The bytes of requests.


def test_a_request_is_parsed() -> None:
    request = parse(b"GET /readyz?verbose HTTP/1.1\r\nHost: x\r\nAccept: a\r\naccept: b\r\n\r\n")

    assert request == Request("GET", "/readyz", "verbose", {"host": "x", "accept": "a, b"})


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET / HTTP/2.0\r\n\r\n", 400),
        (b"GET /\r\n\r\n", 400),
        (b"GET / HTTP/1.1 x\r\n\r\n", 400),
        (b"GET http://x/ HTTP/1.1\r\n\r\n", 400),
        (b"\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nname : x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\n\r\n", 405),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400),
    ],
)
def test_requests_that_are_refused(head: bytes, status: int) -> None:
    with pytest.raises(RequestError) as caught:
        parse(head)
    assert caught.value.response.status == status


@given(st.binary(max_size=200))
def test_only_the_declared_error_comes_out_of_the_parser(head: bytes) -> None:
    try:
        request = parse(head + b"\r\n\r\n")
    except RequestError:
        return
    assert request.method in {"GET", "HEAD"}


# The server, on real sockets.


@contextmanager
def serving(
    routes: dict[str, Handler],
    guard: Callable[[Request], Response | None] = lambda request: None,
    threads: int = 2,
) -> Iterator[HTTPServer]:
    server = HTTPServer(ANY_PORT, routes, clock=SystemClock(), guard=guard)
    loops = [
        Loop(f"http-{i}", server.step, clock=SystemClock(), on_stop=server.close)
        for i in range(threads)
    ]
    for loop in loops:
        loop.start()
    try:
        yield server
    finally:
        for loop in loops:
            loop.stop()
        assert all(loop.join(5.0) for loop in loops)
        assert all(loop.error is None for loop in loops)


def fetch(
    server: HTTPServer, method: str, path: str, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(*server.address, timeout=5.0)
    try:
        connection.request(method, path, headers=headers or {})
        response = connection.getresponse()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
    finally:
        connection.close()


def hello(request: Request) -> Response:
    return plain(HTTPStatus.OK, f"hello {request.query}")


def test_get_and_head_agree() -> None:
    with serving({"/hello": hello}) as server:
        status, headers, body = fetch(server, "GET", "/hello?x")
        assert (status, body) == (200, b"hello x\n")
        assert headers["content-length"] == "8"
        assert headers["content-type"] == "text/plain; charset=utf-8"
        assert headers["connection"] == "close"

        assert fetch(server, "HEAD", "/hello?x") == (200, headers, b"")


def test_unknown_paths_and_methods_are_refused() -> None:
    with serving({"/hello": hello}) as server:
        assert fetch(server, "GET", "/other")[0] == 404
        assert fetch(server, "HEAD", "/other")[::2] == (404, b"")
        status, headers, _ = fetch(server, "POST", "/hello")
        assert (status, headers["allow"]) == (405, "GET, HEAD")


def test_a_guard_can_send_another_response() -> None:
    def guard(request: Request) -> Response | None:
        if request.headers.get("authorization") == "Bearer right":
            return None
        return plain(HTTPStatus.UNAUTHORIZED)

    with serving({"/hello": hello}, guard) as server:
        assert fetch(server, "GET", "/hello")[0] == 401
        assert fetch(server, "GET", "/hello", {"Authorization": "Bearer right"})[0] == 200


def test_a_handler_that_raises_is_a_500_without_details(caplog: pytest.LogCaptureFixture) -> None:
    def fail(request: Request) -> Response:
        raise ValueError("inner")

    with serving({"/fail": fail, "/hello": hello}) as server:
        status, _, body = fetch(server, "GET", "/fail")
        assert status == 500
        assert b"inner" not in body
        assert fetch(server, "GET", "/hello")[0] == 200
    assert "serving /fail failed" in caplog.text


def test_a_head_that_never_ends_is_cut_off() -> None:
    with serving({"/hello": hello}) as server, socket.create_connection(server.address) as peer:
        peer.settimeout(5.0)
        peer.sendall(b"GET /hello HTTP/1.1\r\nX: " + b"a" * (MAX_HEAD + 1))
        assert peer.recv(100).startswith(b"HTTP/1.1 431 ")


def test_a_peer_that_sends_byte_by_byte_does_not_hold_a_thread_for_long() -> None:
    clock = FakeClock()
    server = HTTPServer(ANY_PORT, {"/hello": hello}, clock=clock)
    with socket.create_connection(server.address) as peer:
        loop = threading.Thread(target=server.step)
        loop.start()
        started = time.monotonic()
        while loop.is_alive():
            assert time.monotonic() - started < REQUEST_SECONDS
            with contextlib.suppress(OSError):  # closed by then
                peer.sendall(b"G")
            clock.advance(REQUEST_SECONDS / 10)
            loop.join(0.001)
    server.close()


def test_a_peer_that_goes_away_ends_nothing() -> None:
    with serving({"/hello": hello}, threads=1) as server:
        socket.create_connection(server.address).close()
        assert fetch(server, "GET", "/hello")[0] == 200


def test_a_slow_peer_does_not_keep_the_others_waiting() -> None:
    with (
        serving({"/hello": hello}, threads=2) as server,
        socket.create_connection(server.address),  # says nothing
    ):
        started = time.monotonic()
        assert fetch(server, "GET", "/hello")[0] == 200
        assert time.monotonic() - started < REQUEST_SECONDS / 2


def test_closing_wakes_every_thread_at_once() -> None:
    started = time.monotonic()
    with serving({}, threads=4):
        pass
    assert time.monotonic() - started < 2.0


def test_a_closed_server_has_no_more_steps_and_no_sockets() -> None:
    server = HTTPServer(ANY_PORT, {}, clock=SystemClock())
    address = server.address
    server.close()
    server.close()

    assert server.step() == FOREVER
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=5.0)


def test_an_address_in_use_is_an_error_at_once() -> None:
    server = HTTPServer(ANY_PORT, {}, clock=SystemClock())
    try:
        with pytest.raises(OSError, match="in use"):
            HTTPServer(server.address, {}, clock=SystemClock())
    finally:
        server.close()


def test_the_address_is_the_real_one() -> None:
    server = HTTPServer(ANY_PORT, {}, clock=SystemClock())
    assert server.address.host == "127.0.0.1"
    assert server.address.port > 0
    server.close()


def test_out_of_sockets_it_waits_instead_of_spinning(monkeypatch: pytest.MonkeyPatch) -> None:
    server = HTTPServer(ANY_PORT, {}, clock=SystemClock())

    class Exhausted:
        def accept(self) -> tuple[socket.socket, object]:
            raise OSError(errno.EMFILE, "too many open files")

    with socket.create_connection(server.address), monkeypatch.context() as patch:
        patch.setattr(server, "_listener", Exhausted())
        assert server.step() == 1.0
    server.close()


@pytest.mark.parametrize("error", [None, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT])
def test_without_a_host_it_listens_everywhere_with_or_without_ipv6(
    monkeypatch: pytest.MonkeyPatch, error: int | None
) -> None:
    asked: list[tuple[object, bool]] = []

    def create_server(address: object, **options: object) -> socket.socket:
        dual = bool(options.get("dualstack_ipv6"))
        asked.append((address, dual))
        if dual and error is not None:
            raise OSError(error, "no IPv6 here")
        return socket.socket()

    monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: True)
    monkeypatch.setattr(socket, "create_server", create_server)
    server = HTTPServer(Address("", 8080), {}, clock=SystemClock())
    server.close()

    expected = [(("", 8080), True), (("", 8080), False)]
    assert asked == (expected if error else expected[:1])


def test_an_address_in_use_is_not_tried_on_ipv4_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def create_server(address: object, **options: object) -> socket.socket:
        raise OSError(errno.EADDRINUSE, "in use")

    monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: True)
    monkeypatch.setattr(socket, "create_server", create_server)
    with pytest.raises(OSError, match="in use"):
        HTTPServer(Address("", 8080), {}, clock=SystemClock())
