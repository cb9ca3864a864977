"""What tools that know kstatus make of an object: its rules for kinds that it does not know."""

import enum

from controller.harness.resource import Object


class Status(enum.StrEnum):
    """Of kstatus's statuses those that an object which exists can have."""

    CURRENT = "Current"
    IN_PROGRESS = "InProgress"
    FAILED = "Failed"
    TERMINATING = "Terminating"


def compute(obj: Object) -> Status:
    """The status of an object: first what counts for all kinds, then its Ready condition."""
    metadata, status = obj["metadata"], obj.get("status") or {}
    if metadata.get("deletionTimestamp"):
        return Status.TERMINATING
    observed = status.get("observedGeneration")
    if observed is not None and observed != metadata.get("generation"):
        return Status.IN_PROGRESS
    conditions = {each["type"]: each["status"] for each in status.get("conditions") or ()}
    if conditions.get("Reconciling") == "True":
        return Status.IN_PROGRESS
    if conditions.get("Stalled") == "True":
        return Status.FAILED
    return Status.CURRENT if conditions.get("Ready", "True") == "True" else Status.IN_PROGRESS
