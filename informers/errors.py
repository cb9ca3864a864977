"""What can go wrong between us and an API server.

    ApiFailure
    ├── ConnectionFailed     no answer, or only a part of one
    ├── DeadlineExceeded     the call's time is over
    ├── AnswerTooLarge       more bytes than the transport takes
    ├── UnexpectedAnswer     a good status with a body that was not understood
    ├── StatusError          the server said no; `kind` says what that means
    ├── EndOfStream          the watch is over: the server ended it
    ├── StreamClosed         the watch is over: we closed it
    └── GarbledStream        a line of the watch was not understood

The first two say in `sent` whether the server may have got the request: only if it is False is
it certain that nothing was done.
"""

import enum
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, Final

SHOWN_MESSAGE: Final = 300
"""Characters of a server's message that end up in logs."""


class ApiFailure(Exception):  # noqa: N818 - the root of names such as EndOfStream, which is no error
    """Root of everything that this package raises about a server or the way to it."""


class _CallFailure(ApiFailure):
    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class ConnectionFailed(_CallFailure):
    """The connection could not be made, or broke."""


class DeadlineExceeded(_CallFailure):
    """The answer, or the next part of a stream, did not come in time."""


class AnswerTooLarge(ApiFailure):
    """The body is longer than the transport's bound; the call itself may have been done."""


class UnexpectedAnswer(ApiFailure):
    """The server answered with success and something that is not what was asked for."""


class EndOfStream(ApiFailure):
    """The server ended the watch. A last line without its end is dropped: it was no event yet."""


class StreamClosed(ApiFailure):
    """The stream was closed on our side."""


class GarbledStream(ApiFailure):
    """A line of the watch is no event, or longer than the bound."""


class StatusKind(enum.Enum):
    """What a refusal means, decided by the table below and nowhere else."""

    EXPIRED = "the resourceVersion or continue token is too old"
    RESOURCE_VERSION_TOO_LARGE = "the server has not yet reached the resourceVersion"
    TOO_MANY_REQUESTS = "the server asks for a pause"
    NOT_FOUND = "the server knows the resource and says that the object (or namespace) is not there"
    UNKNOWN_RESOURCE = "nothing is served at this path: no such resource, group or CRD"
    ALREADY_EXISTS = "the name is taken"
    CONFLICT = "somebody else changed the object, or owns the field"
    UNAUTHORIZED = "the credentials are not valid"
    NAMESPACE_TERMINATING = "nothing can be created in a namespace that is being deleted"
    FORBIDDEN = "the account lacks the right, or an admission policy refused"
    INVALID = "the object breaks its schema, or a JSON patch did not apply"
    SCHEMA_MISMATCH = "the CRD on the server lacks a field that was applied; a retry cannot help"
    SERVER_FAULT = "the server failed"
    REFUSED = "refused for another reason; the same request would be refused again"


class StatusError(ApiFailure):
    """An answer other than success, whatever its body is: a Status, text, HTML or nothing.

    `retry_after` is in seconds. `message` is the server's own and may quote the object that was
    sent; ``str()`` leaves it out where servers do that and names the fields instead.
    """

    def __init__(
        self,
        code: int,
        reason: str = "",
        message: str = "",
        *,
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
        body_is_status: bool = False,
    ) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason
        self.message = message
        self.details: Mapping[str, Any] = details or {}
        self.retry_after = retry_after
        self.body_is_status = body_is_status
        self.request = ""
        """Method and path, for logs; empty if it came out of a watch."""

    @property
    def causes(self) -> list[Mapping[str, Any]]:
        """`details.causes`: `reason`, `message` and `field`, as far as the server sent them."""
        causes = self.details.get("causes")
        return [c for c in causes if isinstance(c, dict)] if isinstance(causes, list) else []

    @property
    def kind(self) -> StatusKind:
        """The first line of the table that fits."""
        return next(row.kind for row in _TABLE if row.fits(self))

    def __str__(self) -> str:
        said = f"{self.code} {self.reason}".strip()
        if self.code in _QUOTING:
            fields = dict.fromkeys(str(c["field"]) for c in self.causes if c.get("field"))
            said += f" ({', '.join(fields)})" if fields else ""
        elif self.message:
            said += f": {self.message[:SHOWN_MESSAGE]}"
        return f"{self.request}: {said}" if self.request else said


_QUOTING = frozenset({400, 422})
"""Codes whose messages repeat parts of the object that was sent."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of the table; what is left out fits everything."""

    kind: StatusKind
    codes: Container[int] = range(1000)
    reasons: tuple[str, ...] = ()
    cause: str = ""
    text: str = ""
    status_only: bool = False

    def fits(self, error: StatusError) -> bool:
        return (
            error.code in self.codes
            and (not self.reasons or error.reason in self.reasons)
            and (not self.cause or any(c.get("reason") == self.cause for c in error.causes))
            and self.text in error.message
            and (error.body_is_status or not self.status_only)
        )


_TABLE = (
    _Row(StatusKind.EXPIRED, (410,)),
    _Row(StatusKind.EXPIRED, reasons=("Expired", "Gone")),
    _Row(StatusKind.RESOURCE_VERSION_TOO_LARGE, (504,), cause="ResourceVersionTooLarge"),
    _Row(StatusKind.TOO_MANY_REQUESTS, (429,)),
    _Row(StatusKind.NOT_FOUND, (404,), reasons=("NotFound",), status_only=True),
    _Row(StatusKind.UNKNOWN_RESOURCE, (404,)),
    _Row(StatusKind.ALREADY_EXISTS, (409,), reasons=("AlreadyExists",)),
    _Row(StatusKind.CONFLICT, (409,)),
    _Row(StatusKind.UNAUTHORIZED, (401,)),
    _Row(StatusKind.NAMESPACE_TERMINATING, (403,), cause="NamespaceTerminating"),
    _Row(StatusKind.FORBIDDEN, (403,)),
    _Row(StatusKind.INVALID, (422,)),
    # Server-side apply with a field that the CRD does not have comes as a 500.
    _Row(StatusKind.SCHEMA_MISMATCH, (500,), text="field not declared in schema"),
    _Row(StatusKind.SERVER_FAULT, range(500, 600)),
    _Row(StatusKind.REFUSED),
)
