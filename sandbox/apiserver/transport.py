"""The informers' Transport on a server in the same process: no socket, no waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from urllib3 import HTTPHeaderDict

from informers.errors import StreamClosed
from informers.transport import NO_HEADERS, BeforeSend, Query, RawResponse
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.messages import Request, Response, Stream, response_headers


@dataclass(frozen=True, slots=True)
class Call:
    """One call that went to the server, or that a hook kept from it."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    user: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A call and the status of its answer; 0 if a hook raised instead."""

    call: Call
    status: int


Before = Callable[[Call], RawResponse | None]
After = Callable[[Call, int], None]


def _nothing_before(call: Call) -> RawResponse | None:
    del call
    return None


def _nothing_after(call: Call, status: int) -> None:
    del call, status


class InProcessTransport:
    """See informers.transport.Transport. Any thread, as far as the hooks allow.

    `before` is asked first: what it returns is the answer and the server is not called; what it
    raises is the failure. `after` runs when the server has done its work and may still raise, as
    when an answer is lost. Both stay replaceable. `calls` logs everything that was tried.
    """

    def __init__(
        self,
        server: ApiServer,
        *,
        token: str = "",
        user: str = "",
        user_agent: str = "lldap-operator",
    ) -> None:
        """`token` says who calls; `user` is the name under which the log has it."""
        self.calls: list[Answered] = []
        self.before: Before = _nothing_before
        self.after: After = _nothing_after
        self._server = server
        self._user = user
        self._own_headers = {"user-agent": user_agent}
        if token:
            self._own_headers["authorization"] = f"Bearer {token}"

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        headers: Mapping[str, str] = NO_HEADERS,
        body: bytes | None = None,
        timeout: float,
        before_send: BeforeSend | None = None,
    ) -> RawResponse:
        """Answer at once, whatever `timeout` says."""
        if before_send is not None:
            before_send(timeout)
        call = self._call(method, path, query, headers, body or b"")
        answer = self._send(call)
        if isinstance(answer, RawResponse):
            return answer
        return RawResponse(answer.status, HTTPHeaderDict(response_headers(answer)), answer.body)

    def stream(
        self,
        path: str,
        *,
        query: Query = (),
        headers: Mapping[str, str] = NO_HEADERS,
        timeout: float,
        read_timeout: float,
    ) -> InProcessStream:
        """Open a watch; its `read` returns None when nothing happened."""
        del timeout, read_timeout
        answer = self._send(self._call("GET", path, query, headers, b""))
        if isinstance(answer, RawResponse):
            return InProcessStream(answer.status, answer.headers, _Whole(answer.body))
        source = answer.stream or _Whole(answer.body)
        return InProcessStream(answer.status, HTTPHeaderDict(response_headers(answer)), source)

    def _call(
        self, method: str, path: str, query: Query, headers: Mapping[str, str], body: bytes
    ) -> Call:
        lowered = {name.lower(): value for name, value in headers.items()}
        sent = {**self._own_headers, **lowered}
        return Call(method, unquote(path), dict(query), sent, body, self._user)

    def _send(self, call: Call) -> RawResponse | Response:
        status = 0
        try:
            answer = self.before(call) or self._server.request(
                Request(call.method, call.path, call.query, call.headers, call.body)
            )
            self.after(call, answer.status)
            status = answer.status
        finally:
            self.calls.append(Answered(call, status))
        return answer


class _Whole:
    """A body that is there at once."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def read(self) -> bytes | None:
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        self._body = b""


class InProcessStream:
    """See informers.transport.RawStream. `close`: any thread; the rest: one thread."""

    def __init__(self, status: int, headers: Mapping[str, str], source: Stream) -> None:
        self.status = status
        self.headers = headers
        self._source = source
        self._closed = False

    def read(self) -> bytes | None:
        """Raises StreamClosed after `close`."""
        if self._closed:
            raise StreamClosed("the watch was closed")
        return self._source.read()

    def close(self) -> None:
        """End it on the server's side too."""
        self._closed = True
        self._source.close()
