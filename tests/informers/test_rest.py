"""What is sent, what comes back, and what is told on the way."""

import orjson
import pytest

from informers import (
    ConnectionFailed,
    DeadlineExceeded,
    Object,
    PatchType,
    StatusError,
    StatusKind,
    StreamClosed,
    UnexpectedAnswer,
)
from tests.informers.faketransport import Bytes, FakeTransport, client
from tests.support.clock import FakeClock


def test_get_asks_for_json_and_gives_it_back_parsed() -> None:
    transport = FakeTransport(body=b'{"a": 1}')
    assert client(transport).get("/api/v1", query=[("limit", "1")]) == {"a": 1}
    assert transport.asked == {
        "method": "GET",
        "path": "/api/v1",
        "query": [("limit", "1")],
        "headers": {"Accept": "application/json"},
        "body": None,
        "timeout": 10.0,
    }


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_writes_send_json(method: str) -> None:
    transport = FakeTransport()
    call = getattr(client(transport), method.lower())
    call("/x", {"a": "é"}, query=[("dryRun", "All")], timeout=3.0)
    assert transport.asked["method"] == method
    assert transport.asked["body"] == '{"a":"é"}'.encode()
    assert transport.asked["headers"]["Content-Type"] == "application/json"
    assert transport.asked["query"] == [("dryRun", "All")]
    assert transport.asked["timeout"] == 3.0


def test_a_delete_without_options_has_no_body() -> None:
    transport = FakeTransport()
    client(transport).delete("/x")
    assert transport.asked["body"] is None
    assert "Content-Type" not in transport.asked["headers"]


def test_apply_names_its_manager_and_forces() -> None:
    transport = FakeTransport()
    client(transport).patch(
        "/x", {"a": 1}, content_type=PatchType.APPLY, field_manager="me", force=True
    )
    assert transport.asked["headers"]["Content-Type"] == "application/apply-patch+yaml"
    assert transport.asked["query"] == [("fieldManager", "me"), ("force", "true")]


def test_a_json_patch_is_a_list_and_a_plain_content_type_does_too() -> None:
    transport = FakeTransport()
    operations: list[Object] = [{"op": "test", "path": "/a", "value": 1}]
    client(transport).patch("/x", operations, content_type="application/json-patch+json")
    assert transport.asked["headers"]["Content-Type"] == PatchType.JSON
    assert orjson.loads(transport.asked["body"]) == operations
    assert transport.asked["query"] == []


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_the_fence_is_told_the_time_of_each_write_and_can_stop_it(method: str) -> None:
    class LostError(Exception):
        pass

    times: list[float] = []

    def fence(seconds: float) -> None:
        times.append(seconds)
        if len(times) > 2:
            raise LostError

    transport = FakeTransport()
    rest = client(transport, fence=fence)
    options = {"content_type": PatchType.MERGE} if method == "PATCH" else {}
    call = getattr(rest, method.lower())
    call("/x", {}, **options)
    call("/x", {}, timeout=4.0, **options)
    assert times == [10.0, 4.0]
    transport.asked.clear()
    with pytest.raises(LostError):
        call("/x", {}, **options)
    assert transport.asked == {}
    rest.get("/x")
    assert len(times) == 3


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"<html>secret</html>", b'{"a":', b"\xff"])
def test_a_success_that_is_no_object_is_not_taken_for_one(body: bytes) -> None:
    with pytest.raises(UnexpectedAnswer, match=r"GET /x: success, but") as caught:
        client(FakeTransport(201, body)).get("/x")
    assert "secret" not in str(caught.value)


class Counts:
    def __init__(self) -> None:
        self.told: list[dict[str, object]] = []

    def request(self, **labels: object) -> None:
        self.told.append(labels)


def test_each_request_is_counted_with_its_code_time_and_sizes() -> None:
    clock, counts = FakeClock(), Counts()
    transport = FakeTransport(404, b"gone")
    rest = client(transport, metrics=counts, host="api:6443", monotonic=clock.monotonic)
    with pytest.raises(StatusError):
        rest.post("/x", {})
    transport.error = ConnectionFailed("no", sent=False)
    with pytest.raises(ConnectionFailed):
        rest.get("/x")
    with pytest.raises(ConnectionFailed):
        rest.stream("/x", read_timeout=1.0)
    base = {"host": "api:6443", "seconds": 0.0}
    assert counts.told == [
        base | {"method": "POST", "code": "404", "request_bytes": 2, "response_bytes": 4},
        base | {"method": "GET", "code": "<error>", "request_bytes": 0, "response_bytes": 0},
        base | {"method": "GET", "code": "<error>", "request_bytes": 0, "response_bytes": 0},
    ]


def test_a_refused_stream_is_a_status_error_and_closed() -> None:
    transport = FakeTransport(429, b"Too many requests", retry_after="1")
    with pytest.raises(StatusError) as caught:
        client(transport).stream("/x", read_timeout=1.0)
    assert caught.value.kind is StatusKind.TOO_MANY_REQUESTS
    assert caught.value.message == "Too many requests"
    assert caught.value.retry_after == 1.0
    assert transport.opened.closed


@pytest.mark.parametrize("error", [DeadlineExceeded("x", sent=True), StreamClosed("x"), None])
def test_the_status_of_a_refused_stream_counts_also_if_its_body_does_not_come(
    error: Exception | None,
) -> None:
    transport = FakeTransport(403)
    transport.opened = Bytes([b"half", None] if error is None else [b"half"], error)
    with pytest.raises(StatusError) as caught:
        client(transport).stream("/x", read_timeout=1.0)
    assert caught.value.kind is StatusKind.FORBIDDEN
    assert caught.value.message == "half"
    assert transport.opened.closed
