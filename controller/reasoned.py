"""Errors that carry the reason of a condition."""

from typing import Self


class ReasonedError(Exception):
    """A failure with the reason and the message that the object's Ready condition shows.

    The text is shown to people: it names the object, what is wrong and what to do next, and
    never quotes a secret. `requeue_transient` keeps a reason that normally latches visible and
    still looks again on the transient cadence.
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


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def reasoned(error: BaseException) -> ReasonedError | None:
    """The first reasoned error of a chain of causes."""
    return next((e for e in _chain(error) if isinstance(e, ReasonedError)), None)


def reason_of(error: BaseException) -> str | None:
    """The reason that an error carries, if any of its causes carries one."""
    found = reasoned(error)
    return found.reason if found else None


def requeue_transient_of(error: BaseException) -> bool:
    """Whether the error asks for the transient cadence whatever its reason says."""
    found = reasoned(error)
    return found.requeue_transient if found else False
