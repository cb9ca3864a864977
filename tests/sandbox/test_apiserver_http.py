"""The API server on a socket."""

import random
import socket
import stat
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
import requests
import yaml

from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.authorization import ADMIN, Authenticator
from sandbox.apiserver.http import ApiServerHttp
from sandbox.apiserver.messages import Request

SECRETS = "/api/v1/namespaces/default/secrets"


class WallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def new_server(authenticator: Authenticator | None = None) -> ApiServer:
    return ApiServer(WallClock(), random.Random(2), authenticator=authenticator)


@pytest.fixture
def http() -> Iterator[ApiServerHttp]:
    with ApiServerHttp(new_server()) as http:
        yield http


@pytest.fixture
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env = False
        yield session


def test_objects_are_made_and_read(http: ApiServerHttp, session: requests.Session) -> None:
    body = {"metadata": {"name": "s"}, "stringData": {"a": "b"}}
    created = session.post(f"{http.url}{SECRETS}", json=body, timeout=5)
    assert created.status_code == 201
    read = session.get(f"{http.url}{SECRETS}/s", timeout=5)
    assert read.json() == created.json()
    assert read.headers["Content-Type"] == "application/json"


def test_a_query_is_unescaped(http: ApiServerHttp, session: requests.Session) -> None:
    query = {"labelSelector": "a in (b, c),!d", "fieldSelector": "metadata.name=s"}
    answer = session.get(f"{http.url}{SECRETS}", params=query, timeout=5)
    assert answer.json()["items"] == []


def test_warnings_and_retry_after_are_headers(
    http: ApiServerHttp, session: requests.Session
) -> None:
    body = {"metadata": {"name": "s"}, "bogus": 1}
    answer = session.post(f"{http.url}{SECRETS}", json=body, timeout=5)
    assert answer.headers["Warning"] == '299 - "unknown field \\"bogus\\""'
    answer = session.get(f"{http.url}{SECRETS}?resourceVersion=99999", timeout=5)
    assert (answer.status_code, answer.headers["Retry-After"]) == (504, "1")


def test_a_watch_tells_of_a_write_at_once(http: ApiServerHttp, session: requests.Session) -> None:
    with session.get(f"{http.url}{SECRETS}?watch=1", stream=True, timeout=5) as watch:
        requests.post(f"{http.url}{SECRETS}", json={"metadata": {"name": "s"}}, timeout=5)
        line = next(watch.iter_lines(chunk_size=1))
    assert orjson.loads(line)["object"]["metadata"]["name"] == "s"


def test_a_write_of_another_thread_is_told(session: requests.Session) -> None:
    server = new_server()
    with (
        ApiServerHttp(server) as http,
        session.get(f"{http.url}{SECRETS}?watch=1", stream=True, timeout=5) as watch,
    ):
        body = orjson.dumps({"metadata": {"name": "s"}})
        server.request(Request("POST", SECRETS, body=body))
        line = next(watch.iter_lines(chunk_size=1))
    assert orjson.loads(line)["type"] == "ADDED"


def test_a_watch_ends_in_its_time(http: ApiServerHttp, session: requests.Session) -> None:
    watch = session.get(f"{http.url}{SECRETS}?watch=1&timeoutSeconds=1", timeout=5)
    assert (watch.status_code, watch.content) == (200, b"")


def test_who_stops_watching_does_no_harm(http: ApiServerHttp, session: requests.Session) -> None:
    with session.get(f"{http.url}{SECRETS}?watch=1", stream=True, timeout=5):
        pass
    for name in ("a", "b"):
        session.post(f"{http.url}{SECRETS}", json={"metadata": {"name": name}}, timeout=5)
    assert len(session.get(f"{http.url}{SECRETS}", timeout=5).json()["items"]) == 2


def test_stopping_ends_watches_and_the_thread(session: requests.Session) -> None:
    with ApiServerHttp(new_server()) as http:
        watch = session.get(f"{http.url}{SECRETS}?watch=1", stream=True, timeout=5)
        assert "sandbox-apiserver" in {thread.name for thread in threading.enumerate()}
    assert watch.content == b""
    assert "sandbox-apiserver" not in {thread.name for thread in threading.enumerate()}


def test_a_deleted_namespace_ends_by_itself(http: ApiServerHttp, session: requests.Session) -> None:
    url = f"{http.url}/api/v1/namespaces"
    session.post(url, json={"metadata": {"name": "n"}}, timeout=5)
    assert session.delete(f"{url}/n", timeout=5).status_code == 200
    deadline = time.monotonic() + 5
    while session.get(f"{url}/n", timeout=5).status_code != 404:
        assert time.monotonic() < deadline


def test_a_port_that_is_taken_is_an_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        http = ApiServerHttp(new_server(), port=taken.getsockname()[1])
        with pytest.raises(OSError, match="address"):
            http.__enter__()


def test_tokens_say_who_calls(session: requests.Session) -> None:
    with ApiServerHttp(new_server(Authenticator({"t": ADMIN}))) as http:
        for token, status in (("t", 200), ("x", 401)):
            headers = {"Authorization": f"Bearer {token}"}
            answer = session.get(f"{http.url}{SECRETS}", headers=headers, timeout=5)
            assert answer.status_code == status
        assert session.get(f"{http.url}{SECRETS}", timeout=5).status_code == 403


def test_a_kubeconfig_is_for_its_owner_only(http: ApiServerHttp, tmp_path: Path) -> None:
    path = tmp_path / "config"
    http.kubeconfig(path, token="t", namespace="n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    config = yaml.safe_load(path.read_text())
    assert config["clusters"][0]["cluster"]["server"] == http.url
    assert config["users"][0]["user"] == {"token": "t"}
    assert config["contexts"][0]["context"]["namespace"] == "n"


def test_a_large_body_is_refused(http: ApiServerHttp, session: requests.Session) -> None:
    answer = session.post(f"{http.url}{SECRETS}", data=b"x" * 4_000_000, timeout=5)
    assert answer.status_code == 413
    assert answer.json()["reason"] == "RequestEntityTooLarge"
