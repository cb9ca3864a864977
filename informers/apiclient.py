"""The transport of the product: on the `kubernetes` package's ApiClient."""

import http
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from informers.body import Body
from informers.connection import (
    CALL_ERRORS,
    SOCKET_OPTIONS,
    OpenReaders,
    TimedConnection,
    TimedTLSConnection,
    cause_of,
    is_timeout,
)
from informers.errors import (
    ApiFailure,
    ConnectionFailed,
    DeadlineExceeded,
    StreamClosed,
)
from informers.exchange import exchange, request_bytes
from informers.transport import NO_HEADERS, BeforeSend, Query, RawResponse

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

MAX_BYTES: Final = 512 * 1024 * 1024
"""A list of 100,000 large objects; more than this is a fault of the server or the way to it."""

CONNECT_SECONDS: Final = 5.0
"""Until a connection stands, TLS included. Also what stopping can wait for at worst."""


class ApiClientTransport:
    """Uses the ApiClient's connections, TLS, proxy and credentials; its models are bypassed.

    Promises what Transport promises, and that `close` ends calls in progress. Credentials are
    asked for on each call, so that a rotated token file or an exec plugin's new token counts at
    once. Certificates given to the ApiClient are read again with each new connection. One
    transport for an ApiClient; no SOCKS proxies. Any thread.
    """

    def __init__(
        self,
        api_client: "ApiClient",
        *,
        user_agent: str,
        pool_size: int = 8,
        max_bytes: int = MAX_BYTES,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`pool_size`: connections kept alive. Raises ValueError if it cannot have them."""
        self._configuration = api_client.configuration
        self._manager: urllib3.PoolManager = api_client.rest_client.pool_manager
        self._max_bytes = max_bytes
        self._readers = OpenReaders()
        self._monotonic = monotonic
        self._closed = threading.Event()
        # One thread refreshes the credentials, which may run a plugin for seconds; the others
        # wait for what it got.
        self._credentials = threading.Lock()
        self._manager.connection_pool_kw["maxsize"] = pool_size
        self._manager.connection_pool_kw.setdefault("socket_options", SOCKET_OPTIONS)
        self._pool = self._make_pool(monotonic)
        self._prefix = self._target_prefix()
        self._host = urllib3.util.parse_url(str(self._configuration.host)).netloc or ""
        self._fixed_headers = self._headers_of_all_requests(user_agent)
        # The pool was made with this proxy. Pinned, the configuration no longer reads the whole
        # environment each time that a refresh of the token sets its host again.
        self._configuration.proxy = self._configuration.proxy

    @property
    def host(self) -> str:
        """Host and port of the server, as a label for metrics."""
        return self._host

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
        """See Transport."""
        self._refuse_if_closed(method, path)
        target = self._target(path, query)
        sent = request_bytes(method, target, {**headers, **self._own_headers()}, body)
        ends = self._monotonic() + timeout
        try:
            connection = self._pool._get_conn()  # noqa: SLF001 - urlopen's own steps
            assert isinstance(connection, TimedConnection)
            try:
                self._connect(connection, timeout)
                self._refuse_if_closed(method, path)  # meanwhile: connecting takes its time
                connection.timeout = ends - self._monotonic()
                return exchange(
                    connection, method, sent, max_bytes=self._max_bytes, before_send=before_send
                )
            finally:
                self._pool._put_conn(connection)  # noqa: SLF001
        except CALL_ERRORS as error:
            raise _failure(method, path, error) from error

    def stream(
        self,
        path: str,
        *,
        query: Query = (),
        headers: Mapping[str, str] = NO_HEADERS,
        timeout: float,
        read_timeout: float,
    ) -> "HTTPStream":
        """GET; an answer other than 200 must come whole within `timeout`."""
        response = self._open(path, query=query, headers=headers, timeout=timeout)
        body = Body(response)
        if response.status == http.HTTPStatus.OK:
            body.idle_after(read_timeout)
        return HTTPStream(response, body, path)

    def close(self) -> None:
        """End all calls, also those in progress, and let go of all connections."""
        self._closed.set()
        self._readers.abort_all()
        self._pool.close()

    def _connect(self, connection: TimedConnection, timeout: float) -> None:
        """Unless it is one of those kept alive."""
        if not connection.is_closed:
            return
        connection.timeout = min(timeout, CONNECT_SECONDS)
        if self._pool.proxy is not None and self._pool.scheme == "https":
            self._pool._prepare_proxy(connection)  # noqa: SLF001
        else:
            connection.connect()

    def _open(
        self,
        path: str,
        *,
        query: Query,
        headers: Mapping[str, str],
        timeout: float,
    ) -> urllib3.BaseHTTPResponse:
        self._refuse_if_closed("GET", path)
        try:
            return self._pool.urlopen(
                "GET",
                self._target(path, query),
                headers={**headers, **self._own_headers()},
                retries=False,
                redirect=False,
                assert_same_host=False,
                timeout=urllib3.Timeout(total=timeout, connect=min(timeout, CONNECT_SECONDS)),
                preload_content=False,
            )
        except CALL_ERRORS as error:
            raise _failure("GET", path, error) from error

    def _refuse_if_closed(self, method: str, path: str) -> None:
        if self._closed.is_set():
            raise ConnectionFailed(f"{method} {path}: the transport is closed", sent=False)

    def _target(self, path: str, query: Query) -> str:
        target = f"{self._prefix}{path}"
        return f"{target}?{urllib.parse.urlencode(query)}" if query else target

    def _own_headers(self) -> dict[str, str]:
        headers = dict(self._fixed_headers)
        value, failed = None, ""
        try:
            with self._credentials:
                value = self._configuration.get_api_key_with_prefix(
                    "BearerToken", alias="authorization"
                )
        except Exception as error:  # noqa: BLE001 - token files, plugins, OIDC: anything
            failed = type(error).__name__
        if failed:  # out of the handler: what a plugin printed must not travel along
            raise ConnectionFailed(f"the credentials cannot be refreshed: {failed}", sent=False)
        if value:
            headers["Authorization"] = _header_value(value)
        return headers

    def _headers_of_all_requests(self, user_agent: str) -> dict[str, str]:
        """Through a plain HTTP proxy they are the proxy's too; a tunnel has its own."""
        proxy = self._pool.proxy_headers if self._pool.scheme == "http" else {}
        own = {"Host": self._host, "Accept-Encoding": "identity", "User-Agent": user_agent}
        return {**own, **proxy}

    def _make_pool(self, monotonic: Callable[[], float]) -> urllib3.HTTPConnectionPool:
        pool = self._manager.connection_from_url(self._configuration.host)
        kinds: dict[Any, type[TimedConnection]] = {
            HTTPConnection: TimedConnection,
            HTTPSConnection: TimedTLSConnection,
        }
        if pool.ConnectionCls not in kinds:
            raise ValueError("a SOCKS proxy, or another transport on the same ApiClient")
        make = partial(kinds[pool.ConnectionCls], readers=self._readers, monotonic=monotonic)
        pool.ConnectionCls = make  # type: ignore[assignment]  # urllib3 only ever calls it
        return pool

    def _target_prefix(self) -> str:
        """What stands before a path: the host's own path, or all of it for a plain HTTP proxy."""
        host = str(self._configuration.host).rstrip("/")
        parts = urllib.parse.urlsplit(host)
        return host if self._manager.proxy and parts.scheme == "http" else parts.path


def _header_value(secret: str) -> str:
    """The credential without the line break of its file. http.client would quote a bad one."""
    value = secret.strip()
    if not (value.isascii() and value.isprintable()):
        raise ConnectionFailed("the token holds characters that no header can", sent=False)
    return value


def _failure(method: str, path: str, error: Exception) -> ApiFailure:
    """For what happened after the connection stood: the request may have been sent."""
    if is_timeout(error):
        return DeadlineExceeded(f"{method} {path}: no answer in time", sent=True)
    return ConnectionFailed(f"{method} {path}: {type(cause_of(error)).__name__}", sent=True)


class HTTPStream:
    """One answer, read as it comes. `close`: any thread; the rest: one thread."""

    def __init__(self, response: urllib3.BaseHTTPResponse, body: Body, path: str) -> None:
        self._response = response
        self._body = body
        self._path = path
        self._lock = threading.Lock()  # guards _reading and _closed
        self._reading = False
        self._closed = False

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP headers."""
        return self._response.headers

    def read(self) -> bytes:
        """See RawStream."""
        with self._lock:
            if self._closed:
                raise StreamClosed(self._path)
            self._reading = True
        try:
            return self._body.read()
        except CALL_ERRORS as error:
            raise _failure("GET", self._path, error) from error
        finally:
            self._after_read()

    def close(self) -> None:
        """See RawStream."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            reading = self._reading
        if reading:
            self._body.abort()
        else:
            self._response.close()

    def _after_read(self) -> None:
        with self._lock:
            self._reading = False
            closed = self._closed
        if closed:
            # Whoever closed left it to us: only the thread that reads may let go of the buffers.
            self._response.close()
            raise StreamClosed(self._path)
