"""A request as bytes, and the whole answer to it, as one of requests' adapters."""

import io
import re
from collections.abc import Mapping
from http.client import IncompleteRead
from typing import Any, Final

from requests import PreparedRequest, Response
from requests.adapters import BaseAdapter
from urllib3.exceptions import ClosedPoolError

from lldap.errors import AnswerTooLarge, ConnectionFailed, OutcomeUnknown
from lldap.http import BeforeSend, Pool, TimedConnection, TlsPool
from lldap.oddanswer import OddAnswer
from lldap.responsehead import plain_head

_FIELD: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+: [ -~]*", re.ASCII)


class Call(PreparedRequest):
    """One request with its limits; `url` is its path. requests takes long to prepare one."""

    def __init__(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
        *,
        max_bytes: int,
        before_send: BeforeSend | None,
    ) -> None:
        """`max_bytes`: of the body of the answer. `before_send`: see Transport."""
        super().__init__()
        self.method, self.url = method, path
        self.fields = headers
        self.content = body
        self.max_bytes = max_bytes
        self.before_send = before_send

    def written(self) -> bytes:
        """As it is sent. ConnectionFailed for what no request can hold; it quotes nothing."""
        fields = [f"{name}: {value}" for name, value in self.fields.items()]
        if not all(map(_FIELD.fullmatch, fields)):
            raise ConnectionFailed("a header holds characters that HTTP cannot")
        if self.content is not None:
            fields.append(f"Content-Length: {len(self.content)}")
        head = "\r\n".join((f"{self.method} {self.url} HTTP/1.1", *fields, "\r\n"))
        return head.encode("ascii") + (self.content or b"")


class Whole(Response):
    """An answer that has come to its end."""

    def __init__(self, status: int, content_type: str, body: bytes) -> None:
        super().__init__()
        self.status_code = status
        self.content_type = content_type
        self._content = body


class Adapter(BaseAdapter):
    """The adapter of one server, used without requests' Session. Any thread.

    The Session would follow redirects, keep the session cookie that lldap sets at login, and read
    proxies and passwords from the environment and ~/.netrc. requests' own adapter hands each call
    through four layers; that took as long as all else that is done for one.
    """

    def __init__(self, pool: Pool | TlsPool) -> None:
        super().__init__()
        self._pool = pool

    def send(  # type: ignore[override]  # it takes what it can keep to
        self, request: Call, *, timeout: float
    ) -> Whole:
        """Send once and read the whole answer within `timeout` seconds.

        Raises ConnectionFailed if nothing was sent, OutcomeUnknown for an answer of no stated
        length, AnswerTooLarge, what `before_send` raises, and what http.client and sockets raise.
        """
        written = request.written()
        connection = self._connection()
        try:
            connection.timeout = timeout
            if connection.is_closed:
                connection.connect()
            connection.begin(written, request.before_send)
            with connection.answer() as answer:
                return _whole(connection, answer, request)
        except BaseException:
            connection.close()
            raise
        finally:
            self._pool._put_conn(connection)  # noqa: SLF001 - urlopen's own steps

    def _connection(self) -> TimedConnection:
        """One of those kept alive, or a new one, which is not connected yet."""
        try:
            found: Any = self._pool._get_conn()  # noqa: SLF001
        except ClosedPoolError:
            found = None
        if found is None:  # out of the handler: nothing was sent, and nothing broke
            raise ConnectionFailed("the connections have just been closed, or made anew: try again")
        assert isinstance(found, TimedConnection)
        return found

    def close(self) -> None:
        """Close what is idle now and, when its call ends, what is not."""
        self._pool.close()


def _whole(connection: TimedConnection, answer: io.BufferedReader, request: Call) -> Whole:
    head = plain_head(answer.peek(1))
    if head is None:
        return _odd(connection, answer, request)
    if head.length > request.max_bytes:
        raise _too_large(head.length, request)
    answer.read(head.size)
    body = answer.read(head.length)
    if len(body) < head.length:
        raise IncompleteRead(body, head.length - len(body))
    connection.end_at(head.size + head.length)
    return Whole(head.status, head.content_type, body)


def _odd(connection: TimedConnection, answer: io.BufferedReader, request: Call) -> Whole:
    """An answer in chunks, without a body, the last of its connection, or anything odder."""
    response = OddAnswer(answer, request.method)
    response.begin()
    if response.length is None and not response.chunked:
        # It ends where the connection ends, or breaks: nobody can tell.
        raise OutcomeUnknown("an answer that does not say how long it is")
    if (response.length or 0) > request.max_bytes:
        raise _too_large(response.length, request)
    body = response.read(request.max_bytes + 1)
    if len(body) > request.max_bytes:
        raise _too_large(None, request)
    if response.length:
        raise IncompleteRead(body, response.length)
    connection.end_at(response.taken)
    if response.will_close:
        connection.close()
    return Whole(response.status, response.headers.get("Content-Type", ""), body)


def _too_large(length: int | None, request: Call) -> AnswerTooLarge:
    size = f"more than {request.max_bytes} bytes" if length is None else f"{length} bytes"
    return AnswerTooLarge(f"an answer of {size}; {request.max_bytes} is the limit")
