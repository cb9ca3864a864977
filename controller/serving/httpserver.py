"""A small HTTP/1.1 server for metrics and probes: GET and HEAD, one request a connection."""

import errno
import logging
import selectors
import socket
import threading
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from controller.clock import Clock
from controller.configuration.values import Address
from controller.loop import FOREVER
from controller.serving.httpmessage import (
    MAX_HEAD,
    Guard,
    Handler,
    Request,
    RequestError,
    Response,
    admit_all,
    encode,
    parse,
    plain,
)
from controller.serving.servertls import ServerTLS

_logger = logging.getLogger(__name__)

REQUEST_SECONDS: Final = 5.0
"""From accept to the last byte, or the connection is closed: one slow peer costs one thread."""

_BACKLOG: Final = 64
_NO_MORE: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_NO_MORE_SECONDS: Final = 1.0


class HTTPServer:
    """Listens from the moment it is made; each `step()` answers one connection.

    Any number of threads may call `step()`, and as many connections are served at once; the rest
    wait in the backlog. No connection holds a thread for longer than REQUEST_SECONDS and its
    handler. `close()` ends all steps; it does not wait and may be called again. A handler that
    raises is logged and answered with 500.
    """

    def __init__(
        self,
        address: Address,
        routes: Mapping[str, Handler],
        *,
        clock: Clock,
        guard: Guard = admit_all,
        tls: ServerTLS | None = None,
    ) -> None:
        """`routes` by path; without `tls` plain HTTP.

        Raises OSError if nothing can listen on `address`.
        """
        self._routes = routes
        self._guard = guard
        self._tls = tls
        self._clock = clock
        self._listener = _listen(address)
        self._wake_up, self._waker = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._wake_up, selectors.EVENT_READ)
        self._lock = threading.Lock()  # guards _inside and _closing
        self._inside = 0  # calls that use the sockets now: the last one out closes them
        self._closing = False
        host, port = self._listener.getsockname()[:2]
        self.address = Address(host, port)

    def __repr__(self) -> str:
        return f"<HTTPServer {self.address}>"

    def step(self) -> float:
        """Wait for a connection and answer it; FOREVER once closed. Any thread."""
        if not self._enter():
            return FOREVER
        try:
            return self._accept()
        finally:
            self._leave()

    def close(self) -> None:
        """Listen no more and wake who waits in `step()`. Any thread."""
        if self._enter(closing=True):
            self._waker.send(b"\0")
            self._leave()

    def _enter(self, *, closing: bool = False) -> bool:
        """Keep the sockets open; False if they are being closed."""
        with self._lock:
            if self._closing:
                return False
            self._closing = closing
            self._inside += 1
            return True

    def _leave(self) -> None:
        with self._lock:
            self._inside -= 1
            last = self._closing and self._inside == 0
        if last:
            self._selector.close()
            for each in (self._listener, self._wake_up, self._waker):
                each.close()

    def _accept(self) -> float:
        self._selector.select()
        try:
            connection, _ = self._listener.accept()
        except BlockingIOError:  # another thread was faster, or close() was called
            return 0.0
        except OSError as error:
            # Out of file descriptors the connection stays, and select() would return at once.
            return _NO_MORE_SECONDS if error.errno in _NO_MORE else 0.0
        with connection:
            self._serve(connection)
        return 0.0

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(REQUEST_SECONDS)
            if self._tls is None:
                self._talk(connection)
                return
            with self._tls.context().wrap_socket(connection, server_side=True) as encrypted:
                self._talk(encrypted)
        except OSError as error:  # the peer went away, was too slow or speaks no TLS
            _logger.debug("a request to %s was not answered: %s", self.address, error)

    def _talk(self, connection: socket.socket) -> None:
        request, response = self._answer_to(connection)
        connection.settimeout(REQUEST_SECONDS)
        connection.sendall(encode(request, response))
        connection.shutdown(socket.SHUT_WR)

    def _answer_to(self, connection: socket.socket) -> tuple[Request | None, Response]:
        request = None
        try:
            request = parse(self._read_head(connection))
            return request, self._guard(request) or self._respond(request)
        except RequestError as error:
            return request, error.response
        except OSError:
            raise
        except Exception:
            _logger.exception("serving %s failed", request.path if request else "a request")
            return request, plain(HTTPStatus.INTERNAL_SERVER_ERROR)

    def _respond(self, request: Request) -> Response:
        handler = self._routes.get(request.path)
        return plain(HTTPStatus.NOT_FOUND) if handler is None else handler(request)

    def _read_head(self, connection: socket.socket) -> bytes:
        """All up to the empty line. Its time is bounded as a whole, however often a byte comes."""
        deadline = self._clock.monotonic() + REQUEST_SECONDS
        head = b""
        while b"\r\n\r\n" not in head:
            left = deadline - self._clock.monotonic()
            if left <= 0 or len(head) > MAX_HEAD:
                raise RequestError(
                    HTTPStatus.REQUEST_TIMEOUT
                    if left <= 0
                    else HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
                )
            connection.settimeout(left)
            received = connection.recv(MAX_HEAD)
            if not received:
                msg = "the peer closed the connection"
                raise ConnectionError(msg)
            head += received
        return head


def _listen(address: Address) -> socket.socket:
    listener = _every_interface(address.port) if not address.host else _one_interface(address)
    listener.setblocking(False)
    return listener


def _one_interface(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    return socket.create_server(address, family=family, backlog=_BACKLOG)


def _every_interface(port: int) -> socket.socket:
    if socket.has_dualstack_ipv6():
        try:
            return socket.create_server(
                ("", port), family=socket.AF_INET6, backlog=_BACKLOG, dualstack_ipv6=True
            )
        except OSError as error:  # a Pod whose kernel knows IPv6 but was given no address
            if error.errno not in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
                raise
    return socket.create_server(("", port), backlog=_BACKLOG)
