"""A server for one Lease, clients whose calls can go wrong, and clocks that disagree."""

import copy
import datetime
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from informers.errors import DeadlineExceeded, StatusError
from tests.support.clock import FakeClock

Object = dict[str, Any]
NAMESPACE = "lldap-system"
NAME = "lldap-operator-default"


def refusal(code: int, reason: str) -> StatusError:
    return StatusError(code, reason, "no", body_is_status=True)


class LeaseServer:
    """Holds the Lease as the API server does: stale versions are refused, no-ops change none."""

    def __init__(self) -> None:
        self.lease: Object | None = None
        self.calls: list[tuple[str, str]] = []
        self._version = 100

    @property
    def spec(self) -> Object:
        assert self.lease is not None
        spec: Object = self.lease["spec"]
        return spec

    def _store(self, body: Object) -> Object:
        self._version += 1
        self.lease = copy.deepcopy(body)
        self.lease["metadata"]["resourceVersion"] = str(self._version)
        return copy.deepcopy(self.lease)

    def get(self) -> Object:
        if self.lease is None:
            raise refusal(404, "NotFound")
        return copy.deepcopy(self.lease)

    def post(self, body: Object) -> Object:
        if self.lease is not None:
            raise refusal(409, "AlreadyExists")
        return self._store(body)

    def put(self, body: Object) -> Object:
        old = self.get()
        if body["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]:
            raise refusal(409, "Conflict")
        return old if body == old else self._store(body)

    def edit(self, **spec: object) -> None:
        """Somebody changes the Lease by hand."""
        old = self.get()
        old["spec"] = {**old["spec"], **spec}
        self._store(old)

    def put_in(self, spec: object) -> None:
        """Somebody puts a Lease there."""
        self._store({"metadata": {"namespace": NAMESPACE, "name": NAME}, "spec": spec})


Fault = Callable[[Callable[[], Object], float], Object]


@dataclass
class LeaseClientStub:
    """One candidate's way to the server; each of `faults` meets one call, then `broken` all."""

    server: LeaseServer
    name: str = "a"
    faults: deque[Fault] = field(default_factory=deque)
    broken: Fault | None = None
    timeouts: list[float] = field(default_factory=list)

    def _call(self, method: str, timeout: float, do: Callable[[], Object]) -> Object:
        self.server.calls.append((self.name, method))
        self.timeouts.append(timeout)
        fault = self.faults.popleft() if self.faults else self.broken
        return do() if fault is None else fault(do, timeout)

    def get(self, path: str, *, timeout: float) -> Object:
        assert path.endswith(f"/namespaces/{NAMESPACE}/leases/{NAME}")
        return self._call("GET", timeout, self.server.get)

    def post(self, path: str, body: Object, *, timeout: float) -> Object:
        assert path.endswith(f"/namespaces/{NAMESPACE}/leases")
        return self._call("POST", timeout, lambda: self.server.post(body))

    def put(self, path: str, body: Object, *, timeout: float) -> Object:
        assert path.endswith(f"/leases/{NAME}")
        return self._call("PUT", timeout, lambda: self.server.put(body))


def passes(do: Callable[[], Object], timeout: float) -> Object:
    return do()


def refuses(code: int, reason: str = "") -> Fault:
    def fault(do: Callable[[], Object], timeout: float) -> Object:
        raise refusal(code, reason)

    return fault


def hangs(clock: FakeClock, *, done: bool = False) -> Fault:
    """No answer within the timeout; `done`: the server did it all the same."""

    def fault(do: Callable[[], Object], timeout: float) -> Object:
        if done:
            do()
        clock.advance(timeout)
        raise DeadlineExceeded("no answer", sent=True)

    return fault


def slow(clock: FakeClock, seconds: float) -> Fault:
    """An answer that is read only after `seconds`, as by a process that was stopped."""

    def fault(do: Callable[[], Object], timeout: float) -> Object:
        answer = do()
        clock.advance(seconds)
        return answer

    return fault


def after(act: Callable[[], object]) -> Fault:
    """Something happens between sending and the server."""

    def fault(do: Callable[[], Object], timeout: float) -> Object:
        act()
        return do()

    return fault


@dataclass
class OtherClock:
    """A clock that runs `rate` times as fast as `base`, from another start, with a wrong wall."""

    base: FakeClock
    rate: float = 1.0
    start: float = 0.0
    skew: datetime.timedelta = datetime.timedelta()
    frozen: bool = False

    def monotonic(self) -> float:
        return self.start + self.base.monotonic() * self.rate

    def now(self) -> datetime.datetime:
        if self.frozen:
            return datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC) + self.skew
        return self.base.now() + self.skew

    def wait(self, condition: threading.Condition, timeout: float | None) -> None:
        raise AssertionError("nobody waits in one thread")
