"""ApiClientTransport: what is sent, what comes back, and what breaks on the way."""

import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from kubernetes import client

from informers import (
    AnswerTooLarge,
    ApiClientTransport,
    ApiFailure,
    ConnectionFailed,
)
from informers.connection import TimedConnection
from tests.informers.rawserver import (
    CHUNKED,
    Certificate,
    Peer,
    RawServer,
    Script,
    serve,
    transport_to,
)
from tests.informers.sites import LONG, Site, failed


def test_a_request_goes_out_as_given_and_its_answer_comes_back(
    site: Callable[[Script], Site],
) -> None:
    place = site(serve(lambda peer: peer.answer(b'{"a": 1}', "201 Created", X_Note="n")))
    with place as transport:
        answer = transport.request(
            "POST",
            "/apis/x",
            query=[("labelSelector", "a=b,c in (d e)"), ("limit", "1")],
            headers={"Accept": "application/json", "Content-Type": "application/json"},
            body=b"{}",
            timeout=LONG,
        )
        assert (answer.status, answer.body) == (201, b'{"a": 1}')
        assert answer.headers.get("x-NOTE") == "n"
        line, headers, body = place.server.requests[0]
    assert line == "POST /apis/x?labelSelector=a%3Db%2Cc+in+%28d+e%29&limit=1 HTTP/1.1"
    assert headers["user-agent"] == "lldap-operator/test"
    assert headers["content-type"] == "application/json"
    assert headers["accept-encoding"] == "identity"
    assert "authorization" not in headers
    assert body == b"{}"


def test_connections_are_kept_alive(site: Callable[[Script], Site]) -> None:
    place = site(serve(lambda peer: peer.answer(b"x" * 100_000)))
    with place as transport:
        for _ in range(5):
            assert len(transport.request("GET", "/", timeout=LONG).body) == 100_000
        assert len(place.server.peers) == 1
        assert len(place.server.requests) == 5


def test_a_connection_that_the_server_closed_while_idle_is_not_used_again() -> None:
    def once(peer: Peer) -> None:
        peer.receive()
        peer.answer()

    with Site(once, None) as transport:
        for _ in range(3):
            assert transport.request("GET", "/", timeout=LONG).status == 200
            time.sleep(0.05)


@pytest.mark.parametrize("status", ["302 Found", "404 Not Found", "429 Too Many", "500 Oops"])
def test_every_status_is_an_answer_and_nothing_is_followed_or_retried(status: str) -> None:
    place = Site(serve(lambda p: p.answer(b"no", status, Location="/y", Retry_After="1")), None)
    with place as transport:
        answer = transport.request("GET", "/x", timeout=LONG)
        assert (answer.status, answer.body) == (int(status[:3]), b"no")
        assert answer.headers["retry-after"] == "1"
        assert len(place.server.requests) == 1


def test_the_token_is_asked_for_on_each_call_and_sent_without_its_line_end() -> None:
    with RawServer(serve(lambda peer: peer.answer())) as server:
        configuration = client.Configuration(host=server.url)
        tokens = iter(["bearer one\n", "bearer two\n"])

        def refresh(target: client.Configuration) -> None:
            target.api_key["BearerToken"] = next(tokens)
            target.host = server.url

        configuration.refresh_api_key_hook = refresh
        with client.ApiClient(configuration) as api_client:
            transport = ApiClientTransport(api_client, user_agent="x")
            transport.request("GET", "/", timeout=LONG)
            transport.request("GET", "/", timeout=LONG)
            sent = [headers["authorization"] for _, headers, _ in server.requests]
            assert sent == ["bearer one", "bearer two"]
            error, _ = failed(lambda: transport.request("GET", "/", timeout=LONG))
            assert isinstance(error, ConnectionFailed)
            assert not error.sent
            assert "StopIteration" in str(error)
            assert error.__context__ is None  # what a plugin printed may be a token
            transport.close()


