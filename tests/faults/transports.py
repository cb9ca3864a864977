"""The operator's ways to the two servers, each call and each watch event a point."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from informers import ConnectionFailed
from informers.transport import NO_HEADERS, BeforeSend, Query, RawResponse, RawStream
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.transport import InProcessTransport
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward, Hook
from tests.faults.injector import Injector
from tests.faults.plan import Fault
from tests.faults.points import Category, lldap_category, short
from tests.faults.ways import ApiWay, LldapWay, status_body

_LLDAP, _API = LldapWay(), ApiWay()
_NAMES = ("userId", "groupId", "name")


def lldap_label(call: Call) -> str:
    """`lldap createUser alice`: what is called, and about whom."""
    return f"lldap {call.operation} {_about(call)}".rstrip()


def _about(call: Call) -> str:
    if not call.data.startswith(b"{"):
        return ""
    body = orjson.loads(call.data)
    if "variables" not in body:
        return str(body.get("username", ""))
    variables = body["variables"] or {}
    for part in ("user", "group", "request"):
        if isinstance(variables.get(part), dict):
            variables = variables[part]
            return str(variables.get("id") or variables.get("displayName"))
    return " ".join(str(variables[name]) for name in _NAMES if name in variables)


def lldap_hook(caller: str, injector: Injector) -> Hook:
    """A hook that makes the calls of `caller` to points."""

    def hook(call: Call, forward: Forward) -> Response:
        if call.caller != caller:
            return forward(call)
        category = lldap_category(call.operation)
        answer: Response = injector.carry_out(
            lldap_label(call), category, _LLDAP, lambda: forward(call)
        )
        return answer

    return hook


class FaultyApiTransport(InProcessTransport):
    """To the sandbox's API server; `stale` gives a revision of a path so many changes ago."""

    def __init__(
        self,
        server: ApiServer,
        injector: Injector,
        *,
        user: str,
        stale: Callable[[str, int], int],
        now: Callable[[], float],
    ) -> None:
        super().__init__(server, user=user)
        self._injector = injector
        self._stale = stale
        self._now = now
        self._lag: dict[str, float] = {}  # until when the watches of a path say nothing

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
        def forward(asked: Query = query) -> RawResponse:
            return super(FaultyApiTransport, self).request(
                method,
                path,
                query=asked,
                headers=headers,
                body=body,
                timeout=timeout,
                before_send=before_send,
            )

        last = path.rpartition("/")[2]
        if method == "GET" and (last.startswith("lldap") or last == "secrets"):
            return self._list(path, query, forward)
        category = Category.API_READ if method == "GET" else Category.API_WRITE
        label = f"api {method} {short(path)}"
        answer: RawResponse = self._injector.carry_out(label, category, _API, forward)
        return answer

    def _list(self, path: str, query: Query, forward: Callable[..., RawResponse]) -> RawResponse:
        """A list; `stale` lets the watches that follow lag behind.

        It is also answered as it was so many changes ago, if an API server may do that: not if
        the latest was asked for.
        """

        label = f"api LIST {short(path)}"
        fault = self._injector.fault_at(label, Category.LIST)
        if fault is None:
            return forward()
        if fault.do == "stale":
            self._lag[path] = self._now() + fault.seconds
            return forward(self._older(path, query, fault) if _may_be_old(query) else query)
        answer: RawResponse = self._injector.do(fault, _API, forward)
        return answer

    def _older(self, path: str, query: Query, fault: Fault) -> Query:
        return (
            *(each for each in query if each[0] not in {"resourceVersion", "resourceVersionMatch"}),
            ("resourceVersion", str(self._stale(path, fault.back))),
            ("resourceVersionMatch", "Exact"),
        )

    def stream(
        self,
        path: str,
        *,
        query: Query = (),
        headers: Mapping[str, str] = NO_HEADERS,
        timeout: float,
        read_timeout: float,
    ) -> Any:
        def forward() -> RawStream:
            return super(FaultyApiTransport, self).stream(
                path, query=query, headers=headers, timeout=timeout, read_timeout=read_timeout
            )

        what = short(path)
        answer = self._injector.carry_out(f"api WATCH {what}", Category.WATCH, _API, forward)
        if isinstance(answer, RawResponse):
            return _Refused(answer)
        if answer.status != 200:
            return answer
        lag = self._lag.get(path, 0.0)
        return FaultyStream(answer, what, self._injector, self._now, self._bookmark, held_until=lag)

    def _bookmark(self) -> bytes:
        version = str(self._server.store.revision)
        bookmark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": version}}}
        return orjson.dumps(bookmark) + b"\n"


def _may_be_old(query: Query) -> bool:
    asked = dict(query)
    return "continue" not in asked and asked.get("resourceVersion") == "0"


class _Refused:
    """A watch that somebody answered in the server's stead."""

    def __init__(self, answer: RawResponse) -> None:
        self.status, self.headers = answer.status, answer.headers
        self._body = answer.body

    def read(self) -> bytes | None:
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        self._body = b""


_EXPIRED = b'{"type":"ERROR","object":' + status_body(410, "Expired") + b"}\n"


BOOKMARK_SECONDS = 60.0


class FaultyStream:
    """One watch, its events one a read, each a point.

    Bookmarks come every minute, as from a real server: a silent watch would be noticed.
    """

    def __init__(
        self,
        stream: RawStream,
        what: str,
        injector: Injector,
        now: Callable[[], float],
        bookmark: Callable[[], bytes],
        *,
        held_until: float,
    ) -> None:
        self.status, self.headers = stream.status, stream.headers
        self._stream = stream
        self._what = what
        self._injector = injector
        self._now = now
        self._bookmark = bookmark
        self._next_bookmark = now() + BOOKMARK_SECONDS
        self._lines: deque[bytes] = deque()
        self._held_until = held_until

    def read(self) -> bytes | None:
        if self._now() < self._held_until:
            return None
        if not self._lines:
            piece = self._stream.read()
            if not piece:
                return self._quiet(piece)
            self._lines.extend(line + b"\n" for line in piece.splitlines())
        return self._deliver(self._lines.popleft())

    def close(self) -> None:
        self._stream.close()

    def _quiet(self, piece: bytes | None) -> bytes | None:
        """Nothing happened, or it is the end."""
        if piece is None and self._now() >= self._next_bookmark:
            self._next_bookmark = self._now() + BOOKMARK_SECONDS
            return self._bookmark()
        return piece

    def _deliver(self, line: bytes) -> bytes | None:
        event = orjson.loads(line)
        if event["type"] in {"BOOKMARK", "ERROR"}:
            return line
        metadata = event["object"]["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}"
        label = f"event {self._what} {event['type']} {key}"
        fault = self._injector.fault_at(label, Category.EVENT)
        return line if fault is None else self._disturbed(fault, line)

    def _disturbed(self, fault: Fault, line: bytes) -> bytes | None:
        match fault.do:
            case "drop":
                return None
            case "hold":
                self._held_until = self._now() + fault.seconds
                self._lines.appendleft(line)
                return None
            case "cut":
                raise ConnectionFailed("the watch broke", sent=True)
            case "twice":
                self._lines.appendleft(line)
                return line
            case "garble":
                return line[: len(line) // 2] + b"\n"
            case "expired":
                return _EXPIRED
            case "crash-before":
                self._injector.crash()
            case "act-before":
                self._injector.world.act(fault.act)
        return line
