"""The choices of a harness: each field is a place where operators differ, made in the open."""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from controller.clock import Clock
from controller.harness.reasoned import ReasonedError, reasoned
from controller.harness.resource import Resource
from controller.harness.statuswriter import StatusWriter
from controller.harness.taxonomy import Cadences, Taxonomy
from controller.kube import Kube

C = TypeVar("C")


class DeleteSemantics(enum.Enum):
    """What a failed delete in the remote system does to the finalizer."""

    HOLD_UNTIL_SUCCESS = enum.auto()  # it stays; the taxonomy says when to try again
    BEST_EFFORT_RELEASE = enum.auto()  # it goes after one try, whatever came of it


class ObservedGenPolicy(enum.Enum):
    """When status.observedGeneration takes the generation of the pass."""

    ON_ALL_SUCCESS = enum.auto()  # after any pass without an error, a progressing one included
    ON_CONVERGED_ONLY = enum.auto()
    ON_EVERY_PASS = enum.auto()  # also after an error: kstatus sees a Stalled only then


@dataclass(frozen=True, slots=True)
class ConditionStyle:
    """Types of the conditions kept beside Ready; an empty one is not kept.

    `emit_progressing` is there, with status True, while an outcome is not converged,
    `emit_degraded` while a failure latches; otherwise they are absent.
    """

    emit_progressing: str = ""
    emit_degraded: str = ""


EventType = Literal["Normal", "Warning"]

Recorder = Callable[[Resource, EventType, str, str], None]
"""Told the object, the type of the event, its reason and its note."""


@dataclass(frozen=True, kw_only=True)
class HarnessConfig(Generic[C]):
    """One a process, shared by its kinds; each field is a choice that was made on purpose."""

    kube: Kube
    status: StatusWriter
    clock: Clock
    resolve: Callable[[Resource], C]
    """Gives the client for an object. A failure goes through the taxonomy as one of converge."""
    resolve_failure_reason: str = "ResolveFailed"
    """Its reason where the taxonomy has no row for what the failure says of itself."""
    taxonomy: Taxonomy
    delete_taxonomy: Taxonomy | None = None
    """Rows that differ on the way of a deletion."""
    explain: Callable[[Exception], ReasonedError | None] = reasoned
    failure_reason: str = "ReconcileFailed"
    """The reason of an error that `explain` does not know."""
    patience: Mapping[str, float] = field(default_factory=dict)
    """By reason, the seconds that an object may fail to be Ready before it makes an event."""
    passing: Callable[[Resource, Exception], bool] = lambda _resource, _error: False
    """Faults that are retried with back-off before a word of them is written."""
    cadences: Cadences = field(default_factory=Cadences)
    conditions: ConditionStyle = field(default_factory=ConditionStyle)
    deletion: DeleteSemantics = DeleteSemantics.HOLD_UNTIL_SUCCESS
    uninstalling: Callable[[Resource], bool] = lambda _resource: False
    """Whether a deletion that dry-run would hold counts as Retain. A handler's own `delete` asks
    for itself, right before it deletes."""
    requeue_on_finalizer_add: bool = False
    dry_run_annotation: str = ""
    dry_run_reason: str = "DryRun"
    observed_generation: ObservedGenPolicy = ObservedGenPolicy.ON_ALL_SUCCESS
    recorder: Recorder | None = None
    """Notes are bounded as messages are, and not sanitized: name a Secret, never quote it."""
    stamp_success: Callable[[Resource], None] | None = None
    mirror_status: Callable[[Resource], None] | None = None
