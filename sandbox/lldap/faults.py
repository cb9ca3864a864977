"""Faults that a test puts between lldap and its clients."""

import itertools
from collections.abc import Callable
from typing import Protocol

from sandbox.lldap.exchange import Call, Response

Forward = Callable[[Call], Response]
# Called for every call; it forwards the call, or not, and gives back an answer of its choice.
Hook = Callable[[Call, Forward], Response]


class ConnectionLostError(Exception):
    """The connection ends without an answer; the call was `sent` before that, or surely not."""

    def __init__(self, *, sent: bool) -> None:
        super().__init__("sent" if sent else "not sent")
        self.sent = sent


class MovableClock(Protocol):
    """A clock of a test."""

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`."""


def on(operation: str, fault: Hook, *, times: int = 1) -> Hook:
    """Put a fault on the first `times` calls of an operation (a GraphQL field or a path)."""
    count = itertools.count()

    def hook(call: Call, forward: Forward) -> Response:
        hit = call.operation == operation and next(count) < times
        return fault(call, forward) if hit else forward(call)

    return hook


def refuse(_call: Call, _forward: Forward) -> Response:
    """Refuse the connection."""
    raise ConnectionLostError(sent=False)


def lose_request(_call: Call, _forward: Forward) -> Response:
    """Lose the connection after the call was sent and before it took effect."""
    raise ConnectionLostError(sent=True)


def lose_answer(call: Call, forward: Forward) -> Response:
    """Lose the connection after the call took effect."""
    forward(call)
    raise ConnectionLostError(sent=True)


def postpone(held: list[Callable[[], Response]]) -> Hook:
    """Lose the connection; the call takes effect when the test calls what is in `held`."""

    def hook(call: Call, forward: Forward) -> Response:
        held.append(lambda: forward(call))
        raise ConnectionLostError(sent=True)

    return hook


def delay(clock: MovableClock, seconds: float) -> Hook:
    """Let time pass before the call takes effect."""

    def hook(call: Call, forward: Forward) -> Response:
        clock.advance(seconds)
        return forward(call)

    return hook


def answer(response: Response) -> Hook:
    """Answer in lldap's stead, as a proxy in trouble does."""
    return lambda _call, _forward: response


def garble(change: Callable[[bytes], bytes]) -> Hook:
    """Change the body of the answer after the call took effect."""

    def hook(call: Call, forward: Forward) -> Response:
        response = forward(call)
        return response._replace(body=change(response.body))

    return hook


def drip(seconds_per_byte: float) -> Hook:
    """Send the answer byte by byte; only a real socket can show it."""

    def hook(call: Call, forward: Forward) -> Response:
        return forward(call)._replace(seconds_per_byte=seconds_per_byte)

    return hook