def test_a_token_that_no_header_can_hold_is_not_quoted() -> None:
    with RawServer(serve(lambda p: p.answer())) as server:
        for token in ("bearer secret\nX: y", "bearer secrét", "bearer \x00secret"):
            with transport_to(server.url, token=token) as transport:
                error, _ = failed(lambda t=transport: t.request("GET", "/", timeout=LONG))  # type: ignore[misc]
                assert "secr" not in f"{error!r} {error.__context__!r} {error.__cause__!r}"
        assert server.requests == []


def test_a_header_of_the_caller_that_cannot_be_sent_is_not_quoted() -> None:
    with Site(serve(lambda peer: peer.answer()), None) as transport:
        error, _ = failed(
            lambda: transport.request("GET", "/", headers={"X": "secret\n"}, timeout=LONG)
        )
        assert isinstance(error, ConnectionFailed)
        assert "secret" not in str(error)


def test_a_refused_connection_was_not_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with transport_to(f"http://127.0.0.1:{port}") as transport:
        error, _ = failed(lambda: transport.request("POST", "/x", timeout=LONG))
        assert isinstance(error, ConnectionFailed)
        assert not error.sent
        assert str(error) == f"no connection to 127.0.0.1:{port}: [Errno 111] Connection refused"


def test_a_name_that_does_not_exist_was_not_sent() -> None:
    with transport_to("http://no-such-host.invalid") as transport:
        error, _ = failed(lambda: transport.request("POST", "/x", timeout=LONG))
        assert isinstance(error, ConnectionFailed)
        assert not error.sent


def test_a_certificate_of_somebody_else_is_no_connection(
    certificate: Certificate, tmp_path: Path
) -> None:
    with (
        RawServer(serve(lambda peer: peer.answer()), certificate.context()) as server,
        transport_to(server.url, ca=Certificate(tmp_path).path) as transport,
    ):
        error, _ = failed(lambda: transport.request("POST", "/x", timeout=LONG))
        assert isinstance(error, ConnectionFailed)
        assert not error.sent
        assert "certificate verify failed" in str(error)
        assert server.requests == []


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        CHUNKED + b"5\r\nabc",
        b"HTTP/1.1 200 OK\r\nAudit-Id: 1\r\n",
        CHUNKED + b"nonsense\r\nabc",
        CHUNKED + b"5\r\nabcde\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    ],
)
@pytest.mark.parametrize("end", [lambda peer: None, Peer.reset], ids=["closed", "reset"])
def test_an_answer_that_breaks_off_is_a_failed_connection(
    sent: bytes, end: Callable[[Peer], None]
) -> None:
    def broken(peer: Peer) -> None:
        peer.receive()
        peer.send(sent)
        end(peer)

    with Site(broken, None) as transport:
        error, _ = failed(lambda: transport.request("POST", "/x", timeout=LONG))
        assert isinstance(error, ConnectionFailed)
        assert error.sent
        assert str(error).startswith("POST /x: ")


@pytest.mark.parametrize("chunked", [False, True])
def test_an_answer_above_the_bound_is_given_up(chunked: bool) -> None:
    def flood(peer: Peer) -> None:
        peer.receive()
        peer.send(CHUNKED if chunked else b"HTTP/1.1 200 OK\r\n\r\n")
        while not peer.over.is_set():
            peer.chunk(b"x" * 65536) if chunked else peer.send(b"x" * 65536)

    with Site(flood, None) as transport:
        error, _ = failed(lambda: transport.request("GET", "/x", timeout=LONG))
        assert isinstance(error, AnswerTooLarge)
        assert "1048576 bytes" in str(error)


@pytest.mark.parametrize(("size", "fits"), [(1 << 20, True), ((1 << 20) + 1, False)])
def test_an_answer_of_the_bound_itself_is_read(size: int, fits: bool) -> None:
    with Site(serve(lambda peer: peer.answer(bytes(size))), None) as transport:
        if fits:
            assert len(transport.request("GET", "/x", timeout=LONG).body) == size
        else:
            assert isinstance(
                failed(lambda: transport.request("GET", "/x", timeout=LONG))[0], AnswerTooLarge
            )


