"""What events say: the closed list of their reasons, and how a reconciler tells them."""

import enum
from typing import Protocol

from controller.resource import Resource


class EventReason(enum.StrEnum):
    """Reasons of events beside those of failures, which carry the reason of the condition."""

    CREATED = "Created"
    UPDATED = "Updated"
    DELETED = "Deleted"
    RETAINED = "Retained"
    LEFT_ALONE = "LeftAlone"
    ADDED = "Added"
    REMOVED = "Removed"
    PASSWORD_SET = "PasswordSet"  # noqa: S105 - the name of an event
    PASSWORD_ODD = "PasswordOdd"  # noqa: S105 - the name of an event
    ADOPTED = "Adopted"
    TAKEN_BACK = "TakenBack"
    HANDED_OVER = "HandedOver"
    MARK_RESTORED = "MarkRestored"
    RECORD_LOST = "RecordLost"
    RELEASED = "Released"
    DRIFT = "DriftRepaired"
    SPEC_RESTORED = "SpecRestored"


class Events(Protocol):
    """Told what happened; never blocks, never fails."""

    def normal(self, resource: Resource, reason: str, note: str) -> None:
        """Something was done."""
        ...

    def warning(self, resource: Resource, reason: str, note: str) -> None:
        """Something that a person should look at."""
        ...
