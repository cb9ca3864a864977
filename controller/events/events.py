"""What events say: the closed list of their reasons, and how a reconciler tells them."""

import enum
from typing import Final, NamedTuple, Protocol

from controller.harness.resource import Resource


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


class EventRow(NamedTuple):
    """One row of the reference table in the docs."""

    reason: EventReason
    warning: bool
    meaning: str


EVENTS: Final = (
    EventRow(EventReason.CREATED, False, "A user, a group or an attribute was created in lldap."),
    EventRow(EventReason.UPDATED, False, "It was changed; the note names the fields."),
    EventRow(
        EventReason.DRIFT, False, "Somebody had changed it in lldap, and it was changed back."
    ),
    EventRow(EventReason.DELETED, False, "It was deleted in lldap."),
    EventRow(EventReason.RETAINED, False, "The object went and lldap was left as it is."),
    EventRow(
        EventReason.LEFT_ALONE,
        True,
        "The object went and something stays in lldap that was not the operator's to delete.",
    ),
    EventRow(EventReason.ADDED, False, "A user was added to a group."),
    EventRow(EventReason.REMOVED, False, "A user was taken out of a group."),
    EventRow(EventReason.PASSWORD_SET, False, "A password was set, and proved to work."),
    EventRow(
        EventReason.PASSWORD_ODD,
        True,
        "A password ends with a line end or is short; it works exactly as it is.",
    ),
    EventRow(
        EventReason.ADOPTED, False, "An account or group that nobody held was taken over by name."
    ),
    EventRow(
        EventReason.TAKEN_BACK,
        False,
        "An account or group whose mark names a deleted object of the same name was taken back.",
    ),
    EventRow(
        EventReason.HANDED_OVER,
        False,
        "The object that held a target went, and another one that claims it has it now.",
    ),
    EventRow(
        EventReason.MARK_RESTORED,
        True,
        "Somebody had removed the operator's mark from an account or group; it was put back.",
    ),
    EventRow(
        EventReason.RECORD_LOST,
        True,
        "What status recorded is not trusted: it was changed by hand, or the hash key is another.",
    ),
    EventRow(EventReason.RELEASED, False, "The object's label names another instance now."),
    EventRow(
        EventReason.SPEC_RESTORED,
        True,
        "The spec of a built-in group's object was edited and is as it was again.",
    ),
)


class Events(Protocol):
    """Told what happened; never blocks, never fails."""

    def normal(self, resource: Resource, reason: str, note: str) -> None:
        """Something was done."""
        ...

    def warning(self, resource: Resource, reason: str, note: str) -> None:
        """Something that a person should look at."""
        ...
