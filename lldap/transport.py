"""How bytes get to lldap and back."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlsplit

from urllib3.util import parse_url

from lldap.clock import Clock, Deadline
from lldap.errors import OutcomeUnknown
from lldap.exchange import Adapter, Call
from lldap.http import BeforeSend, Pool, TlsPool, tls_context

_Stamp = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP answer, whatever its status. The body may hold a token: it has no repr."""

    status: int
    content_type: str
    body: bytes = field(repr=False)


class Transport(Protocol):
    """One HTTP exchange. Any thread."""

    def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,
        max_bytes: int,
        before_send: BeforeSend | None = None,
    ) -> Answer:
        """Send once, and never again by itself; follow no redirect.

        `timeout` is the whole call's: seconds until the last byte of the answer. Raises
        ConnectionFailed (surely not sent), OutcomeUnknown (sent, but no whole answer came) or
        AnswerTooLarge (a body of more than `max_bytes`).

        `before_send` is called when the connection stands and the request is built, right before
        its first byte goes out; what it raises comes out of here, and nothing is sent.
        """


class HttpTransport:
    """A Transport over HTTP/1.1 with kept-alive connections. Any thread.

    `base_url` may have a sub-path. Looks neither at proxies nor at ~/.netrc, keeps no cookies.
    `ca_file` (default: what the system trusts) is read again when it changes; one that is gone or
    broken leaves the last good one in use. Names are looked up by the system's resolver, which
    has its own time limit. Raises ValueError for a URL that is none, OSError for a CA file that
    is none.
    """

    def __init__(
        self,
        base_url: str,
        *,
        clock: Clock,
        ca_file: Path | None = None,
        pool_size: int = 20,
    ) -> None:
        self._url = _Url.parse(base_url)
        self._fields = {
            "Host": self._url.authority,
            "Accept-Encoding": "identity",
            "User-Agent": "lldap-operator",
        }
        self._clock = clock
        self._ca_file = ca_file if self._url.tls else None
        self._pool_size = pool_size
        self._lock = threading.Lock()  # guards _adapter and the _stamp of the file it was made with
        self._stamp = _stamp(self._ca_file)
        self._adapter = self._new_adapter()

    def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,
        max_bytes: int,
        before_send: BeforeSend | None = None,
    ) -> Answer:
        """See Transport."""
        deadline = Deadline(self._clock, timeout)
        target = self._url.path + path
        fields = {**self._fields, **headers}
        call = Call(method, target, fields, body, max_bytes=max_bytes, before_send=before_send)
        adapter = self._current_adapter()
        try:
            whole = adapter.send(call, timeout=timeout)
            return Answer(whole.status_code, whole.content_type, whole.content)
        except (HTTPException, OSError):
            late = deadline.left() <= 0
        # Out of the handler: the traceback holds the request, with token and password.
        if late:
            raise OutcomeUnknown(f"no whole answer within {timeout:.3g} s")
        raise OutcomeUnknown("the connection broke before the whole answer was there")

    def close(self) -> None:
        """Close the connections that are idle; the others are closed when their call ends."""
        with self._lock:
            adapter = self._adapter
        adapter.close()

    def _current_adapter(self) -> Adapter:
        stamp = _stamp(self._ca_file)
        with self._lock:
            if stamp == self._stamp:
                return self._adapter
        try:
            fresh = self._new_adapter()
        except OSError:
            return self._replace(stamp, None)
        return self._replace(stamp, fresh)

    def _replace(self, stamp: _Stamp, fresh: Adapter | None) -> Adapter:
        """Use `fresh`, if there is one, until the CA file is another than `stamp`."""
        with self._lock:
            old = self._adapter
            self._stamp = stamp
            self._adapter = fresh or old
        if fresh is not None:
            old.close()
        return fresh or old

    def _new_adapter(self) -> Adapter:
        url, size, clock = self._url, self._pool_size, self._clock
        if not url.tls:
            return Adapter(Pool(url.host, url.port, maxsize=size, clock=clock))
        tls = tls_context(self._ca_file)
        return Adapter(TlsPool(url.host, url.port, maxsize=size, clock=clock, ssl_context=tls))


@dataclass(frozen=True, slots=True)
class _Url:
    """Where lldap is: `path` has no slash at its end, `authority` is what requests name as Host."""

    tls: bool
    authority: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, text: str) -> "_Url":
        parts = urlsplit(text)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            msg = "the URL of lldap must begin with http:// or https:// and a host"
            raise ValueError(msg)
        if parts.query or parts.fragment or "@" in parts.netloc:
            msg = "the URL of lldap must have no user, no query and no fragment"
            raise ValueError(msg)
        tls = parts.scheme == "https"
        port = parts.port or (443 if tls else 80)
        authority = parse_url(f"//{parts.netloc}").netloc or ""  # as the pool looks it up
        path = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")
        return cls(tls, authority, parts.hostname, port, path)


def _stamp(file: Path | None) -> _Stamp:
    """Changes when the file does; None if there is none."""
    if file is None:
        return None
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
