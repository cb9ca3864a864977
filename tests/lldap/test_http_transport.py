"""HTTP to a raw server on loopback: answers, connections and limits."""

import socket
import time
from pathlib import Path

import pytest

from lldap import (
    Answer,
    AnswerTooLarge,
    HttpTransport,
    OutcomeUnknown,
    SystemClock,
)
from lldap.http import IDLE_SECONDS
from tests.lldap.crowd import Crowd
from tests.lldap.http_bed import BODY, Connect, failure, send
from tests.lldap.loopback import Connection, Handler, answer_all
from tests.support.clock import FakeClock

# Answers


def test_a_call_is_one_post_with_its_headers_and_its_body(connect: Connect) -> None:
    transport, server = connect(answer_all)
    answer = send(transport)
    assert answer == Answer(200, "", b"{}")
    (request,) = server.requests
    head, _, body = request.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /api/graphql HTTP/1.1"
    assert set(lines[1:]) == {
        f"Host: 127.0.0.1:{server.port}",
        "Content-Type: application/json",
        "Authorization: Bearer S3cr3t-TOKEN",
        "Accept-Encoding: identity",
        "User-Agent: lldap-operator",
        f"Content-Length: {len(BODY)}",
    }
    assert body == BODY


@pytest.mark.parametrize("path", ["/lldap", "/lldap/", "/a/b"])
def test_the_url_may_have_a_sub_path(connect: Connect, path: str) -> None:
    transport, server = connect(answer_all, path=path)
    send(transport)
    assert server.requests[0].startswith(f"POST {path.rstrip('/')}/api/graphql HTTP".encode())


def test_a_redirect_is_an_answer_and_is_not_followed(connect: Connect) -> None:
    elsewhere, other = connect(answer_all)
    del elsewhere

    def redirect(connection: Connection) -> None:
        connection.request()
        connection.answer(b"", "302 Found", f"Location: {other.url}/")

    transport, _ = connect(redirect)
    assert send(transport).status == 302
    assert other.requests == []


def test_a_page_in_html_is_an_answer(connect: Connect) -> None:
    def page(connection: Connection) -> None:
        connection.request()
        connection.answer(b"<html>", "200 OK", "Content-Type: text/html")

    transport, _ = connect(page)
    assert send(transport) == Answer(200, "text/html", b"<html>")


def test_a_chunked_answer_is_read_whole_and_the_connection_kept(connect: Connect) -> None:
    def chunks(connection: Connection) -> None:
        while connection.request():
            connection.sock.sendall(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"
            )

    transport, server = connect(chunks)
    assert [send(transport).body for _ in range(2)] == [b"{}", b"{}"]
    assert len(server.connections) == 1


