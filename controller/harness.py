"""The lifecycle of one pass over one object, the same for every kind.

deletion (by policy) → finalizer → dry-run → resolve the client → converge → conditions and
status → requeue. A handler never sets Ready: the harness does, and True only on a converged
outcome, so that nobody can publish it while work is in flight.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from controller.api import READY, DeletionPolicy
from controller.clock import Clock
from controller.conditions import remove_condition, set_condition
from controller.finalizers import (
    ObjectGone,
    StaleObject,
    ensure_finalizer,
    remove_finalizer,
)
from controller.handler import CleanupHandler, DeletionPolicyProvider, DryRunDeletion, Handler
from controller.kube import Kube
from controller.outcome import DONE, Outcome, Result
from controller.reasoned import ReasonedError, reasoned
from controller.resource import Resource
from controller.statuswriter import StatusWriter
from controller.taxonomy import Cadences, Disposition, Rule, Taxonomy
from informers import ApiFailure

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
    """Names of the conditions kept beside Ready; an empty one is not kept.

    `progressing` is there with status True while an outcome is not converged, `degraded` while
    a failure latches (or, with `degraded_on_any_error`, after every failure).
    """

    progressing: str = ""
    degraded: str = ""
    degraded_on_any_error: bool = False


Recorder = Callable[[Resource, Literal["Normal", "Warning"], str, str], None]
"""Told the object, the type of the event, its reason and its note."""


@dataclass(frozen=True, kw_only=True)
class HarnessConfig(Generic[C]):
    """One a process, shared by its kinds; each field is a choice that was made on purpose."""

    kube: Kube
    status: StatusWriter
    clock: Clock
    resolve: Callable[[Resource], C]
    taxonomy: Taxonomy
    explain: Callable[[Exception], ReasonedError | None] = reasoned
    resolve_failure_reason: str = "ResolveFailed"
    failure_reason: str = "ReconcileFailed"
    passing: Callable[[Resource, Exception], bool] = lambda _resource, _error: False
    """Faults that are retried with back-off before a word of them is written."""
    delete_taxonomy: Taxonomy | None = None
    cadences: Cadences = field(default_factory=Cadences)
    conditions: ConditionStyle = field(default_factory=ConditionStyle)
    deletion: DeleteSemantics = DeleteSemantics.HOLD_UNTIL_SUCCESS
    requeue_on_finalizer_add: bool = False
    dry_run_annotation: str = ""
    dry_run_reason: str = "DryRun"
    observed_generation: ObservedGenPolicy = ObservedGenPolicy.ON_ALL_SUCCESS
    recorder: Recorder | None = None
    stamp_success: Callable[[Resource], None] | None = None
    mirror_status: Callable[[Resource], None] | None = None


class Harness(Generic[C]):
    """Runs handlers by one configuration. Any thread, one thread an object."""

    def __init__(self, config: HarnessConfig[C]) -> None:
        self._config = config

    def run(self, resource: Resource, handler: Handler[C]) -> Result:
        """One pass. Never raises for what can happen to an object: it becomes the Result."""
        try:
            if resource.deleting:
                return self._delete(resource, handler)
            return self._apply(resource, handler)
        except ObjectGone:
            return DONE
        except (StaleObject, ApiFailure) as error:
            return Result(rate_limited=True, error=error)

    # --- create and update ---------------------------------------------------------------

    def _apply(self, resource: Resource, handler: Handler[C]) -> Result:
        config = self._config
        if handler.finalizer:
            added = ensure_finalizer(config.kube, resource, handler.finalizer)
            if added and config.requeue_on_finalizer_add:
                return DONE  # the event of our own write brings it back
        try:
            client = self._resolve(resource)
            if self._dry_run(resource):
                return self._show_plan(resource, handler.plan(resource, client))
            outcome = handler.converge(resource, client)
        except (ObjectGone, StaleObject):
            raise
        except Exception as error:  # noqa: BLE001 - every failure ends on the object
            return self._failed(resource, error, config.taxonomy, config.failure_reason)
        return self._came_out(resource, outcome)

    def _resolve(self, resource: Resource) -> C:
        try:
            return self._config.resolve(resource)
        except Exception as error:
            if self._config.explain(error) is not None:
                raise
            raise ReasonedError(
                self._config.resolve_failure_reason, f"{resource.key}: no client could be made"
            ) from error

    def _dry_run(self, resource: Resource) -> bool:
        annotation = self._config.dry_run_annotation
        return bool(annotation) and resource.annotations.get(annotation) == "true"

    def _show_plan(self, resource: Resource, plan: list[str]) -> Result:
        text = "; ".join(plan) or "nothing"
        message = f"dry-run: would do: {text}"
        before = (resource.recorded.get("conditions") or []) != []
        self._conditions(resource, "True", self._config.dry_run_reason, message)
        if self._write(resource) or not before:
            self._event(resource, "Normal", self._config.dry_run_reason, message)
        return Result(requeue_after=self._config.cadences.ready or None)

    def _came_out(self, resource: Resource, outcome: Outcome) -> Result:
        config = self._config
        self._observe_generation(resource, converged=outcome.converged, failed=False)
        ready, extra = (
            ("True", "") if outcome.converged else ("False", config.conditions.progressing)
        )
        self._conditions(resource, ready, outcome.reason, outcome.message, extra)
        if outcome.converged and config.stamp_success:
            config.stamp_success(resource)
        self._write(resource)
        cadence = config.cadences.ready if outcome.converged else config.cadences.progressing
        after = cadence if outcome.requeue_after is None else outcome.requeue_after
        return Result(requeue_after=after or None)

    # --- deletion ------------------------------------------------------------------------

    def _delete(self, resource: Resource, handler: Handler[C]) -> Result:
        if not handler.finalizer or handler.finalizer not in resource.finalizers:
            return DONE
        if self._dry_run(resource) and self._held_by_dry_run(resource, handler):
            return self._show_plan(resource, ["delete what the object owns in lldap"])
        if self._policy(resource, handler) is DeletionPolicy.DELETE:
            held = self._undo(resource, handler)
            if held is not None:
                return held
        if isinstance(handler, CleanupHandler):
            handler.cleanup(resource)
        remove_finalizer(self._config.kube, resource, handler.finalizer)
        return DONE

    def _policy(self, resource: Resource, handler: Handler[C]) -> DeletionPolicy:
        if isinstance(handler, DeletionPolicyProvider):
            return handler.deletion_policy(resource)
        return DeletionPolicy.DELETE

    def _held_by_dry_run(self, resource: Resource, handler: Handler[C]) -> bool:
        owns = handler.owns(resource) if isinstance(handler, DryRunDeletion) else True
        return owns and self._policy(resource, handler) is DeletionPolicy.DELETE

    def _undo(self, resource: Resource, handler: Handler[C]) -> Result | None:
        """Delete in the remote system; a Result when the finalizer has to stay."""
        config = self._config
        try:
            handler.delete(resource, self._resolve(resource))
        except (ObjectGone, StaleObject):
            raise
        except Exception as error:  # noqa: BLE001 - every failure ends on the object
            if config.deletion is DeleteSemantics.BEST_EFFORT_RELEASE:
                reason, message = self._reason(resource, error, config.failure_reason)
                self._event(resource, "Warning", reason, message)
                return None
            taxonomy = config.delete_taxonomy or config.taxonomy
            return self._failed(resource, error, taxonomy, config.failure_reason)
        return None

    # --- failures ------------------------------------------------------------------------

    def _reason(self, resource: Resource, error: Exception, fallback: str) -> tuple[str, str]:
        known = self._config.explain(error)
        if known is not None:
            return known.reason, known.message
        # An unknown error's own text may quote anything: only its type is shown.
        return fallback, f"{resource.key}: unexpected {type(error).__name__}; see the log"

    def _rule(self, error: Exception, reason: str, taxonomy: Taxonomy) -> Rule:
        known = self._config.explain(error)
        rule = taxonomy.of(reason)
        if known is not None and known.requeue_transient:
            rule = Rule(Disposition.FIXED_REQUEUE)
        if known is not None and known.after is not None:
            rule = Rule(Disposition.FIXED_REQUEUE, known.after)
        return rule

    def _failed(
        self, resource: Resource, error: Exception, taxonomy: Taxonomy, fallback: str
    ) -> Result:
        config = self._config
        if config.passing(resource, error):
            return Result(rate_limited=True, error=error)
        reason, message = self._reason(resource, error, fallback)
        rule = self._rule(error, reason, taxonomy)
        latched = rule.disposition is Disposition.TERMINAL
        degraded = latched or config.conditions.degraded_on_any_error
        self._observe_generation(resource, converged=False, failed=True)
        extra = config.conditions.degraded if degraded else ""
        self._conditions(resource, "False", reason, message, extra)
        self._event(resource, "Warning", reason, message)
        self._write(resource)
        return self._requeue(rule, error)

    def _requeue(self, rule: Rule, error: Exception) -> Result:
        cadences = self._config.cadences
        match rule.disposition:
            case Disposition.TERMINAL:
                after = rule.seconds if rule.seconds is not None else cadences.terminal
                return Result(requeue_after=after or None, terminal=True, error=error)
            case Disposition.FIXED_REQUEUE:
                after = rule.seconds if rule.seconds is not None else cadences.transient
                return Result(requeue_after=after, error=error)
            case Disposition.BACKOFF:
                return Result(rate_limited=True, error=error)

    # --- conditions and status -----------------------------------------------------------

    def _observe_generation(self, resource: Resource, *, converged: bool, failed: bool) -> None:
        policy = self._config.observed_generation
        if (
            converged
            or policy is ObservedGenPolicy.ON_EVERY_PASS
            or (policy is ObservedGenPolicy.ON_ALL_SUCCESS and not failed)
        ):
            resource.status["observedGeneration"] = resource.generation

    def _conditions(
        self, resource: Resource, ready: str, reason: str, message: str, extra: str = ""
    ) -> None:
        """Ready, and beside it `extra` or nothing."""
        self._set(resource, READY, ready, reason, message)
        style = self._config.conditions
        for kind in (style.progressing, style.degraded):
            if kind and kind == extra:
                self._set(resource, kind, "True", reason, message)
            elif kind:
                remove_condition(resource.status, kind)

    def _set(self, resource: Resource, kind: str, value: str, reason: str, message: str) -> None:
        set_condition(
            resource.status,
            kind,
            value,
            reason,
            message,
            generation=resource.generation,
            now=self._config.clock.now(),
        )

    def _write(self, resource: Resource) -> bool:
        if self._config.mirror_status:
            self._config.mirror_status(resource)
        return self._config.status.persist(resource)

    def _event(
        self, resource: Resource, kind: Literal["Normal", "Warning"], reason: str, note: str
    ) -> None:
        if self._config.recorder:
            self._config.recorder(resource, kind, reason, note)
