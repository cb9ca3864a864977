"""TLS on the server of metrics, and who may read them."""

import contextlib
import http.client
import logging
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from controller.clock import SystemClock
from controller.configuration.config import Config, ConfigError, load
from controller.configuration.values import Address
from controller.loop import Loop
from controller.serving.httpmessage import Request, Response, plain
from controller.serving.httpserver import HTTPServer
from controller.serving.servertls import ServerTLS, server_context
from controller.serving.tokenguard import TokenGuard
from informers import RawResponse, RestClient
from tests.support.certificates import Authority

ANY_PORT = Address("127.0.0.1", 0)
SECONDS = 10.0
TOKEN = "S3cr3t-CANARY"


@pytest.fixture
def authority() -> Authority:
    return Authority("the first")


@pytest.fixture
def pair(tmp_path: Path, authority: Authority) -> tuple[Path, Path]:
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    authority.issue(certificate, key)
    return certificate, key


@contextmanager
def serving(tls: ServerTLS) -> Iterator[HTTPServer]:
    def hello(_: Request) -> Response:
        return plain(http.HTTPStatus.OK, "hello")

    server = HTTPServer(ANY_PORT, {"/metrics": hello}, clock=SystemClock(), tls=tls)
    loop = Loop("http", server.step, clock=SystemClock(), on_stop=server.close)
    loop.start()
    try:
        yield server
    finally:
        loop.stop()
        loop.join(SECONDS)


def fetch(server: HTTPServer, trusted: bytes) -> str:
    context = ssl.create_default_context(cadata=trusted.decode())
    host, port = server.address
    connection = http.client.HTTPSConnection(host, port, context=context, timeout=SECONDS)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def test_metrics_are_served_over_tls(pair: tuple[Path, Path], authority: Authority) -> None:
    with serving(ServerTLS(*pair)) as server:
        assert fetch(server, authority.pem) == "hello\n"


def test_a_replaced_certificate_is_used_for_the_next_connection(
    pair: tuple[Path, Path], authority: Authority
) -> None:
    second = Authority("the second")
    with serving(ServerTLS(*pair)) as server:
        assert fetch(server, authority.pem) == "hello\n"
        second.issue(*pair)
        assert fetch(server, second.pem) == "hello\n"
        with pytest.raises(ssl.SSLCertVerificationError):
            fetch(server, authority.pem)


def test_a_pair_that_does_not_fit_leaves_the_last_good_one_in_use(
    pair: tuple[Path, Path],
    authority: Authority,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tls = ServerTLS(*pair)
    with serving(tls) as server, caplog.at_level(logging.WARNING, "controller.serving.servertls"):
        authority.issue(pair[0], tmp_path / "other.key")
        assert fetch(server, authority.pem) == "hello\n"
        assert fetch(server, authority.pem) == "hello\n"
        assert len(caplog.records) == 1, "told once a change"
        pair[1].unlink()
        assert fetch(server, authority.pem) == "hello\n"


def test_who_speaks_no_tls_gets_nothing_and_holds_up_nobody(
    pair: tuple[Path, Path], authority: Authority
) -> None:
    with serving(ServerTLS(*pair)) as server:
        with socket.create_connection(server.address, timeout=SECONDS) as plain_http:
            plain_http.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            with contextlib.suppress(ConnectionResetError):
                assert b"hello" not in plain_http.recv(1000)
        assert fetch(server, authority.pem) == "hello\n"


def test_a_key_with_a_password_is_refused_and_not_asked_for(
    pair: tuple[Path, Path], authority: Authority
) -> None:
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(pair[1].read_bytes(), None)
    pair[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"password"),
        )
    )
    with pytest.raises(ssl.SSLError):
        server_context(*pair)


# --- the configuration -------------------------------------------------------------------------


def configured(**environ: str) -> Config:
    enough = {"LLDAP_URL": "http://lldap", "LLDAP_ADMIN_PASSWORD": "x"}
    return load({**enough, **environ}, {}, {"pod_namespace": "a", "pod_name": "b"} | DETECTED)


DETECTED = {"leader_elect": "false", "log_format": "text"}


