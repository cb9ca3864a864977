"""Kept-alive connections with a deadline for the whole call, under requests and urllib3."""

import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse, HTTPResponse
from urllib3.util import Timeout

from lldap.clock import Clock, Deadline
from lldap.errors import ConnectionFailed
from lldap.responsehead import PlainResponse

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

BeforeSend = Callable[[float], None]
"""Told how many seconds a call may still take, when all that is left to do is to send it."""

IDLE_SECONDS = 3.0
"""lldap closes what was idle for 5 s: whether a write that meets that is done, nobody knows."""


class TimedSocket(socket.socket):
    """A socket whose every operation has only what is left of the call's deadline. One thread.

    A plain socket's timeout starts anew with each byte: a server that drips would hold a worker
    for as long as it likes.
    """

    deadline: Deadline | None = None

    def _arm(self) -> None:
        if self.deadline is None:
            return
        left = self.deadline.left()
        if left <= 0:
            raise TimeoutError
        self.settimeout(left)

    def recv_into(
        self, buffer: "WriteableBuffer", nbytes: int | None = None, flags: int = 0
    ) -> int:
        """Receive within what is left."""
        self._arm()
        return super().recv_into(buffer, nbytes or memoryview(buffer).nbytes, flags)

    def send(self, data: "ReadableBuffer", flags: int = 0) -> int:
        """Send within what is left; with TLS, sendall comes here for each piece."""
        self._arm()
        return super().send(data, flags)

    def send_at_once(self, data: bytes) -> int:
        """Send what there is room for, maybe nothing; the timeout must be 0."""
        try:
            return super().send(data)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return 0

    def sendall(self, data: "ReadableBuffer", flags: int = 0) -> None:
        """Send all within what is left: the timeout of a plain socket's sendall is the whole's."""
        self._arm()
        super().sendall(data, flags)


class TimedTlsSocket(TimedSocket, ssl.SSLSocket):
    """The same with TLS."""


class CurrentCall(threading.local):
    """What the call that this thread makes wants: urllib3 hands nothing of ours down."""

    before_send: BeforeSend | None = None


