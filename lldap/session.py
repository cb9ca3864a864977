"""Calls to lldap in one session that all threads share."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from lldap import graphql
from lldap.classify import LOGIN, Asked, http_error
from lldap.clock import Clock, Deadline
from lldap.errors import Unavailable
from lldap.http import BeforeSend
from lldap.login import Credentials, Login, Logins
from lldap.metrics import NOOP, Metrics
from lldap.transport import Answer, Transport

_LOG = logging.getLogger("lldap.session")

MAX_AUTH_BYTES = 2**20

_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class _Call:
    """One POST: what is sent, and its limits."""

    asked: Asked
    path: str
    body: bytes
    max_bytes: int
    write: bool


class Session:
    """Sends calls with the operator's token, and logs in when that is needed. Any thread.

    - The first call logs in. A call that is answered 401 was not carried out: it is repeated once,
      with a login that is newer. A second 401 is Forbidden.
    - One login is under way at a time, whoever needs it; the password is read anew for each.
    - Everything a call does, logins included, ends within `call_seconds` (or what the document
      asks for).
    - `before_write(seconds)` is called right before a write is sent, which then takes at most that
      long; what it raises stops the write. A write is sent once (after a 401, once more).
    - lldap's logout is never called: it would end every session of that user.

    Raises the errors of `lldap.errors` and what `credentials` and `before_write` raise.
    """

    def __init__(
        self,
        transport: Transport,
        credentials: Callable[[], Credentials],
        *,
        clock: Clock,
        call_seconds: float,
        before_write: BeforeSend | None = None,
        metrics: Metrics = NOOP,
    ) -> None:
        self._transport = transport
        self._credentials = credentials
        self._clock = clock
        self._call_seconds = call_seconds
        self._before_write = before_write
        self._metrics = metrics
        self._logins = Logins(self._log_in, clock)
        # The generation of a login that a path of /auth refused right after it was made. There a
        # 401 can mean "not allowed", in the same words, and then the next login is refused too.
        self._refused_generation = 0

    @property
    def generation(self) -> int:
        """The number of the newest login; 0 before the first."""
        newest = self._logins.newest
        return 0 if newest is None else newest.generation

    @property
    def login_time(self) -> float | None:
        """When the newest login was made, on the clock's monotonic time; None before the first."""
        newest = self._logins.newest
        return None if newest is None else newest.time

    def renew(self) -> Login:
        """Log in anew, for instance because roles may have changed; a login under way will do."""
        deadline = Deadline(self._clock, self._call_seconds)
        return self._logins.after(self.generation, deadline)

    def login(self) -> Login:
        """The newest login, made if there is none yet."""
        return self._logins.after(0, Deadline(self._clock, self._call_seconds))

    def graphql(self, request: graphql.Request, *, write: bool) -> dict[str, Any]:
        """The `data` of the answer."""
        document = request.document
        body = document.body(request.variables)
        call = _Call(request.asked, graphql.PATH, body, document.max_bytes, write)
        deadline = Deadline(self._clock, max(self._call_seconds, document.min_seconds))
        with _Observed(self._observe_call, request.asked.operation, self._clock):
            return graphql.data_of(request, self._authenticated(call, deadline))

    def post(
        self, path: str, body: Mapping[str, Any], *, authenticated: bool, write: bool
    ) -> dict[str, Any]:
        """The JSON object that `path` of /auth answers, {} for an empty body.

        HTTP 409 raises Conflict with lldap's error code.
        """
        asked = Asked(path, user=body.get("username"))
        call = _Call(asked, path, orjson.dumps(body), MAX_AUTH_BYTES, write)
        deadline = Deadline(self._clock, self._call_seconds)
        with _Observed(self._observe_call, path, self._clock):
            if authenticated:
                answer = self._authenticated(call, deadline)
            else:
                answer = self._send(call, _JSON, deadline)
            return _object(asked, answer)

    def _authenticated(self, call: _Call, deadline: Deadline) -> Answer:
        login = self._logins.after(0, deadline)
        answer = self._send(call, login.headers, deadline)
        if answer.status != 401 or self._is_refused(call, login):
            return answer
        renewed = self._logins.after(login.generation, deadline)
        answer = self._send(call, renewed.headers, deadline)
        if answer.status == 401:
            self._refused_generation = renewed.generation
        return answer

    def _is_refused(self, call: _Call, login: Login) -> bool:
        """Whether a new login is known not to help; a GraphQL 401 is always about the token."""
        return call.path != graphql.PATH and login.generation == self._refused_generation

    def _send(self, call: _Call, headers: Mapping[str, str], deadline: Deadline) -> Answer:
        seconds = deadline.left()
        if seconds <= 0:
            raise Unavailable(f"{call.asked.operation}: no time was left to send it")
        return self._transport.send(
            "POST",
            call.path,
            headers=headers,
            body=call.body,
            timeout=seconds,
            max_bytes=call.max_bytes,
            before_send=self._before_write if call.write else None,
        )

    def _log_in(self, generation: int, deadline: Deadline) -> Login:
        with _Observed(self._observe_login, LOGIN, self._clock):
            credentials = self._credentials()
            body = {"username": credentials.username, "password": credentials.password}
            call = _Call(Asked(LOGIN), LOGIN, orjson.dumps(body), MAX_AUTH_BYTES, write=False)
            answer = _object(call.asked, self._send(call, _JSON, deadline))
            now = self._clock.monotonic()
            return Login.of(generation, credentials.username, now, answer.get("token"))

    def _observe_login(self, operation: str, outcome: str, _seconds: float) -> None:
        self._metrics.observe_login(outcome)
        _LOG.debug("lldap %s: %s", operation, outcome)

    def _observe_call(self, operation: str, outcome: str, seconds: float) -> None:
        self._metrics.observe_call(operation, outcome, seconds)
        _LOG.debug("lldap %s: %s in %.3f s", operation, outcome, seconds)


class _Observed:
    """Tells what came of a block: ok, or the name of what it raised."""

    __slots__ = ("_began", "_clock", "_observe", "_operation")

    def __init__(
        self, observe: Callable[[str, str, float], None], operation: str, clock: Clock
    ) -> None:
        self._observe = observe
        self._operation = operation
        self._clock = clock
        self._began = clock.monotonic()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not issubclass(kind, Exception):
            return  # the thread ends
        outcome = "ok" if kind is None else kind.__name__
        self._observe(self._operation, outcome, self._clock.monotonic() - self._began)


def _object(asked: Asked, answer: Answer) -> dict[str, Any]:
    if answer.status != 200:
        raise http_error(asked, answer)
    return graphql.json_object(asked, answer.body) if answer.body else {}
