"""The way to an API server, as the rest of the package sees it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

Query = Sequence[tuple[str, str]]

NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})

BeforeSend = Callable[[float], None]
"""Told how many seconds a call may still take, when all that is left to do is to send it."""


@dataclass(frozen=True, slots=True)
class RawResponse:
    """A whole answer. `headers.get` ignores case, as that of urllib3's HTTPHeaderDict does."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class RawStream(Protocol):
    """An answer that goes on. `close`: any thread; the rest: one thread."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP headers; `get` ignores case."""
        ...

    def read(self) -> bytes | None:
        """Bytes as they come, ``b""`` at the end, None for nothing now (streams without a socket).

        Raises ConnectionFailed, DeadlineExceeded after `read_timeout` without a byte, and
        StreamClosed after `close`.
        """
        ...

    def close(self) -> None:
        """Let go of the connection. A `read` that waits in another thread ends promptly."""
        ...


class Transport(Protocol):
    """Sends one request. Any thread. Retries nothing and follows no redirect.

    `path` is sent as it is (escaped by the caller) and `query` is escaped here. Raises
    ConnectionFailed, DeadlineExceeded and AnswerTooLarge; every status is an answer, not an error.
    """

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
        """Send and read the whole answer within `timeout` seconds, all in all.

        `before_send` is called when the connection stands and the request is built, right before
        its first byte goes out; what it raises comes out of here, and nothing is sent.
        """
        ...

    def stream(
        self,
        path: str,
        *,
        query: Query = (),
        headers: Mapping[str, str] = NO_HEADERS,
        timeout: float,
        read_timeout: float,
    ) -> RawStream:
        """GET; `timeout` seconds until the headers are there, then `read_timeout` for each read."""
        ...
