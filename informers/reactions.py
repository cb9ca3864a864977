"""The table of what a reflector does about each error. controller-contracts 3.3 of client-go."""

import enum

from informers.errors import (
    ApiFailure,
    ConnectionFailed,
    DeadlineExceeded,
    EndOfStream,
    StatusError,
    StatusKind,
)


class Reaction(enum.Enum):
    """What comes next. All but the first three wait for the backoff (or Retry-After) first."""

    REWATCH = "watch again from the last version, at once"
    LIST_WHOLE = "list again, at once and in one piece"
    LIST_LATEST = 'list again, at once and with resourceVersion ""'
    RETRY_LIST = "list again from the first page"
    RETRY_WATCH = "watch again from the last version"
    RELIST = "list at the last version"


_OUTDATED = (StatusKind.EXPIRED, StatusKind.RESOURCE_VERSION_TOO_LARGE)


def kind_of(error: ApiFailure) -> StatusKind | None:
    """The status's kind, if the error is an answer."""
    return error.kind if isinstance(error, StatusError) else None


def list_reaction(error: ApiFailure, *, continued: bool, latest: bool) -> Reaction:
    """`continued`: it was not the first page; `latest`: resourceVersion "" was asked for."""
    if kind_of(error) not in _OUTDATED:
        return Reaction.RETRY_LIST
    if continued:
        return Reaction.LIST_WHOLE
    return Reaction.RETRY_LIST if latest else Reaction.LIST_LATEST


def open_reaction(error: ApiFailure) -> Reaction:
    """The watch was not opened. A list would only add to the load of a server that has too much."""
    if isinstance(error, ConnectionFailed | DeadlineExceeded):
        return Reaction.RETRY_WATCH
    if kind_of(error) is StatusKind.TOO_MANY_REQUESTS:
        return Reaction.RETRY_WATCH
    return Reaction.RELIST


def stream_reaction(error: ApiFailure) -> Reaction:
    """The open watch ended, or an ERROR event came."""
    if isinstance(error, EndOfStream | ConnectionFailed | DeadlineExceeded):
        return Reaction.REWATCH
    if kind_of(error) is StatusKind.TOO_MANY_REQUESTS:
        return Reaction.RETRY_WATCH
    return Reaction.RELIST
