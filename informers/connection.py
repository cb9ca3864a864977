"""Connections of urllib3 whose calls end in time and can be ended from another thread.

urllib3 and http.client know a timeout for each `recv`; a server that drips a byte a second never
exceeds it. Here every wait is cut to what is left of the call's deadline: dialling, the TLS
handshake, sending, the headers and the body.
"""

import contextlib
import http.client
import io
import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from informers.errors import ConnectionFailed, DeadlineExceeded
from informers.oddanswer import OddAnswer
from informers.readiness import TO_READ, TO_SEND, never_wait, never_waits, when_ready
from informers.transport import BeforeSend

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BUFFER_BYTES: Final = 32 * 1024
"""Read-ahead of a connection; larger reads go past it."""

KEEPALIVE: Final = tuple(
    (socket.IPPROTO_TCP, getattr(socket, option), value)
    for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
    if hasattr(socket, option)
)
"""A peer that vanished without a word is found out after a minute, not after the watch's ten."""

SOCKET_OPTIONS: Final = (
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *KEEPALIVE,
)

SAID: Final = 300
"""Characters of what a proxy says about a connection that it did not make."""

CALL_ERRORS: Final = (HTTPError, http.client.HTTPException, OSError, ValueError)
"""What urllib3, http.client, ssl and socket raise when a call fails."""


def cause_of(error: BaseException) -> BaseException:
    """The error of the socket or of http.client inside what urllib3 made of it."""
    for inner in (*error.args[1:2], error.__cause__):
        if isinstance(inner, Exception):
            return inner
    return error


def left_until(ends: float, monotonic: Callable[[], float]) -> float:
    """The seconds until then; TimeoutError if there are none."""
    left = ends - monotonic()
    if left <= 0:
        raise TimeoutError("the time of the call is over")
    return left


def is_timeout(error: BaseException) -> bool:
    """Whether a wait ended without an answer."""
    return isinstance(error, TimeoutError) or isinstance(cause_of(error), TimeoutError)


class Reader(io.RawIOBase):
    """The bytes of one answer. `abort`: any thread; the rest: the thread of the call.

    It holds a reference to the socket, which therefore stays open until this is closed: so
    `abort` can never hit a descriptor that meanwhile belongs to another connection.
    """

    def __init__(
        self,
        raw: io.RawIOBase,
        sock: socket.socket,
        ends: Callable[[], float],
        readers: "OpenReaders",
        monotonic: Callable[[], float],
    ) -> None:
        """`ends`: until when a read that begins now may wait."""
        super().__init__()
        self._raw = raw
        self._sock = sock
        self._ends = ends
        self._readers = readers
        self._monotonic = monotonic
        # Guards closing: between the check and the shutdown in abort() the descriptor must live.
        self._lock = threading.Lock()
        self.taken = 0  # bytes
        self.filled = False  # the last read took all that it asked for: TLS may hold more
        readers.add(self)

    def idle_after(self, seconds: float) -> None:
        """From now on each read may take `seconds`; the call's deadline no longer counts."""
        never_wait(self._sock)
        self._ends = lambda: self._monotonic() + seconds

    def readable(self) -> bool:
        """Asked by io.BufferedReader."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int | None:
        """Read what is there, waiting for it. TimeoutError if nothing comes in time."""
        left = partial(left_until, self._ends(), self._monotonic)
        read = partial(self._raw.readinto, buffer)
        if never_waits(self._sock):
            # Of an answer nothing can be there before it was waited for; what follows often is.
            size = when_ready(self._sock, read, TO_READ, left, at_once=self.taken > 0)
        else:
            self._sock.settimeout(left())
            size = read() or 0
        self.taken += size
        self.filled = size == memoryview(buffer).nbytes
        return size

    def tell(self) -> int:
        """Asked by io.BufferedReader, whose own `tell` is what has been taken of its buffer."""
        return self.taken

    def abort(self) -> None:
        """Make a read that waits in another thread end at once."""
        with self._lock:
            if not self.closed:
                # Shutting down is what wakes a recv. close() would only take the number away,
                # and io.BufferedReader.close() would wait for the very read that is to end.
                # SSLSocket.shutdown() would let the reader take cipher text for an answer.
                _shutdown(self._sock)

    def close(self) -> None:
        """Let go of the socket."""
        with self._lock:
            super().close()
            self._raw.close()
        self._readers.discard(self)


def _shutdown(sock: socket.socket) -> None:
    plain = getattr(sock, "socket", sock)  # urllib3's TLS inside the TLS of a proxy wraps it
    with contextlib.suppress(OSError):  # the other side was faster
        socket.socket.shutdown(plain, socket.SHUT_RDWR)


class OpenReaders:
    """The answers of one transport that are being read. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _open and _closed
        self._open: set[Reader] = set()
        self._closed = False

    def add(self, reader: Reader) -> None:
        """Remember `reader`; if all was aborted already, it is aborted too."""
        with self._lock:
            self._open.add(reader)
            closed = self._closed
        if closed:
            reader.abort()

    def discard(self, reader: Reader) -> None:
        """Forget `reader`."""
        with self._lock:
            self._open.discard(reader)

    def abort_all(self) -> None:
        """End all reads, those to come too."""
        with self._lock:
            self._closed = True
            readers = list(self._open)
        for reader in readers:
            reader.abort()


