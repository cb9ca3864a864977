"""One login for all threads."""

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lldap.clock import Clock, Deadline
from lldap.errors import BadAnswer, Unavailable

_TOKEN = re.compile(r"[\x21-\x7e]{1,16384}")  # what fits into a header


@dataclass(frozen=True, slots=True)
class Credentials:
    """User name and password of the operator's own account."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Login:
    """One login. Its roles are fixed in the token: a change of roles needs a new one."""

    generation: int
    username: str
    time: float
    headers: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, generation: int, username: str, time: float, token: object) -> "Login":
        """A login with `token`; BadAnswer if that is no token."""
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise BadAnswer("the answer to the login has no token")
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        return cls(generation, username, time, headers)


class _Flight:
    """A login that is under way, and how it ended."""

    __slots__ = ("done", "error", "login")

    def __init__(self) -> None:
        self.done = False
        self.error: Exception | None = None
        self.login: Login | None = None


class Logins:
    """The newest login, renewed by one thread at a time. Any thread.

    Whoever needs a login while one is under way waits for it and shares how it ended, a failure
    included: twenty workers with a wrong password make one login, not twenty.
    """

    def __init__(self, log_in: Callable[[int, Deadline], Login], clock: Clock) -> None:
        """`log_in(generation, deadline)` makes a login of that generation or raises."""
        self._log_in = log_in
        self._clock = clock
        self._condition = threading.Condition()  # guards _newest, _flight and its done
        self._newest: Login | None = None
        self._flight: _Flight | None = None

    @property
    def newest(self) -> Login | None:
        """The newest login; None before the first."""
        with self._condition:
            return self._newest

    def after(self, generation: int, deadline: Deadline) -> Login:
        """A login that is newer than `generation`, made if there is none. Generations begin at 1.

        Raises what the login raised, Unavailable if it is not done by the deadline.
        """
        with self._condition:
            if self._newest is not None and self._newest.generation > generation:
                return self._newest
            flight = self._flight
            if flight is not None:
                return self._wait_locked(flight, deadline)
            flight = self._flight = _Flight()
            number = 1 if self._newest is None else self._newest.generation + 1
        return self._fly(flight, number, deadline)

    def _wait_locked(self, flight: _Flight, deadline: Deadline) -> Login:
        while not flight.done and deadline.left() > 0:
            self._clock.wait(self._condition, deadline.left())
        if flight.error is not None:
            raise flight.error
        if flight.login is None:
            raise Unavailable("the login did not come to an end")
        return flight.login

    def _fly(self, flight: _Flight, generation: int, deadline: Deadline) -> Login:
        try:
            login = flight.login = self._log_in(generation, deadline)
        except Exception as error:
            flight.error = error
            raise
        finally:
            with self._condition:
                self._newest = flight.login or self._newest
                self._flight = None
                flight.done = True
                self._condition.notify_all()
        return login
