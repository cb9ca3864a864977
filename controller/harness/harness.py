"""The lifecycle of one pass over one object, the same for every kind.

deletion (by policy) → finalizer → dry-run → resolve the client → converge → conditions and
status → requeue. A handler never sets Ready: the harness does, and True only on a converged
outcome, so that nobody can publish it while work is in flight.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Generic

from controller.api import READY, DeletionPolicy
from controller.election.leadership import NotLeader
from controller.harness.conditions import (
    bounded,
    mark_degraded,
    ready_false,
    ready_of,
    ready_true,
    remove_condition,
    seconds_since,
    set_condition,
)
from controller.harness.finalizers import (
    ObjectGone,
    StaleObject,
    ensure_finalizer,
    remove_finalizer,
    should_process_deletion,
)
from controller.harness.handler import (
    CleanupHandler,
    DeletionPolicyProvider,
    DryRunDeletion,
    Handler,
)
from controller.harness.harnessconfig import (
    C,
    DeleteSemantics,
    EventType,
    HarnessConfig,
    ObservedGenPolicy,
)
from controller.harness.outcome import AT_ONCE, DONE, LATER, Outcome, Result
from controller.harness.reasoned import UNTIL_WOKEN, ReasonedError, fail
from controller.harness.resource import Resource
from controller.harness.statuswriter import status_update_best_effort
from controller.harness.taxonomy import Disposition, Rule, Taxonomy
from informers import ApiFailure, StatusError

_LOG = logging.getLogger("controller.harness.harness")

# They end a pass and are no failures of its object.
_ENDED = (ObjectGone, StaleObject, NotLeader)


class Harness(Generic[C]):
    """Runs handlers by one configuration. Any thread, one thread an object.

    What can happen to an object becomes a Result; nothing is raised.
    """

    def __init__(self, config: HarnessConfig[C]) -> None:
        self._config = config
        delete_taxonomy = config.delete_taxonomy or Taxonomy({})
        self._delete_taxonomy = config.taxonomy.overridden_by(delete_taxonomy)

    def run(self, resource: Resource, handler: Handler[C]) -> Result:
        """One pass."""
        lifecycle = self._delete if resource.deleting else self._apply
        return self.guarded(resource, lambda: lifecycle(resource, handler))

    def guarded(self, resource: Resource, work: Callable[[], Result]) -> Result:
        """Work on an object that writes to the API server; what that answers is dealt with."""
        try:
            return work()
        except ObjectGone:
            return DONE
        except (StaleObject, NotLeader):
            return LATER
        except ApiFailure as error:
            return self._unwritten(resource, error)

    def hold(self, resource: Resource, reason: str, message: str) -> Result:
        """Nothing is done for the object, and Ready says why.

        Whether it is True stays, and for which generation: nobody has looked. In a dry run
        nobody had looked before either: then it stays for no generation.
        """
        ready = ready_of(resource.status)
        looked = ready.get("reason") != self._config.dry_run_reason
        set_condition(
            resource,
            READY,
            ready.get("status", "Unknown"),
            reason,
            message,
            now=self._config.clock.now,
            generation=ready.get("observedGeneration", 0) if looked else 0,
        )
        self._write(resource)
        return DONE

    def refuse(self, resource: Resource, error: Exception, *, told: bool = True) -> Result:
        """The object gets no pass; `told`: in an event as well."""
        return self._failed(resource, error, self._config.taxonomy, told=told)

    # --- create and update ---------------------------------------------------------------

    def _apply(self, resource: Resource, handler: Handler[C]) -> Result:
        config = self._config
        try:
            if handler.finalizer:
                added = ensure_finalizer(config.kube, resource, handler.finalizer)
                if added and config.requeue_on_finalizer_add:
                    return AT_ONCE  # nobody else asks for it: the echo of our write makes no work
            if self._dry_run(resource):
                return self._plan(resource, handler)
            outcome = handler.converge(resource, self._resolve(resource))
        except _ENDED:
            raise
        except Exception as error:  # noqa: BLE001 - every failure ends on the object
            return self._failed(resource, error, config.taxonomy)
        return self._came_out(resource, outcome)

    def _resolve(self, resource: Resource) -> C:
        try:
            return self._config.resolve(resource)
        except _ENDED:
            raise
        except Exception as error:
            known = self._config.explain(error)
            if known is not None and known.reason in self._config.taxonomy:
                raise
            message = known.message if known else f"{resource.key}: no client could be made"
            raise fail(self._config.resolve_failure_reason, message) from error

    def _came_out(self, resource: Resource, outcome: Outcome) -> Result:
        config = self._config
        self._observe_generation(resource, converged=outcome.converged, failed=False)
        self._conditions(
            resource,
            outcome.reason,
            outcome.message,
            ready=outcome.converged,
            progressing=not outcome.converged,
        )
        if outcome.converged and config.stamp_success:
            config.stamp_success(resource)
        self._write(resource)
        if outcome.requeue_after is not None:
            return Result(requeue_after=outcome.requeue_after)
        cadence = config.cadences.ready if outcome.converged else config.cadences.progressing
        return Result(requeue_after=cadence or None)

    # --- dry run -------------------------------------------------------------------------

    def _dry_run(self, resource: Resource) -> bool:
        annotation = self._config.dry_run_annotation
        return bool(annotation) and resource.asks_for(annotation)

    def _plan(self, resource: Resource, handler: Handler[C]) -> Result:
        """Say what would be done, or why nothing could be."""
        try:
            plan = handler.plan(resource, self._resolve(resource))
        except _ENDED:
            raise
        except Exception as error:  # noqa: BLE001 - every failure ends on the object
            failure = self._explained(resource, error)
            would = f"it would fail: {failure.reason}: {failure.message}"
            self._show_dry_run(resource, would)
            rule = self._rule(failure, self._config.taxonomy)
            return replace(self._requeue(rule, error), error=None, terminal=False)
        would = f"would do: {'; '.join(plan) or 'nothing'}"
        return self._show_dry_run(resource, would)

    def _show_dry_run(self, resource: Resource, words: str) -> Result:
        end = f"Remove the annotation {self._config.dry_run_annotation} to let it happen"
        message = f"dry-run: {words}. {end}"
        self._observe_generation(resource, converged=False, failed=False)
        self._conditions(resource, self._config.dry_run_reason, message, ready=True)
        if self._write(resource):
            self._event(resource, "Normal", self._config.dry_run_reason, message)
        return Result(requeue_after=self._config.cadences.ready or None)

    # --- deletion ------------------------------------------------------------------------

    def _delete(self, resource: Resource, handler: Handler[C]) -> Result:
        if not should_process_deletion(resource, handler.finalizer):
            return DONE
        try:
            if not self._dry_run(resource):
                self._undo(resource, handler)
            elif self._held_by_dry_run(resource, handler):
                would = "would delete what the object owns; the deletion waits for that"
                return self._show_dry_run(resource, would)
            remove_finalizer(self._config.kube, resource, handler.finalizer)
        except _ENDED:
            raise
        except Exception as error:  # noqa: BLE001 - every failure ends on the object
            return self._failed(resource, error, self._delete_taxonomy)
        return DONE

    def _policy(self, resource: Resource, handler: Handler[C]) -> DeletionPolicy:
        if isinstance(handler, DeletionPolicyProvider):
            return handler.deletion_policy(resource)
        return DeletionPolicy.DELETE

    def _held_by_dry_run(self, resource: Resource, handler: Handler[C]) -> bool:
        """Whether going on would delete something: then nothing happens, and the object waits."""
        if self._policy(resource, handler) is DeletionPolicy.RETAIN:
            return False
        self._resolve(resource)  # what it owns is not known while there is no client
        owns = handler.owns(resource) if isinstance(handler, DryRunDeletion) else True
        return owns and not self._config.uninstalling(resource)

    def _undo(self, resource: Resource, handler: Handler[C]) -> None:
        """Delete in the remote system, if that is meant, and tidy up. Raising holds the object."""
        if self._policy(resource, handler) is DeletionPolicy.DELETE:
            try:
                handler.delete(resource, self._resolve(resource))
            except _ENDED:
                raise
            except Exception as error:
                if self._config.deletion is DeleteSemantics.HOLD_UNTIL_SUCCESS:
                    raise
                failure = self._explained(resource, error)
                self._event(resource, "Warning", failure.reason, failure.message)
        if isinstance(handler, CleanupHandler):
            handler.cleanup(resource)

    # --- failures ------------------------------------------------------------------------

    def _explained(self, resource: Resource, error: Exception) -> ReasonedError:
        known = self._config.explain(error)
        if known is not None:
            return known
        # An unknown error's own text may quote anything: only its type is shown.
        _LOG.error("%s %s: an unexpected error", resource.kind, resource.key, exc_info=error)
        text = f"{resource.key}: unexpected {type(error).__name__}; see the log"
        return fail(self._config.failure_reason, text)

    def _failed(
        self, resource: Resource, error: Exception, taxonomy: Taxonomy, *, told: bool = True
    ) -> Result:
        if self._config.passing(resource, error):
            return _quietly(error)
        failure = self._explained(resource, error)
        rule = self._rule(failure, taxonomy)
        self._observe_generation(resource, converged=False, failed=True)
        latched = rule.disposition is Disposition.TERMINAL
        self._conditions(resource, failure.reason, failure.message, ready=False, degraded=latched)
        before = resource.raw
        unwritten = self._write_best_effort(resource)
        news = resource.raw is not before
        told = told and self._has_lasted(resource, failure.reason)
        if told and (news or rule.seconds != UNTIL_WOKEN):
            self._event(resource, "Warning", failure.reason, failure.message)
        if unwritten is None:
            return self._requeue(rule, error)
        return replace(self._unwritten(resource, unwritten), error=error)

    def _has_lasted(self, resource: Resource, reason: str) -> bool:
        """Whether the object is not Ready for longer than is ordinary for the reason."""
        patience = self._config.patience.get(reason)
        if patience is None:
            return True
        since = ready_of(resource.status).get("lastTransitionTime")
        return seconds_since(since, self._config.clock.now) >= patience

    def _unwritten(self, resource: Resource, error: ApiFailure | StaleObject) -> Result:
        """The API server did not take a write of ours, so that no status can say it."""
        if isinstance(error, StaleObject):
            return LATER
        if self._config.passing(resource, error):
            return _quietly(error)
        failure = self._explained(resource, error)
        self._event(resource, "Warning", failure.reason, failure.message)
        return self._requeue(self._config.taxonomy.of(failure.reason), error)

    def _rule(self, failure: ReasonedError, taxonomy: Taxonomy) -> Rule:
        if failure.after is not None:
            return Rule(Disposition.FIXED_REQUEUE, failure.after)
        if failure.requeue_transient:
            return Rule(Disposition.FIXED_REQUEUE)
        return taxonomy.of(failure.reason)

    def _requeue(self, rule: Rule, error: Exception) -> Result:
        cadences = self._config.cadences
        match rule.disposition:
            case Disposition.BACKOFF:
                return Result(rate_limited=True, error=error)
            case Disposition.TERMINAL:
                after = cadences.terminal if rule.seconds is None else rule.seconds
                return Result(requeue_after=after or None, terminal=True, error=error)
            case Disposition.FIXED_REQUEUE:
                after = cadences.transient if rule.seconds is None else rule.seconds
                return Result(requeue_after=None if after == UNTIL_WOKEN else after, error=error)

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
        self,
        resource: Resource,
        reason: str,
        message: str,
        *,
        ready: bool,
        progressing: bool = False,
        degraded: bool = False,
    ) -> None:
        """Ready, and what stands beside it."""
        now, style = self._config.clock.now, self._config.conditions
        (ready_true if ready else ready_false)(resource, reason, message, now=now)
        if progressing and style.emit_progressing:
            set_condition(resource, style.emit_progressing, "True", reason, message, now=now)
        else:
            remove_condition(resource, style.emit_progressing)
        if degraded and style.emit_degraded:
            mark_degraded(resource, style.emit_degraded, reason, message, now=now)
        else:
            remove_condition(resource, style.emit_degraded)

    def _write(self, resource: Resource) -> bool:
        if self._config.mirror_status:
            self._config.mirror_status(resource)
        return self._config.status.persist(resource)

    def _write_best_effort(self, resource: Resource) -> ApiFailure | StaleObject | None:
        if self._config.mirror_status:
            self._config.mirror_status(resource)
        return status_update_best_effort(self._config.status, resource)

    def _event(self, resource: Resource, kind: EventType, reason: str, note: str) -> None:
        if self._config.recorder:
            self._config.recorder(resource, kind, reason, bounded(note))


def _quietly(error: Exception) -> Result:
    """Try again without a word: after the back-off, or when the API server asks for it."""
    asked = error.retry_after if isinstance(error, StatusError) else None
    return Result(requeue_after=asked, rate_limited=asked is None, error=error)
