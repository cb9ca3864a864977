"""What a fault looks like from the operator's side: on its way to the API server and to lldap."""

from collections.abc import Callable
from typing import Any, Protocol

import orjson
from urllib3 import HTTPHeaderDict

from informers import ConnectionFailed, DeadlineExceeded
from informers.transport import RawResponse
from sandbox.lldap.exchange import Response
from sandbox.lldap.faults import ConnectionLostError

HTML = b"<html><head><title>Error</title></head><body>upstream</body></html>"


class Way(Protocol):
    """Makes failures and answers of one server's transport."""

    def lost(self, *, sent: bool) -> Exception:
        """The connection broke; before the request went out, or after."""
        ...

    def late(self) -> Exception:
        """No answer came in time."""
        ...

    def answer(self, status: int, body: bytes, content_type: str) -> Any:
        """Somebody answers in the server's stead."""
        ...

    def changed(self, answer: Any, change: Callable[[bytes], bytes]) -> Any:
        """The server's own answer with another body."""
        ...


class LldapWay:
    """Inside a hook of the sandbox's lldap."""

    def lost(self, *, sent: bool) -> Exception:
        return ConnectionLostError(sent=sent)

    def late(self) -> Exception:
        return ConnectionLostError(sent=True)

    def answer(self, status: int, body: bytes, content_type: str) -> Response:
        return Response(status, [("content-type", content_type)], body)

    def changed(self, answer: Response, change: Callable[[bytes], bytes]) -> Response:
        return answer._replace(body=change(answer.body))


class ApiWay:
    """Inside the transport to the sandbox's API server."""

    def lost(self, *, sent: bool) -> Exception:
        return ConnectionFailed("the connection was lost", sent=sent)

    def late(self) -> Exception:
        return DeadlineExceeded("no answer in time", sent=True)

    def answer(self, status: int, body: bytes, content_type: str) -> RawResponse:
        return RawResponse(status, HTTPHeaderDict({"Content-Type": content_type}), body)

    def changed(self, answer: RawResponse, change: Callable[[bytes], bytes]) -> RawResponse:
        return RawResponse(answer.status, answer.headers, change(answer.body))


_LOCKS = {
    "locked": "(code: 5) database is locked",
    "deadlock": "1213 (40001): Deadlock found when trying to get lock; try restarting transaction",
}


def database_busy(lock: str, path: str) -> tuple[int, bytes, str]:
    """What lldap answers when its database gives way to another transaction, by recordings."""
    text = f"Database error: `Execution Error: error returned from database: {_LOCKS[lock]}`"
    if path.startswith("/auth/"):
        return 500, f"`{text}`".encode(), "text/plain"
    errors = [{"message": text, "locations": [], "path": []}]
    return 200, orjson.dumps({"data": None, "errors": errors}), "application/json"


def status_body(code: int, reason: str) -> bytes:
    """A Status of the API server."""
    return orjson.dumps(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "code": code,
            "reason": reason,
            "message": "not now",
        }
    )
