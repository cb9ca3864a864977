"""From an answer, or an ERROR event of a watch, to a StatusError."""

import datetime
import email.utils
from collections.abc import Callable, Mapping
from typing import Final

import orjson

from informers.errors import StatusError
from informers.objects import Object

_SHOWN_BODY: Final = 300
"""Characters of a body that is no Status which are kept as the message."""


def status_error(
    code: int, headers: Mapping[str, str], body: bytes, now: Callable[[], datetime.datetime]
) -> StatusError:
    """The error that an answer stands for; never raises, whatever the body is.

    `now` is the wall clock, for a Retry-After that is a date in an answer that has no Date.
    """
    status = _status_in(body)
    if status is None:
        error = StatusError(code, "", body[:_SHOWN_BODY].decode("utf-8", "replace").strip())
    else:
        error = status_error_of(status)
        error.code = code
    asked = _retry_after(headers, now)
    if asked is not None:
        error.retry_after = asked
    return error


def status_error_of(status: Object) -> StatusError:
    """The error that a Status object stands for; anything else becomes a StatusError of code 0."""
    details = status.get("details")
    details = details if isinstance(details, dict) else {}
    seconds = details.get("retryAfterSeconds")
    return StatusError(
        _number(status.get("code")),
        _text(status.get("reason")),
        _text(status.get("message")),
        details=details,
        retry_after=float(_number(seconds)) if _number(seconds) > 0 else None,
        body_is_status=status.get("kind") == "Status",
    )


def _status_in(body: bytes) -> Object | None:
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return parsed if isinstance(parsed, dict) and parsed.get("kind") == "Status" else None


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _retry_after(headers: Mapping[str, str], now: Callable[[], datetime.datetime]) -> float | None:
    """Seconds that Retry-After asks for, as a number or as an HTTP date (RFC 9110, 10.2.3)."""
    value = (headers.get("Retry-After") or "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    until = _http_date(value)
    if until is None:
        return None
    # The server's own Date, where there is one: then no difference of the two clocks counts.
    since = _http_date(headers.get("Date") or "") or now()
    return max(0.0, (until - since).total_seconds())


def _http_date(text: str) -> datetime.datetime | None:
    try:
        parsed = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=datetime.UTC)
