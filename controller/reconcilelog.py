"""What of a reconcile is only in the log: failures that cannot be shown on the object."""

import logging
from collections.abc import Callable

from controller.log import with_fields
from controller.outcome import Result
from informers import ApiFailure

_LOG = logging.getLogger("controller.reconcile")

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
