"""Errors that carry the reason of a condition."""

import math
from typing import Final, Self

UNTIL_WOKEN: Final = math.inf
"""In place of seconds: somebody else looks at the object again, as soon as it is worth while."""


class ReasonedError(Exception):
    """A failure with the reason and the message that the object's Ready condition shows.

    The text is shown to people: it names the object, what is wrong and what to do next, and
    never quotes a secret. `requeue_transient` keeps a reason that normally latches visible and
    still looks again on the transient cadence. `after` are seconds that count instead of the
    reason's own, or UNTIL_WOKEN.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        requeue_transient: bool = False,
        after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.requeue_transient = requeue_transient
        self.after = after

    def looked_at_after(self, seconds: float) -> Self:
        """The same failure, looked at again after `seconds` instead of its reason's cadence."""
        self.after = seconds
        return self


def fail(reason: str, message: str) -> ReasonedError:
    """A failure whose disposition is its reason's row in the taxonomy."""
    return ReasonedError(reason, message)


def fail_requeue(reason: str, message: str) -> ReasonedError:
    """A failure that shows `reason` and is looked at again on the transient cadence."""
    return ReasonedError(reason, message, requeue_transient=True)


def reasoned(error: BaseException) -> ReasonedError | None:
    """The first reasoned error of the chain of causes.

    Only what was raised `from` another is its consequence: an error that merely came up while
    another was handled is a fault of its own.
    """
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        if isinstance(found, ReasonedError):
            return found
        seen.add(id(found))
        found = found.__cause__
    return None


def reason_of(error: BaseException) -> str | None:
    """The reason that an error carries, if any of its causes carries one."""
    found = reasoned(error)
    return found.reason if found else None


def requeue_transient_of(error: BaseException) -> bool:
    """Whether the error asks for the transient cadence whatever its reason says."""
    found = reasoned(error)
    return found.requeue_transient if found else False
