"""Kept-alive connections of urllib3 with a deadline for the whole call."""

import io
import math
import select
import socket
import ssl
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from lldap.clock import Clock, Deadline
from lldap.errors import ConnectionFailed

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BeforeSend = Callable[[float], None]
"""Told how many seconds a call may still take, when all that is left to do is to send it."""

BUFFER_BYTES = 32 * 1024
"""Read at once: a record of TLS has 16 KB at most."""

IDLE_SECONDS = 3.0
"""lldap closes what was idle for 5 s: whether a write that meets that is done, nobody knows."""


class TimedSocket(socket.socket):
    """A socket whose every operation has only what is left of the call's deadline. One thread.

    A plain socket's timeout starts anew with each byte: a server that drips would hold a worker
    for as long as it likes. And it has to be set anew before each operation; that and finding out
    that there is nothing yet are moments in which a thread gives up the interpreter. So once it is
    connected it never waits by itself.
    """

    deadline: Deadline | None = None
    received = 0  # bytes of the answer that is being read
    filled = False  # the last read took all that it asked for: TLS may hold more

    def recv_into(
        self, buffer: "WriteableBuffer", nbytes: int | None = None, flags: int = 0
    ) -> int:
        """Receive within what is left. Of an answer nothing can be there before a wait."""
        asked = nbytes or memoryview(buffer).nbytes
        if not self.received:
            self._wait(select.POLLIN)
        size = self._when_ready(partial(super().recv_into, buffer, asked, flags), select.POLLIN)
        self.received += size
        self.filled = size == asked
        return size

    def send_all(self, data: bytes) -> None:
        """Send all within what is left: at once what there is room for."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._when_ready(partial(super().send, rest), select.POLLOUT) :]

    def _when_ready(self, work: Callable[[], int], event: int) -> int:
        while True:
            try:
                return work()
            except ssl.SSLWantReadError:  # TLS may have to read to send
                event = select.POLLIN
            except ssl.SSLWantWriteError:
                event = select.POLLOUT
            except BlockingIOError:
                pass
            self._wait(event)

    def _wait(self, event: int) -> None:
        assert self.deadline is not None
        left = self.deadline.left()
        poll = select.poll()
        poll.register(self, event)
        if left <= 0 or not poll.poll(math.ceil(left * 1000)):
            raise TimeoutError

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
        self.sock.settimeout(0)
        self.sock.deadline = self._deadline

    def begin(self, request: bytes, before_send: BeforeSend | None) -> None:
        """Ask `before_send`, and send what the socket takes at once; the rest when it takes more.

        Nothing in between may wait, be it for the interpreter: a process that is stopped there
        sends when it goes on. A socket with a timeout would wait for room first.
        """
        sock, deadline = self.sock, self._deadline
        assert sock is not None
        assert deadline is not None
        if before_send is not None:
            before_send(max(deadline.left(), 0.0))
        sock.send_all(request)

    def answer(self) -> io.BufferedReader:
        """The bytes of the answer that begins now."""
        assert self.sock is not None
        self.sock.received = 0
        raw = self.sock.makefile("rb", buffering=0)
        return io.BufferedReader(raw, BUFFER_BYTES)

    def end_at(self, size: int) -> None:
        """The answer ends after `size` bytes: whose answer more would be, nobody knows.

        What is still in the network's buffers the pool sees before it uses a connection again.
        """
        assert self.sock is not None
        if self.sock.received > size or (self.sock.filled and self.sock.pending()):
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
