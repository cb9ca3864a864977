"""An event of events.k8s.io/v1 as it is built: its object, its text, and how often it happened."""

import datetime
from dataclasses import dataclass, field
from typing import Final, Literal

from controller.election.lease import micro_time
from controller.harness.conditions import MAX_CONDITION_MESSAGE_BYTES, bounded
from controller.harness.resource import Object

EventType = Literal["Normal", "Warning"]
SeriesKey = tuple[str, str, str, str]
"""uid of the object, type, reason, note: what happens again under one key is one event."""

MAX_WORD: Final = 128
"""Bytes of reason, action and reportingInstance that the server takes."""

_MAX_NAME: Final = 253
_UNIQUE: Final = 17  # a dot and 64 random bits in hexadecimal


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """The object that an event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    resource_version: str

    @classmethod
    def of(cls, obj: Object) -> "ObjectReference":
        """From the object itself, as a store has it."""
        metadata = obj["metadata"]
        return cls(
            obj["apiVersion"],
            obj["kind"],
            metadata.get("namespace", ""),
            metadata["name"],
            metadata["uid"],
            metadata["resourceVersion"],
        )

    def body(self) -> Object:
        """As `regarding` of an event."""
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
            "resourceVersion": self.resource_version,
        }


@dataclass(slots=True)
class Series:
    """One event and its repetitions. Belongs to the recorder's lock.

    `sent` is the count that the server has; `due` and `last_at` are monotonic.
    """

    reference: ObjectReference
    type: EventType
    reason: str
    action: str
    note: str
    name: str
    first: datetime.datetime
    last: datetime.datetime
    last_at: float
    due: float
    count: int = 1
    sent: int = 0
    pushes: int = 0
    attempts: int = 0
    refused: bool = False
    key: SeriesKey = field(init=False)  # under which it happens again; thousands are kept

    def __post_init__(self) -> None:
        self.key = (self.reference.uid, self.type, self.reason, self.note)

    @property
    def namespace(self) -> str:
        """Where the Event lives; the server compares it with the object's."""
        return self.reference.namespace or "default"

    def again(self, moment: datetime.datetime, at: float) -> None:
        """It happened once more."""
        self.count += 1
        self.last = moment
        self.last_at = at

    def anew(self, name: str) -> None:
        """The server's Event is gone: what it was not told begins another one."""
        self.name = name
        self.first = self.last
        self.count -= self.sent
        self.sent = 0

    def body(self, controller: str, instance: str) -> Object:
        """The Event to create."""
        body: Object = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "eventTime": micro_time(self.first),
            "reportingController": controller,
            "reportingInstance": instance,
            "action": self.action,
            "reason": self.reason,
            "type": self.type,
            "note": self.note,
            "regarding": self.reference.body(),
        }
        return {**body, **self.progress()} if self.count > 1 else body

    def progress(self) -> Object:
        """The one part of an Event that may change."""
        return {"series": {"count": self.count, "lastObservedTime": micro_time(self.last)}}


def event_name(object_name: str, random_bits: int) -> str:
    """A name for an Event: chosen here, so that creating it twice creates it once."""
    return f"{object_name[: _MAX_NAME - _UNIQUE].rstrip('.-')}.{random_bits:016x}"


def word(text: str) -> str:
    """A reason or action as the server takes it: not empty, not longer than it allows."""
    return bounded(_encodable(text), MAX_WORD) or "Unknown"


def note_of(text: str) -> str:
    """A note of at most 512 bytes, cut on a character; the server takes 1,024."""
    return bounded(_encodable(text), MAX_CONDITION_MESSAGE_BYTES)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