def test_certificate_and_key_go_together(pair: tuple[Path, Path], tmp_path: Path) -> None:
    certificate, key = pair
    with pytest.raises(ConfigError, match="METRICS_TLS_KEY_FILE: is not set"):
        configured(METRICS_TLS_CERT_FILE=str(certificate))
    with pytest.raises(ConfigError, match="METRICS_TLS_CERT_FILE: is not set"):
        configured(METRICS_TLS_KEY_FILE=str(key))
    Authority("another").issue(tmp_path / "other.crt", tmp_path / "other.key")
    with pytest.raises(ConfigError, match="METRICS_TLS_KEY_FILE: is not the key"):
        configured(
            METRICS_TLS_CERT_FILE=str(certificate), METRICS_TLS_KEY_FILE=str(tmp_path / "other.key")
        )
    with pytest.raises(ConfigError, match="METRICS_TLS_CERT_FILE: the file that it names holds no"):
        configured(METRICS_TLS_CERT_FILE=str(key), METRICS_TLS_KEY_FILE=str(key))


def test_tokens_are_asked_for_over_tls_only(pair: tuple[Path, Path]) -> None:
    with pytest.raises(ConfigError, match="METRICS_AUTH: is true without"):
        configured(METRICS_AUTH="true")
    certificate, key = map(str, pair)
    config = configured(
        METRICS_AUTH="true", METRICS_TLS_CERT_FILE=certificate, METRICS_TLS_KEY_FILE=key
    )
    assert config.metrics_auth


# --- who may read ------------------------------------------------------------------------------


class Reviews:
    """An API server that answers reviews as it is told, and keeps what it was asked."""

    def __init__(self, *answers: dict[str, Any] | int) -> None:
        self._answers = list(answers)
        self._lock = threading.Lock()
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def request(
        self, method: str, path: str, *, body: bytes | None = None, **_: Any
    ) -> RawResponse:
        assert method == "POST"
        assert body is not None
        with self._lock:
            self.asked.append((path, orjson.loads(body)["spec"]))
            answer = self._answers.pop(0)
        if isinstance(answer, int):
            return RawResponse(answer, {}, b"{}")
        return RawResponse(201, {}, orjson.dumps({"status": answer}))

    def stream(self, path: str, **_: Any) -> Any:
        raise AssertionError("a review is no watch")


ALICE = {
    "username": "alice",
    "uid": "1",
    "groups": ["a", "b"],
    "extra": {"scopes": ["x"]},
}


def ask(reviews: Reviews, authorization: str | None, method: str = "GET") -> int | None:
    guard = TokenGuard(RestClient(reviews, call_seconds=1.0))
    headers = {} if authorization is None else {"authorization": authorization}
    response = guard(Request(method, "/metrics", "", headers))
    return None if response is None else response.status.value


def test_a_token_of_who_may_get_the_path_passes() -> None:
    reviews = Reviews({"authenticated": True, "user": ALICE}, {"allowed": True})

    assert ask(reviews, f"Bearer {TOKEN}") is None
    (token_path, token_spec), (access_path, access_spec) = reviews.asked
    assert token_path == "/apis/authentication.k8s.io/v1/tokenreviews"
    assert token_spec == {"token": TOKEN}
    assert access_path == "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    assert access_spec == {
        "user": "alice",
        "uid": "1",
        "groups": ["a", "b"],
        "extra": {"scopes": ["x"]},
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
    }


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer  ", "Basic YTpi", TOKEN])
def test_without_a_token_nobody_is_asked(authorization: str | None) -> None:
    reviews = Reviews()
    assert ask(reviews, authorization) == 401
    assert reviews.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        {"error": "invalid bearer token"},
        {"authenticated": False, "user": ALICE},
        {"authenticated": "true", "user": ALICE},
        {"authenticated": True},
    ],
)
def test_a_token_that_the_server_does_not_know_is_refused(answer: dict[str, Any]) -> None:
    assert ask(Reviews(answer), f"Bearer {TOKEN}") == 401


@pytest.mark.parametrize("answer", [{}, {"allowed": False}, {"allowed": 1}, {"denied": True}])
def test_an_account_without_the_right_is_refused(answer: dict[str, Any]) -> None:
    reviews = Reviews({"authenticated": True, "user": ALICE}, answer)
    assert ask(reviews, f"Bearer {TOKEN}") == 403


@pytest.mark.parametrize("status", [403, 500])
def test_without_an_answer_nobody_passes_and_the_log_has_no_token(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert ask(Reviews(status), f"Bearer {TOKEN}") == 503
    assert ask(Reviews({"authenticated": True, "user": ALICE}, status), f"bearer {TOKEN}") == 503
    assert "a review failed" in caplog.text
    assert TOKEN not in caplog.text