def test_a_bomb_of_zeros_counts_with_its_true_size() -> None:
    packer = zlib.compressobj(wbits=31)
    bomb = packer.compress(bytes(64 << 20)) + packer.flush()
    with Site(serve(lambda p: p.answer(bomb, Content_Encoding="gzip")), None) as transport:
        error, _ = failed(lambda: transport.request("GET", "/x", timeout=LONG))
        assert isinstance(error, AnswerTooLarge)


def test_an_answer_that_a_proxy_compressed_is_read() -> None:
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(b"hello") + packer.flush()
    with Site(serve(lambda p: p.answer(packed, Content_Encoding="gzip")), None) as transport:
        assert transport.request("GET", "/x", timeout=LONG).body == b"hello"


def test_a_chunked_answer_is_read_whole() -> None:
    def chunks(peer: Peer) -> None:
        peer.send(CHUNKED)
        for _ in range(100):
            peer.chunk(b"x" * 1000)
        peer.chunk(b"")

    place = Site(serve(chunks), None)
    with place as transport:
        assert len(transport.request("GET", "/x", timeout=LONG).body) == 100_000
        assert len(transport.request("GET", "/x", timeout=LONG).body) == 100_000
        assert len(place.server.peers) == 1


def test_the_path_of_the_host_comes_first() -> None:
    with RawServer(serve(lambda peer: peer.answer())) as server:
        with transport_to(f"{server.url}/k8s/clusters/c-1/") as transport:
            transport.request("GET", "/api", timeout=LONG)
            assert transport.host == f"127.0.0.1:{server.port}"
        assert server.requests[0][0] == "GET /k8s/clusters/c-1/api HTTP/1.1"


def test_a_plain_proxy_is_asked_for_the_whole_address() -> None:
    with RawServer(serve(lambda peer: peer.answer(b"proxied"))) as proxy:
        with transport_to("http://api.example/base", proxy=proxy.url) as transport:
            assert transport.request("GET", "/api", timeout=LONG).body == b"proxied"
        assert proxy.requests[0][0] == "GET http://api.example/base/api HTTP/1.1"


def test_a_plain_proxy_gets_its_own_headers_with_every_request() -> None:
    credentials = {"proxy-authorization": "Basic cHJveHk="}
    with RawServer(serve(lambda peer: peer.answer(b"proxied"))) as proxy:
        site = "http://somebody:secret@API.example:8080"
        with transport_to(site, proxy=proxy.url, proxy_headers=credentials) as transport:
            assert transport.host == "api.example:8080"
            transport.request("GET", "/api", timeout=LONG)
            transport.stream("/api", timeout=LONG, read_timeout=LONG).close()
        for _, headers, _ in proxy.requests:
            assert headers["proxy-authorization"] == "Basic cHJveHk="
            assert headers["host"] == "api.example:8080"
        assert len(proxy.requests) == 2


def test_tls_goes_through_a_proxy_s_tunnel(certificate: Certificate) -> None:
    place = RawServer(serve(lambda peer: peer.answer(b"tunnelled")), certificate.context())

    def tunnel(peer: Peer) -> None:
        peer.receive()
        peer.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with socket.create_connection(("127.0.0.1", place.port)) as other:
            back = threading.Thread(target=pump, args=(other, peer.sock))
            back.start()
            pump(peer.sock, other)
            back.join(LONG)

    with place, RawServer(tunnel) as proxy:
        with transport_to(place.url, ca=certificate.path, proxy=proxy.url) as transport:
            assert transport.request("GET", "/api", timeout=LONG).body == b"tunnelled"
            stream = transport.stream("/api", timeout=LONG, read_timeout=LONG)
            assert stream.read() == b"tunnelled"
            stream.close()
        assert proxy.requests[0][0] == f"CONNECT 127.0.0.1:{place.port} HTTP/1.0"


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return


