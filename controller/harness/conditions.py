"""The conditions of an object: one vocabulary, bounded messages, times that move with status."""

import datetime
import math
import re
from collections.abc import Callable
from typing import Any, Protocol

from controller.api import READY
from controller.harness.resource import Object

MAX_CONDITION_MESSAGE_BYTES = 512

Condition = dict[str, Any]
Now = Callable[[], datetime.datetime]

_CUT = "…"
_SENTENCES = 256  # bytes: what is shorter is a word or a quotation, and keeps its beginning
_QUOTED_BYTES = 240
_QUOTATION = re.compile(r"“([^”]*)”?")
# What differs from one answer to the next: a number, a moment, an id, an address in memory.
_VARYING = re.compile(r"\S*(?:\d|[0-9a-f]{8})\S*", re.IGNORECASE)
_COMPARED = 100  # characters of a quotation: where a server's text was cut depends on its ids


class StatusObject(Protocol):
    """Whatever has a status to write: `status` is a draft, `generation` that of its spec."""

    status: Object

    @property
    def generation(self) -> int:
        """What the draft was computed from."""
        ...


def bounded(text: str, limit: int = MAX_CONDITION_MESSAGE_BYTES) -> str:
    """`text` in at most `limit` bytes of UTF-8, cut on characters, an ellipsis for what is cut.

    A message loses its middle: it says first what it is about, and at last what to do.
    """
    encoded = text.encode(errors="replace")  # a lone surrogate has no encoding
    if len(encoded) <= limit:
        return encoded.decode()
    last = limit // 3 if limit >= _SENTENCES else 0
    head = encoded[: limit - last - len(_CUT.encode())].decode(errors="ignore")
    return head + _CUT + encoded[len(encoded) - last :].decode(errors="ignore")


def quoted(text: str) -> str:
    """Words of a server in quotation marks that nothing else uses.

    In there a request id or a moment may differ each time: `same_words` does not count that.
    A long text is cut, so that there is room for what to do about it.
    """
    plain = text.replace("“", '"').replace("”", '"').strip()
    return f"“{bounded(plain, _QUOTED_BYTES)}”"


def same_words(one: str, other: str) -> bool:
    """Whether two messages say the same, apart from ids and numbers in what servers said."""
    return one == other or _QUOTATION.sub(_gist, one) == _QUOTATION.sub(_gist, other)


def _gist(quotation: re.Match[str]) -> str:
    return f"“{_VARYING.sub('#', quotation[1])[:_COMPARED]}”"


def find(status: Object, kind: str) -> Condition | None:
    """The condition of type `kind`, if the status has one."""
    for condition in status.get("conditions") or ():
        if condition.get("type") == kind:
            found: Condition = condition
            return found
    return None


def ready_of(status: Object) -> Condition:
    """The Ready condition, empty where there is none yet."""
    return find(status, READY) or {}


def timestamp(when: datetime.datetime) -> str:
    """Whole seconds in UTC, as the API server writes them."""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_since(text: object, now: Now) -> float:
    """Since a `timestamp`; endless for what is none: anybody may have written it."""
    try:
        return (now() - datetime.datetime.fromisoformat(str(text))).total_seconds()
    except (ValueError, TypeError):  # no time, or one without a zone
        return math.inf


def set_condition(
    obj: StatusObject,
    kind: str,
    value: str,
    reason: str,
    message: str,
    *,
    now: Now,
    generation: int | None = None,
) -> None:
    """Set one condition; lastTransitionTime moves only when its status does.

    `generation` is what was reconciled, by default the object's. A message that says the same
    as the one that is there stays (`same_words`). The list is replaced, never edited: it may be
    shared with the lister.
    """
    old = find(obj.status, kind)
    since = old.get("lastTransitionTime") if old and old.get("status") == value else None
    new: Condition = {
        "type": kind,
        "status": value,
        "reason": reason,
        "message": bounded(message),
        "observedGeneration": obj.generation if generation is None else generation,
        "lastTransitionTime": since or timestamp(now()),
    }
    if new == old:
        return
    if old and same_words(str(old.get("message")), new["message"]):
        new["message"] = old["message"]
        if new == old:
            return
    conditions = obj.status.get("conditions") or []
    replaced = [new if c is old else c for c in conditions]
    obj.status["conditions"] = replaced if old else [*conditions, new]


def ready_true(obj: StatusObject, reason: str, message: str, *, now: Now) -> None:
    """Ready=True: only after the state was seen to be what the object asks for."""
    set_condition(obj, READY, "True", reason, message, now=now)


def ready_false(obj: StatusObject, reason: str, message: str, *, now: Now) -> None:
    """Ready=False."""
    set_condition(obj, READY, "False", reason, message, now=now)


def mark_degraded(obj: StatusObject, kind: str, reason: str, message: str, *, now: Now) -> None:
    """Say that a failure latches, in the condition of type `kind`; `remove_condition` ends it."""
    set_condition(obj, kind, "True", reason, message, now=now)


def remove_condition(obj: StatusObject, kind: str) -> None:
    """Take a condition away; nothing happens when it is not there."""
    if find(obj.status, kind) is not None:
        obj.status["conditions"] = [c for c in obj.status["conditions"] if c.get("type") != kind]
