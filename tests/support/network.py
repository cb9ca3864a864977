"""The way between the operator and a server, which a test can block, cut and slow."""

import contextlib
import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

PIECE = 64 * 1024


class Way:
    """Forwards TCP connections to `url` from a port of its own, between `__enter__` and `__exit__`.

    `hang(bytes)` sees what a client sends: True swallows it, and the connection stays open and
    silent. `closed` refuses new connections by closing them at once. Both can be changed at any
    time. Threads: one that accepts, two for each connection.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self._target = (parts.hostname, parts.port)
        self.hang: Callable[[bytes], bool] = lambda _data: False
        self.closed = False
        self.swallowed = 0
        self._lock = threading.Lock()  # guards _sockets, _threads and _ending
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._ending = False
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            self._ending = True
        self.cut()
        _shutdown(self._listener)
        self._listener.close()
        for thread in self._threads:
            thread.join(5.0)

    def cut(self) -> None:
        """Break every connection there is."""
        with self._lock:
            sockets, self._sockets = self._sockets, []
        for each in sockets:
            _shutdown(each)

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, name="way", daemon=True)
        with self._lock:
            self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.closed:
                client.close()
                continue
            self._connect(client)

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self._target, timeout=5.0)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        with self._lock:
            ending = self._ending
            self._sockets += [client, server]
        if ending:
            client.close()
            server.close()
            return
        open_ends = [2]  # the thread that ends last closes both
        self._start(self._pump, client, server, self._swallow, open_ends)
        self._start(self._pump, server, client, lambda _data: False, open_ends)

    def _swallow(self, data: bytes) -> bool:
        swallowed = self.hang(data)
        self.swallowed += swallowed
        return swallowed

    def _pump(
        self,
        source: socket.socket,
        sink: socket.socket,
        swallow: Callable[[bytes], bool],
        open_ends: list[int],
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(PIECE):
                if not swallow(data):
                    sink.sendall(data)
        _shutdown(sink)
        with self._lock:
            open_ends[0] -= 1
            last = open_ends[0] == 0
        if last:
            source.close()
            sink.close()


def _shutdown(each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