def test_an_api_client_serves_one_transport() -> None:
    with client.ApiClient(client.Configuration(host="http://127.0.0.1:1")) as api_client:
        ApiClientTransport(api_client, user_agent="x")
        with pytest.raises(ValueError, match="another transport"):
            ApiClientTransport(api_client, user_agent="x")


def test_closing_the_transport_ends_calls_in_progress_and_refuses_new_ones(
    site: Callable[[Script], Site],
) -> None:
    with site(Peer.hang) as transport:
        errors: list[ApiFailure] = []
        thread = threading.Thread(
            target=lambda: errors.append(
                failed(lambda: transport.request("GET", "/x", timeout=60.0))[0]
            )
        )
        thread.start()
        time.sleep(0.1)
        transport.close()
        thread.join(LONG)
        assert not thread.is_alive()
        assert isinstance(errors[0], ConnectionFailed)
        assert errors[0].sent
        error, _ = failed(lambda: transport.request("GET", "/x", timeout=LONG))
        assert isinstance(error, ConnectionFailed)
        assert not error.sent
        assert "closed" in str(error)


def test_a_call_that_connects_while_the_transport_is_closed_sends_nothing() -> None:
    place = Site(serve(Peer.answer), None)
    with place as transport:
        connect = transport._connect

        def slow(connection: TimedConnection, timeout: float) -> None:
            connect(connection, timeout)
            transport.close()

        transport._connect = slow  # type: ignore[method-assign]
        error, _ = failed(lambda: transport.request("POST", "/x", body=b"{}", timeout=LONG))
        assert isinstance(error, ConnectionFailed)
        assert not error.sent
    assert place.server.requests == []


def test_what_a_proxy_says_is_one_line_and_its_own_headers_are_not_quoted() -> None:
    def refuse(peer: Peer) -> None:
        peer.receive()
        peer.send(b"HTTP/1.1 407 Who\tare   you\r\nContent-Length: 0\r\n\r\n")

    with RawServer(refuse) as proxy:
        with transport_to("https://api.example.org", proxy=proxy.url) as transport:
            error, _ = failed(lambda: transport.request("GET", "/", timeout=LONG))
            assert "407 Who are you" in str(error)
            assert not error.sent  # type: ignore[attr-defined]
        headers = {"Proxy-Authorization": "Basic S3cr3t\r\nX: y"}
        with transport_to(
            "https://api.example.org", proxy=proxy.url, proxy_headers=headers
        ) as transport:
            error, _ = failed(lambda: transport.request("GET", "/", timeout=LONG))
            assert isinstance(error, ConnectionFailed)
            assert "a header is malformed" in str(error)
            assert "S3cr3t" not in f"{error!r} {error.__cause__!r} {error.__context__!r}"


def test_many_threads_share_a_transport(site: Callable[[Script], Site]) -> None:
    wrong: list[object] = []

    def echo(peer: Peer) -> None:
        peer.answer(peer.requests[-1][2])

    def call(n: int) -> None:
        for i in range(20):
            body = f"{n}-{i}".encode()
            answer = transport.request("POST", "/x", body=body, timeout=LONG)
            if answer.body != body:
                wrong.append(answer)

    with site(serve(echo)) as transport:
        threads = [threading.Thread(target=call, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def test_ssl_contexts_verify_by_default(certificate: Certificate) -> None:
    assert certificate.context().verify_mode is ssl.CERT_NONE  # of the client, by the server
    with (
        RawServer(serve(lambda peer: peer.answer()), certificate.context()) as server,
        transport_to(server.url.replace("127.0.0.1", "localhost"), ca=certificate.path) as wrong,
    ):
        error, _ = failed(lambda: wrong.request("GET", "/x", timeout=LONG))
        assert "localhost" in str(error)
        assert isinstance(error, ConnectionFailed)
