"""Carries out the faults of a plan when their points come."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from tests.faults.plan import Fault
from tests.faults.points import Category, Points
from tests.faults.ways import HTML, Way, database_busy, status_body

TIMEOUT_SECONDS = 9.0  # more than CALL_SECONDS of a bed

Forward = Callable[[], Any]


class Crash(BaseException):
    """The operator's process ends here: no error, so that nothing of the product catches it."""


class World(Protocol):
    """What a deed may need beside the call."""

    def advance(self, seconds: float) -> None:
        """Let time pass without work."""
        ...

    def later(self, seconds: float, work: Callable[[], object]) -> None:
        """Have something happen after that time."""
        ...

    def act(self, name: str) -> None:
        """Somebody else does something now."""
        ...


class Injector:
    """Numbers points and does what the plan says at them. One thread.

    `hit` are the faults that happened. While the operator crashes, no call of it goes out.
    """

    def __init__(self, world: World) -> None:
        self.points = Points()
        self.hit: list[Fault] = []
        self.world = world
        self.crashing = False
        self._faults: dict[str, Fault] = {}

    def arm(self, faults: Iterable[Fault]) -> None:
        """From now on calls are points, with these faults at them."""
        self._faults = {fault.at: fault for fault in faults}
        self.points.armed = True

    @property
    def left(self) -> list[Fault]:
        """Faults whose point has not come."""
        return list(self._faults.values())

    def fault_at(self, label: str, category: Category) -> Fault | None:
        """Count the point; the fault for it, if there is one. Raises Crash while crashing."""
        if self.crashing:
            raise Crash
        point = self.points.at(label, category)
        if point is None:
            return None
        fault = self._faults.pop(point.address, None)
        if fault is not None:
            self.hit.append(fault)
        return fault

    def carry_out(self, label: str, category: Category, way: Way, forward: Forward) -> Any:
        """Pass a call on, or do something else."""
        fault = self.fault_at(label, category)
        return forward() if fault is None else self.do(fault, way, forward)

    def do(self, fault: Fault, way: Way, forward: Forward) -> Any:
        """Do what the fault says with a call."""
        return DEEDS[fault.do](self, fault, way, forward)

    def crash(self) -> None:
        """End the operator's process here."""
        self.crashing = True
        raise Crash


Deed = Callable[[Injector, Fault, Way, Forward], Any]


def _crash_before(injector: Injector, _fault: Fault, _way: Way, _forward: Forward) -> Any:
    injector.crash()


def _crash_after(injector: Injector, _fault: Fault, _way: Way, forward: Forward) -> Any:
    forward()
    injector.crash()


def _refuse(_injector: Injector, _fault: Fault, way: Way, _forward: Forward) -> Any:
    raise way.lost(sent=False)


def _lose_request(_injector: Injector, _fault: Fault, way: Way, _forward: Forward) -> Any:
    raise way.lost(sent=True)


def _lose_answer(_injector: Injector, _fault: Fault, way: Way, forward: Forward) -> Any:
    forward()
    raise way.lost(sent=True)


def _timeout(injector: Injector, _fault: Fault, way: Way, _forward: Forward) -> Any:
    injector.world.advance(TIMEOUT_SECONDS)
    raise way.late()


def _timeout_done(injector: Injector, _fault: Fault, way: Way, forward: Forward) -> Any:
    forward()
    injector.world.advance(TIMEOUT_SECONDS)
    raise way.late()


def _late(injector: Injector, fault: Fault, way: Way, forward: Forward) -> Any:
    """No answer in time, and the call takes effect when the operator has moved on."""
    injector.world.advance(TIMEOUT_SECONDS)
    injector.world.later(fault.seconds, forward)
    raise way.late()


def _crash_late(injector: Injector, fault: Fault, _way: Way, forward: Forward) -> Any:
    """The operator is stopped with the call in hand, which takes effect in its successor's term."""
    injector.world.later(fault.seconds, forward)
    injector.crash()


def _twice(_injector: Injector, _fault: Fault, _way: Way, forward: Forward) -> Any:
    """Something on the way sends the request again and passes on the second answer."""
    forward()
    return forward()


def _twice_first(_injector: Injector, _fault: Fault, _way: Way, forward: Forward) -> Any:
    answer = forward()
    forward()
    return answer


def _act_before(injector: Injector, fault: Fault, _way: Way, forward: Forward) -> Any:
    injector.world.act(fault.act)
    return forward()


def _act_after(injector: Injector, fault: Fault, _way: Way, forward: Forward) -> Any:
    answer = forward()
    injector.world.act(fault.act)
    return answer


def _half(_injector: Injector, _fault: Fault, way: Way, forward: Forward) -> Any:
    return way.changed(forward(), lambda body: body[: len(body) // 2])


def _null(_injector: Injector, _fault: Fault, way: Way, forward: Forward) -> Any:
    return way.changed(forward(), lambda _body: b'{"data":null}')


def _empty(_injector: Injector, _fault: Fault, way: Way, forward: Forward) -> Any:
    return way.changed(forward(), lambda _body: b"{}")


def _busy(_injector: Injector, fault: Fault, way: Way, _forward: Forward) -> Any:
    """lldap's database takes nothing for a moment, and the call is not carried out."""
    return way.answer(*database_busy(fault.do, fault.at.split(" ")[1]))


def _answered(status: int, body: bytes, content_type: str) -> tuple[Deed, Deed]:
    """Somebody answers so in the server's stead: without the call, and after it was done."""

    def without(_injector: Injector, _fault: Fault, way: Way, _forward: Forward) -> Any:
        return way.answer(status, body, content_type)

    def done(_injector: Injector, _fault: Fault, way: Way, forward: Forward) -> Any:
        forward()
        return way.answer(status, body, content_type)

    return without, done


_TEXT, _JSON = "text/html", "application/json"

_ANSWERS: dict[str, tuple[int, bytes, str]] = {
    "500": (500, b"", _TEXT),
    "502": (502, HTML, _TEXT),
    "401": (401, b"", _TEXT),
    "404": (404, b"404 page not found\n", "text/plain"),
    "html": (200, HTML, _TEXT),
    "status-500": (500, status_body(500, "InternalError"), _JSON),
    "status-403": (403, status_body(403, "Forbidden"), _JSON),
    "status-409": (409, status_body(409, "Conflict"), _JSON),
    "status-410": (410, status_body(410, "Expired"), _JSON),
    "status-429": (429, status_body(429, "TooManyRequests"), _JSON),
    "status-503": (503, status_body(503, "ServiceUnavailable"), _JSON),
}

DEEDS: dict[str, Deed] = {
    "crash-before": _crash_before,
    "crash-after": _crash_after,
    "crash-late": _crash_late,
    "refuse": _refuse,
    "lose-request": _lose_request,
    "lose-answer": _lose_answer,
    "timeout": _timeout,
    "timeout-done": _timeout_done,
    "late": _late,
    "twice": _twice,
    "twice-first": _twice_first,
    "act-before": _act_before,
    "act-after": _act_after,
    "half": _half,
    "null": _null,
    "empty": _empty,
    "locked": _busy,
    "deadlock": _busy,
    **{name: _answered(*answer)[0] for name, answer in _ANSWERS.items()},
    **{f"{name}-done": _answered(*answer)[1] for name, answer in _ANSWERS.items()},
}
"""What can be done at a call. Lists and watch events have deeds of their own: see transports."""
