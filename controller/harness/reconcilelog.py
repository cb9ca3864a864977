"""What of a reconcile is only in the log: each pass, and failures that no object can show."""

import logging
from collections.abc import Callable

from controller.harness.conditions import ready_of
from controller.harness.outcome import Result
from controller.harness.resource import Resource
from controller.log import with_fields
from informers import ApiFailure

_LOG = logging.getLogger("controller.reconcile")
_with_fields = with_fields(_LOG)

Reconcile = Callable[[str], Result]


def reported(kind: str, reconcile: Reconcile) -> Reconcile:
    """`reconcile`, whose requests that the API server did not carry out are logged.

    The same failure of one key is logged once, not at each try. Any thread, one thread a key.
    """
    said: dict[str, str] = {}  # by key
    log = with_fields(_LOG, kind=kind)

    def reconcile_and_report(key: str) -> Result:
        result = reconcile(key)
        failure = str(result.error) if isinstance(result.error, ApiFailure) else ""
        if not failure:
            said.pop(key, None)
        elif said.get(key) != failure:
            said[key] = failure
            namespace, _, name = key.partition("/")
            log.warning(
                "%s %s is tried again: %s",
                kind,
                key,
                failure,
                fields={"namespace": namespace, "name": name},
            )
        return result

    return reconcile_and_report


def log_pass(resource: Resource, result: Result) -> None:
    """A line at level debug: the reason on the object and what becomes of it, and no message."""
    if not _LOG.isEnabledFor(logging.DEBUG):
        return
    reason = ready_of(resource.status).get("reason", "none")
    fields = {
        "kind": resource.kind,
        "namespace": resource.namespace,
        "name": resource.name,
        "reason": reason,
    }
    _with_fields.debug(
        "%s %s: reason %s, %s", resource.kind, resource.key, reason, _next(result), fields=fields
    )


def _next(result: Result) -> str:
    error = "" if result.error is None else f"{type(result.error).__name__}, "
    if result.rate_limited:
        return f"{error}again after the back-off"
    if result.requeue_after is None:
        return f"{error}again when something happens"
    return f"{error}again in {result.requeue_after:g} s"
