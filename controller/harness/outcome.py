"""What a handler reports back, and what the worker makes of it."""

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True, slots=True)
class Outcome:
    """The report of one `converge`.

    `converged` is only said after the state in lldap was read back or confirmed by the
    server's own answer; the harness, never the handler, makes a Ready condition of it.
    `requeue_after` in seconds; None takes the cadence of the phase.
    """

    converged: bool
    reason: str
    message: str
    requeue_after: float | None = None

    def after(self, seconds: float) -> Self:
        """The same outcome, looked at again after `seconds`."""
        return replace(self, requeue_after=seconds)


def converged(reason: str, message: str) -> Outcome:
    """The external state was seen to be what the object asks for."""
    return Outcome(True, reason, message)


def progressing(reason: str, message: str) -> Outcome:
    """On the way: nothing failed, but it is not true yet."""
    return Outcome(False, reason, message)


@dataclass(frozen=True, slots=True)
class Result:
    """What becomes of the key after one pass.

    With `rate_limited` it comes back after the queue's own back-off. Otherwise its failures
    are forgotten, and it comes back after `requeue_after` seconds (None: when something
    happens). `terminal` and `error` are for logs and metrics only.
    """

    requeue_after: float | None = None
    rate_limited: bool = False
    terminal: bool = False
    error: BaseException | None = None


DONE = Result()
AT_ONCE = Result(requeue_after=0.0)
LATER = Result(rate_limited=True)  # no failure of the object: somebody else was faster