class TimedConnection(HTTPConnection):
    """A connection on which an assignment to `timeout` starts a deadline.

    urllib3 assigns it before each phase of a call, with what is then left of the call's total.
    """

    def __init__(
        self,
        *,
        readers: OpenReaders,
        monotonic: Callable[[], float],
        **kwargs: Any,  # noqa: ANN401 - urllib3's own long list
    ) -> None:
        self._readers = readers
        self._monotonic = monotonic
        self._deadline: float | None = None
        self.reader: Reader | None = None
        self.response: http.client.HTTPResponse | None = None
        super().__init__(**kwargs)

    @property
    def timeout(self) -> float | None:
        """Seconds left, never 0 (which would mean: do not wait at all)."""
        return None if self._deadline is None else max(0.001, self._deadline - self._monotonic())

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._deadline = None if seconds is None else self._monotonic() + seconds

    def connect(self) -> None:
        """Dial, then TLS and proxy. Whatever fails here fails before the request is sent."""
        where, malformed = f"{self.host}:{self.port}", False
        try:
            super().connect()
        except CALL_ERRORS as error:
            self.close()
            if is_timeout(error):
                raise DeadlineExceeded(f"{where} did not answer in time", sent=False) from error
            malformed = type(error) is ValueError
            if not malformed:
                said = " ".join(str(error).split())[:SAID]
                raise ConnectionFailed(f"no connection to {where}: {said}", sent=False) from error
        except BaseException:
            self.close()  # its socket has no TLS yet, and would be taken for one that stands
            raise
        if malformed:  # out of the handler: http.client quotes the header that it refuses
            raise ConnectionFailed(f"no connection to {where}: a header is malformed", sent=False)

    def begin(self, request: bytes, before_send: BeforeSend | None) -> None:
        """Ask `before_send`, then send what the socket takes at once; the rest as it takes more.

        Nothing in between may wait, be it for the interpreter: a process that is stopped there
        sends when it goes on. A socket with a timeout would wait for room first.
        """
        never_wait(self.sock)
        if before_send is not None:
            before_send(self._left())
        self.send(request)

    def send(self, data: object) -> None:
        """Send all of `data` before the deadline, also to a peer that takes little at a time."""
        assert isinstance(data, bytes | bytearray | memoryview)  # urllib3 makes bytes of all else
        if self.sock is None:
            self.connect()
        rest = memoryview(data)
        while rest:
            rest = rest[self._sent(rest) :]

    def _sent(self, data: memoryview) -> int:
        """How much of it the socket took, waiting for room."""
        send = partial(self.sock.send, data)
        if never_waits(self.sock):
            return when_ready(self.sock, send, TO_SEND, self._left, at_once=True)
        self.sock.settimeout(self._left())
        return send()

    def answer(self) -> io.BufferedReader:
        """The bytes of the answer that begins now, read through a Reader."""
        ends = self._ends()
        raw = self.sock.makefile("rb", buffering=0)
        self.reader = Reader(raw, self.sock, lambda: ends, self._readers, self._monotonic)
        return io.BufferedReader(self.reader, BUFFER_BYTES)

    def response_class(  # type: ignore[override]  # http.client calls it as a factory
        self, sock: socket.socket, debuglevel: int = 0, method: str | None = None
    ) -> OddAnswer:
        """The same as http.client reads it."""
        del sock, debuglevel
        self.response = self.read_by_http_client(self.answer(), method)
        return self.response

    def read_by_http_client(self, answer: io.BufferedReader, method: str | None) -> OddAnswer:
        """An answer of which nothing has been taken yet; http.client looks at its head."""
        return OddAnswer(answer, method, lambda: self.end_at(answer.tell()))

    def end_at(self, size: int) -> None:
        """The answer ends after `size` bytes: whose answer more would be, nobody knows.

        What is still in the socket itself urllib3 sees before it uses a connection again.
        """
        assert self.reader is not None
        if self.reader.taken > size or (self.reader.filled and _holds_back(self.sock)):
            self.close()

    def _new_conn(self) -> socket.socket:
        return _dial(self._dns_host.strip("[]"), self.port, self._left, self.socket_options or ())

    def _left(self) -> float:
        return left_until(self._ends(), self._monotonic)

    def _ends(self) -> float:
        return self._monotonic() + 3600.0 if self._deadline is None else self._deadline


class TimedTLSConnection(TimedConnection, HTTPSConnection):
    """The same over TLS. OpenSSL's handshake and reads keep to the socket's timeout as a total."""


def _holds_back(sock: Any) -> bool:  # noqa: ANN401 - a socket, None, or urllib3's SSLTransport
    """Whether TLS has taken bytes from the socket that nobody has read."""
    if sock is None or isinstance(sock, socket.socket):
        return isinstance(sock, ssl.SSLSocket) and sock.pending() > 0
    return bool(sock.sslobj.pending() or sock.incoming.pending)


def _dial(
    host: str, port: int, left: Callable[[], float], options: Iterable[tuple[int, int, int | bytes]]
) -> socket.socket:
    """Connect to the first address that answers; each gets its share of the time that is left.

    The look-up of the name is the system's own, with the system's own time limits.
    """
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    failed = OSError(f"{host} has no address")
    for tried, (family, kind, protocol, _, address) in enumerate(addresses):
        sock = socket.socket(family, kind, protocol)
        try:
            for option in options:
                sock.setsockopt(*option)
            sock.settimeout(left() / (len(addresses) - tried))
            sock.connect(address)
        except OSError as error:
            sock.close()
            failed = error
        else:
            return sock
    raise failed
