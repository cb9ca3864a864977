"""The conditions of an object: one vocabulary, bounded messages, times that move with status."""

import datetime
from typing import Any

from controller.resource import Object

MAX_CONDITION_MESSAGE_BYTES = 512

Condition = dict[str, Any]


def bounded(text: str, limit: int = MAX_CONDITION_MESSAGE_BYTES) -> str:
    """`text` in at most `limit` bytes of UTF-8, cut on a character, an ellipsis at the cut."""
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    return encoded[: limit - len("…".encode())].decode(errors="ignore") + "…"


def find(status: Object, kind: str) -> Condition | None:
    """The condition of type `kind`, if the status has one."""
    return next((c for c in status.get("conditions") or [] if c.get("type") == kind), None)


def timestamp(moment: datetime.datetime) -> str:
    """Whole seconds in UTC, as the API server writes them."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def set_condition(
    status: Object,
    kind: str,
    value: str,
    reason: str,
    message: str,
    *,
    generation: int,
    now: datetime.datetime,
) -> None:
    """Set one condition; lastTransitionTime moves only when its status does.

    The list is replaced, never edited: it may be shared with the lister.
    """
    old = find(status, kind)
    moved = old is None or old.get("status") != value
    new: Condition = {
        "type": kind,
        "status": value,
        "reason": reason,
        "message": bounded(message),
        "observedGeneration": generation,
        "lastTransitionTime": timestamp(now) if moved else (old or {}).get("lastTransitionTime"),
    }
    if new == old:
        return
    conditions = status.get("conditions") or []
    replaced = [new if c is old else c for c in conditions]
    status["conditions"] = replaced if old else [*conditions, new]


def remove_condition(status: Object, kind: str) -> None:
    """Drop one condition; nothing happens when it is not there."""
    if find(status, kind) is not None:
        status["conditions"] = [c for c in status["conditions"] if c.get("type") != kind]
