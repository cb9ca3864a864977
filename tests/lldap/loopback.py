"""A raw server on 127.0.0.1 that does to each connection what a test says."""

import contextlib
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_DEADLINE = 10.0  # seconds, for whatever a connection does

Handler = Callable[["Connection"], None]


class Connection:
    """One accepted connection, in the thread of the server."""

    def __init__(self, sock: socket.socket, stop: threading.Event) -> None:
        self.sock = sock
        self.stop = stop
        self.requests: list[bytes] = []
        self._read = b""

    def request(self) -> bytes:
        """Read one whole request; b"" when the client has closed."""
        while b"\r\n\r\n" not in self._read:
            piece = self.sock.recv(65536)
            if not piece:
                return b""
            self._read += piece
        head, _, body = self._read.partition(b"\r\n\r\n")
        found = _LENGTH.search(head)
        length = int(found[1]) if found else 0
        while len(body) < length:
            body += self.sock.recv(65536)
        self._read = body[length:]
        self.requests.append(head + b"\r\n\r\n" + body[:length])
        return self.requests[-1]

    def answer(self, body: bytes = b"{}", status: str = "200 OK", *headers: str) -> None:
        """Send a whole answer."""
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
        self.sock.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def drip(self, data: bytes, seconds: float = 0.05) -> None:
        """Send byte by byte until the client has enough."""
        with contextlib.suppress(OSError):
            for position in range(len(data)):
                self.sock.sendall(data[position : position + 1])
                if self.stop.wait(seconds):
                    return

    def reset(self) -> None:
        """End the connection with RST."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


class LoopbackServer:
    """Handles the first connection with the first handler and so on, then with the last."""

    def __init__(self, *handlers: Handler, tls: ssl.SSLContext | None = None) -> None:
        self.connections: list[Connection] = []
        self._handlers = handlers
        self._tls = tls
        self._stop = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept)]

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[bytes]:
        return [request for connection in self.connections for request in connection.requests]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(_DEADLINE)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            number = min(len(self.connections), len(self._handlers) - 1)
            connection = Connection(sock, self._stop)
            self.connections.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection, number))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: Connection, number: int) -> None:
        connection.sock.settimeout(_DEADLINE)
        with contextlib.suppress(OSError):
            if self._tls is not None:
                connection.sock = self._tls.wrap_socket(connection.sock, server_side=True)
            self._handlers[number](connection)
        connection.sock.close()


def answer_all(connection: Connection) -> None:
    """Answer every request of the connection with `{}`."""
    while connection.request():
        connection.answer()


def hang(connection: Connection) -> None:
    """Read the request and never answer."""
    connection.request()
    connection.stop.wait(_DEADLINE)
