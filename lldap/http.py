"""Kept-alive connections of urllib3 with a deadline for the whole call."""

import io
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from lldap.clock import Clock, Deadline
from lldap.errors import ConnectionFailed

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
    received = 0  # bytes of the answer that is being read

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
        size = super().recv_into(buffer, nbytes or memoryview(buffer).nbytes, flags)
        self.received += size
        return size

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

    def pending(self) -> int:
        """Bytes that TLS has taken from the network and that were not received."""
        return 0


class TimedTlsSocket(TimedSocket, ssl.SSLSocket):
    """The same with TLS."""

    def pending(self) -> int:
        """See TimedSocket."""
        return ssl.SSLSocket.pending(self)


class TimedConnection(HTTPConnection):
    """One connection, used by one thread at a time.

    An assignment to `timeout` begins a call: it becomes a point in time, which also holds while
    headers and body drip in.
    """

    sock: TimedSocket | None = None

    def __init__(self, host: str, port: int, *, clock: Clock, **options: object) -> None:
        self._clock = clock
        self._used = clock.monotonic()
        self._deadline: Deadline | None = None
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
        """Whether it can be used again: the pool closes it if not."""
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

    def begin(self, request: bytes, before_send: BeforeSend | None) -> None:
        """Ask `before_send`, and send what the socket takes at once; the rest when it takes more.

        Nothing in between may wait, be it for the interpreter: a process that is stopped there
        sends when it goes on. A socket with a timeout would wait for room first.
        """
        sock, deadline = self.sock, self._deadline
        assert sock is not None
        assert deadline is not None
        sock.settimeout(0)
        if before_send is not None:
            before_send(max(deadline.left(), 0.0))
        sent = sock.send_at_once(request)
        if sent < len(request):
            sock.sendall(memoryview(request)[sent:])

    def answer(self) -> io.BufferedReader:
        """The bytes of the answer that begins now."""
        assert self.sock is not None
        self.sock.received = 0
        return self.sock.makefile("rb")

    def end_at(self, size: int) -> None:
        """The answer ends after `size` bytes: whose answer more would be, nobody knows.

        What is still in the network's buffers the pool sees before it uses a connection again.
        """
        assert self.sock is not None
        if self.sock.received > size or self.sock.pending():
            self.close()

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