def test_cookies_proxies_and_netrc_are_left_alone(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    def cookies(connection: Connection) -> None:
        while connection.request():
            connection.answer(b"{}", "200 OK", "Set-Cookie: token=x; Path=/")

    transport, server = connect(cookies)
    send(transport)
    send(transport)
    for request in server.requests:
        assert b"Authorization: Bearer S3cr3t-TOKEN\r\n" in request
        assert b"Cookie" not in request


# Connections


def test_connections_are_kept(connect: Connect) -> None:
    transport, server = connect(answer_all)
    for _ in range(5):
        send(transport)
    assert len(server.connections) == 1


@pytest.mark.parametrize("clock", [FakeClock()])
def test_a_connection_that_was_idle_for_three_seconds_is_not_used(
    connect: Connect, clock: FakeClock
) -> None:
    transport, server = connect(answer_all)
    send(transport)
    clock.advance(IDLE_SECONDS - 0.01)
    send(transport)
    assert len(server.connections) == 1
    clock.advance(IDLE_SECONDS)
    send(transport)
    assert len(server.connections) == 2


def test_a_connection_that_the_server_has_closed_is_not_used(connect: Connect) -> None:
    def once(connection: Connection) -> None:
        connection.request()
        connection.answer()

    transport, server = connect(once)
    for number in range(1, 4):
        send(transport)
        assert len(server.connections) == number
        server.connections[-1].sock.close()
        time.sleep(0.05)  # the FIN has to arrive


@pytest.mark.parametrize("size", [2, 900])
@pytest.mark.parametrize("field", ["X: y", "Connection: keep-alive"])
def test_a_connection_with_something_behind_its_answer_is_not_used(
    connect: Connect, field: str, size: int
) -> None:
    def too_much(connection: Connection) -> None:
        body = b"x" * size + b"HTTP/1.1 200 OK\r\n"
        while connection.request():
            head = f"HTTP/1.1 200 OK\r\n{field}\r\nX: {'x' * 8000}\r\nContent-Length: {size}"
            connection.sock.sendall(head.encode() + b"\r\n\r\n" + body)

    transport, server = connect(too_much)
    for number in range(1, 3):
        assert send(transport).body == b"x" * size
        assert len(server.connections) == number


def test_what_comes_early_is_not_the_answer(connect: Connect) -> None:
    def early(connection: Connection) -> None:
        while connection.request():
            connection.sock.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
            connection.answer()

    transport, server = connect(early)
    assert [send(transport) for _ in range(2)] == [Answer(200, "", b"{}")] * 2
    assert len(server.connections) == 1


def test_threads_have_a_connection_each(connect: Connect) -> None:
    transport, server = connect(answer_all)
    results = Crowd(16, lambda: [send(transport).status for _ in range(20)]).run()
    assert results == [[200] * 20] * 16
    assert len(server.connections) <= 16


# Limits


def large(connection: Connection) -> None:
    connection.request()
    connection.answer(b"x" * 1001)


def large_in_chunks(connection: Connection) -> None:
    connection.request()
    connection.sock.sendall(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n" + b"x" * 100 + b"\r\n"
    )
    for _ in range(11):
        connection.sock.sendall(b"64\r\n" + b"x" * 100 + b"\r\n")


@pytest.mark.parametrize("answer", [large, large_in_chunks])
def test_an_answer_that_is_too_large_is_dropped_with_its_connection(
    connect: Connect, answer: Handler
) -> None:
    transport, server = connect(answer, answer_all)
    error = failure(transport)
    assert type(error) is AnswerTooLarge
    assert isinstance(error, OutcomeUnknown)
    assert send(transport).status == 200
    assert len(server.connections) == 2


def test_an_answer_of_just_the_limit_is_read(connect: Connect) -> None:
    def full(connection: Connection) -> None:
        while connection.request():
            connection.answer(b"x" * 1000)

    transport, server = connect(full)
    assert [len(send(transport).body) for _ in range(2)] == [1000, 1000]
    assert len(server.connections) == 1


# The URL


@pytest.mark.parametrize(
    "url",
    [
        "lldap:17170",
        "ldap://lldap",
        "http://",
        "//lldap",
        "",
        "http://lldap?x=y",
        "http://lldap#x",
        "http://admin:password@lldap",
        "http://lldap:port",
        "http://[::1",
    ],
)
def test_a_url_that_is_none_is_a_mistake_and_is_not_quoted(url: str) -> None:
    with pytest.raises(ValueError, match=r".+") as caught:
        HttpTransport(url, clock=SystemClock())
    assert "password" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "host"),
    [("lldap.\u0440\u0444", "lldap.xn--p1ai"), ("\u00df.example", "xn--zca.example")],
)
def test_a_name_is_sent_as_it_is_looked_up(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, name: str, host: str
) -> None:
    _, server = connect(answer_all)
    asked: list[str] = []

    def look_up(name: str, port: int, **_: object) -> list[object]:
        asked.append(name)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    transport = HttpTransport(f"http://{name}:{server.port}", clock=SystemClock())
    send(transport)
    transport.close()
    assert asked == [host]
    assert f"\r\nHost: {host}:{server.port}\r\n".encode() in server.requests[0]


def test_an_ipv6_address_is_connected_to() -> None:
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    transport = HttpTransport("http://[::1]:1", clock=SystemClock())
    assert "::1" in str(failure(transport))
    transport.close()