class TimedConnection(HTTPConnection):
    """One connection, used by one thread at a time.

    urllib3 sets `timeout` before each phase of a call to what is left of the call's total. Here
    that becomes a point in time, which also holds while headers and body drip in.
    """

    response_class = PlainResponse
    sock: TimedSocket | None = None

    def __init__(
        self, host: str, port: int, *, clock: Clock, call: CurrentCall, **options: object
    ) -> None:
        self._clock = clock
        self._call = call
        self._used = clock.monotonic()
        self._deadline: Deadline | None = None
        self._held: list[bytes] | None = None
        super().__init__(host, port, **options)  # type: ignore[arg-type]  # as the pool gives them

    @property
    def timeout(self) -> float | None:
        """Seconds left."""
        return None if self._deadline is None else max(self._deadline.left(), 0.001)

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._used = self._clock.monotonic()
        self._deadline = (
            Deadline(self._clock, seconds) if isinstance(seconds, (int, float)) else None
        )
        if self.sock is not None:
            self.sock.deadline = self._deadline

    @property
    def is_connected(self) -> bool:
        """Whether it can be used again: urllib3 opens it anew if not."""
        return self._clock.monotonic() - self._used < IDLE_SECONDS and super().is_connected

    def connect(self) -> None:
        """Connect, or raise ConnectionFailed: whatever goes wrong in here, nothing was sent."""
        failure = None
        try:
            super().connect()
        except (OSError, HTTPError, UnicodeError) as error:
            failure = _reason(error)
        if failure is not None:  # out of the handler: the cause must not travel along
            raise ConnectionFailed(f"no connection to {self.host}:{self.port}: {failure}")
        assert self.sock is not None
        self.sock.deadline = self._deadline

    def request(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - urllib3's own
        """Send head and body as one: urllib3 sends two pieces, each a TLS record and a wake-up."""
        held = self._held = []
        try:
            super().request(*args, **options)
        finally:
            self._held = None
        self._begin(b"".join(held))

    def _begin(self, data: bytes) -> None:
        """Ask `before_send`, and send what the socket takes at once; the rest when it takes more.

        Nothing in between may wait, be it for the interpreter: a process that is stopped there
        sends when it goes on. A socket with a timeout would wait for room first.
        """
        if self.sock is None:
            self.connect()
        sock, deadline = self.sock, self._deadline
        assert sock is not None
        assert deadline is not None
        sock.settimeout(0)
        if self._call.before_send is not None:
            self._call.before_send(max(deadline.left(), 0.0))
        sent = sock.send_at_once(data)
        if sent < len(data):
            super().send(memoryview(data)[sent:])

    def send(self, data: Any) -> None:  # noqa: ANN401 - as the base class has it
        """Send, or hold until the request is whole."""
        if self._held is None:
            super().send(data)
        else:
            self._held.append(data)

    def _new_conn(self) -> socket.socket:
        """Try every address within one deadline; urllib3 gives each the whole timeout."""
        last = OSError("the name has no address")
        found = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        for family, kind, protocol, _, address in found:
            sock = TimedSocket(family, kind, protocol)
            try:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.settimeout(self.timeout)
                sock.connect(address)
                sock.settimeout(self.timeout)  # for the TLS handshake
            except OSError as error:
                sock.close()
                last = error
            else:
                return sock
        raise last


class TimedTlsConnection(TimedConnection, HTTPSConnection):
    """The same with TLS."""


class Pool(HTTPConnectionPool):
    """The connections to one lldap. Any thread."""

    ConnectionCls = TimedConnection


class TlsPool(HTTPSConnectionPool):
    """The connections to one lldap with TLS. Any thread."""

    ConnectionCls = TimedTlsConnection


class Adapter(HTTPAdapter):
    """requests' adapter for one server, used without requests' Session. Any thread.

    The Session would follow redirects, keep the session cookie that lldap sets at login, and read
    proxies and passwords from the environment and ~/.netrc.
    """

    def __init__(self, pool: Pool | TlsPool, call: CurrentCall) -> None:
        """`call` is that of the pool's connections."""
        self._pool = pool
        self._call = call
        super().__init__()

    def exchange(
        self, request: PreparedRequest, seconds: float, before_send: BeforeSend | None
    ) -> HTTPResponse:
        """Send `request`, read the headers of the answer; `seconds` is for the body too."""
        total = Timeout(total=seconds)
        self._call.before_send = before_send
        try:
            # The stubs do not know that requests passes urllib3's own Timeout on.
            response = self.send(request, stream=True, timeout=total)  # type: ignore[arg-type]
        finally:
            self._call.before_send = None
        raw: HTTPResponse = response.raw
        return raw

    def build_response(self, req: PreparedRequest, resp: BaseHTTPResponse) -> Response:
        """Nothing but `raw`: no cookies, no guess of an encoding."""
        del req
        response = Response()
        response.raw = resp
        return response

    def init_poolmanager(self, *args: object, **kwargs: object) -> None:
        """There is one pool."""

    def get_connection_with_tls_context(self, *args: object, **kwargs: object) -> Pool | TlsPool:
        """There is one pool."""
        del args, kwargs
        return self._pool

    def cert_verify(self, *args: object, **kwargs: object) -> None:
        """The pool's own TLS context verifies."""

    def request_url(self, request: PreparedRequest, proxies: object) -> str:
        """The path: there is no proxy."""
        del proxies
        return request.url or "/"

    def close(self) -> None:
        """Close what is idle now and, when its call ends, what is not."""
        self._pool.close()


def tls_context(ca_file: Path | None) -> ssl.SSLContext:
    """Trust `ca_file`, or what the system trusts. OSError if the file is no CA bundle."""
    context = ssl.create_default_context(cafile=ca_file)
    context.sslsocket_class = TimedTlsSocket
    return context


def _reason(error: Exception) -> str:
    """Why no connection came about, without anything of the request."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason}"
    if isinstance(error, TimeoutError):
        return "it took too long"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__
