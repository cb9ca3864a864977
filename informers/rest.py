"""JSON requests to an API server."""

import datetime
import enum
import time
from collections.abc import Callable
from typing import Final

import orjson

from informers.errors import ApiFailure, UnexpectedAnswer
from informers.metrics import NoRestMetrics, RestMetrics
from informers.objects import Object
from informers.status import status_error
from informers.transport import BeforeSend, Query, RawResponse, RawStream, Transport

JSON: Final = "application/json"

# A list and a single object need different values. The wrong one gives 406 for a list, but for a
# watch 200 and never an event.
METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
METADATA_ONE: Final = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"

ERROR_BODY_BYTES: Final = 64 * 1024
"""What is read of the body of a refused watch."""


class PatchType(enum.StrEnum):
    """The content types of PATCH. A strategic merge patch does not exist for custom kinds."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    APPLY = "application/apply-patch+yaml"  # JSON is YAML


def utc_now() -> datetime.datetime:
    """The machine's wall clock."""
    return datetime.datetime.now(datetime.UTC)


class RestClient:
    """Sends one request and gives back parsed JSON. Any thread; retries nothing.

    Every call takes at most `timeout` seconds, by default `call_seconds`. Raises the transport's
    ConnectionFailed, DeadlineExceeded and AnswerTooLarge, StatusError for every answer other than
    2xx, UnexpectedAnswer for a 2xx whose body is no JSON object, and whatever `fence` raises: it
    is called right before each write is sent and stops it by raising (a leader that has lost its
    lease).
    """

    def __init__(
        self,
        transport: Transport,
        *,
        call_seconds: float,
        fence: BeforeSend | None = None,
        host: str = "none",
        metrics: RestMetrics | None = None,
        now: Callable[[], datetime.datetime] = utc_now,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`host` is a label for metrics. `now` serves a Retry-After that is a date."""
        self._transport = transport
        self._call_seconds = call_seconds
        self._fence = fence
        self._host = host
        self._metrics: RestMetrics = metrics or NoRestMetrics()
        self._now = now
        self._monotonic = monotonic

    def get(
        self,
        path: str,
        *,
        query: Query = (),
        accept: str = JSON,
        timeout: float | None = None,
    ) -> Object:
        """One object, or a list."""
        headers = {"Accept": accept}
        return self._call("GET", path, query=query, headers=headers, body=None, timeout=timeout)

    def get_metadata(self, path: str) -> Object:
        """One object without spec and status, whatever its size."""
        return self.get(path, accept=METADATA_ONE)

    def post(
        self, path: str, body: Object, *, query: Query = (), timeout: float | None = None
    ) -> Object:
        """Create; answers what the server made of it."""
        return self._write("POST", path, body, query=query, timeout=timeout)

    def put(
        self, path: str, body: Object, *, query: Query = (), timeout: float | None = None
    ) -> Object:
        """Replace."""
        return self._write("PUT", path, body, query=query, timeout=timeout)

    def patch(
        self,
        path: str,
        body: Object | list[Object],
        *,
        content_type: str,
        field_manager: str = "",
        force: bool = False,
        query: Query = (),
        timeout: float | None = None,
    ) -> Object:
        """Change; `content_type` is a PatchType. Only APPLY has `force`; it needs a manager."""
        options = [*query]
        if field_manager:
            options.append(("fieldManager", field_manager))
        if force:
            options.append(("force", "true"))
        return self._write(
            "PATCH", path, body, query=options, content_type=content_type, timeout=timeout
        )

    def delete(
        self,
        path: str,
        body: Object | None = None,
        *,
        query: Query = (),
        timeout: float | None = None,
    ) -> Object:
        """Delete; `body` is a DeleteOptions. Answers a Status, or the object if it lives on."""
        return self._write("DELETE", path, body, query=query, timeout=timeout)

    def stream(
        self, path: str, *, query: Query = (), accept: str = JSON, read_timeout: float
    ) -> RawStream:
        """Open an answer that goes on; each read may take `read_timeout` seconds."""
        started = self._monotonic()
        code = "<error>"
        try:
            stream = self._transport.stream(
                path,
                query=query,
                headers={"Accept": accept},
                timeout=self._call_seconds,
                read_timeout=read_timeout,
            )
            code = str(stream.status)
        finally:
            self._count("GET", code, started, 0, 0)
        if stream.status == 200:
            return stream
        body = _error_body(stream)
        raise self._refused("GET", path, RawResponse(stream.status, stream.headers, body))

    def _write(
        self,
        method: str,
        path: str,
        body: Object | list[Object] | None,
        *,
        query: Query,
        content_type: str = JSON,
        timeout: float | None,
    ) -> Object:
        headers = {"Accept": JSON}
        content = None
        if body is not None:
            headers["Content-Type"] = content_type
            content = orjson.dumps(body)
        return self._call(
            method,
            path,
            query=query,
            headers=headers,
            body=content,
            timeout=timeout,
            before_send=self._fence,
        )

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Query,
        headers: dict[str, str],
        body: bytes | None,
        timeout: float | None,
        before_send: BeforeSend | None = None,
    ) -> Object:
        started = self._monotonic()
        code, received = "<error>", 0
        try:
            answer = self._transport.request(
                method,
                path,
                query=query,
                headers=headers,
                body=body,
                timeout=self._call_seconds if timeout is None else timeout,
                before_send=before_send,
            )
            code, received = str(answer.status), len(answer.body)
        finally:
            self._count(method, code, started, len(body or b""), received)
        if 200 <= answer.status < 300:
            return _parsed(method, path, answer.body)
        raise self._refused(method, path, answer)

    def _refused(self, method: str, path: str, answer: RawResponse) -> ApiFailure:
        error = status_error(answer.status, answer.headers, answer.body, self._now)
        error.request = f"{method} {path}"
        return error

    def _count(self, method: str, code: str, started: float, sent: int, received: int) -> None:
        self._metrics.request(
            method=method,
            host=self._host,
            code=code,
            seconds=self._monotonic() - started,
            request_bytes=sent,
            response_bytes=received,
        )


def _parsed(method: str, path: str, body: bytes) -> Object:
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        parsed = None
    if not isinstance(parsed, dict):
        raise UnexpectedAnswer(f"{method} {path}: success, but the body is no JSON object")
    return parsed


def _error_body(stream: RawStream) -> bytes:
    """What the server says about a refused watch, as far as it comes: the status is known."""
    body = b""
    try:
        while len(body) < ERROR_BODY_BYTES and (piece := stream.read()):
            body += piece
    except ApiFailure:
        pass
    finally:
        stream.close()
    return body
