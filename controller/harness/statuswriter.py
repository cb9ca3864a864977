"""Writes a status: the whole of ours, only when it changed, never over a newer object."""

from collections.abc import Callable

from controller.api import READY
from controller.api.names import CONDITION_TYPES
from controller.harness.conditions import find
from controller.harness.finalizers import ObjectGone, StaleObject, reread
from controller.harness.resource import Object, Resource
from controller.kube import Kube
from informers import ApiFailure, StatusError, StatusKind

OnStatusWrite = Callable[[Resource, BaseException | None], None]


def ours(status: Object) -> Object:
    """What the operator applies: its fields and its conditions, not those of others."""
    conditions = [c for c in status.get("conditions") or [] if c.get("type") in CONDITION_TYPES]
    rest = {k: v for k, v in status.items() if k != "conditions" and v is not None}
    return {**rest, "conditions": conditions} if conditions else rest


class StatusWriter:
    """Server-side apply of statuses. Any thread.

    `on_status_write` observes the result of every write: None, or the error.
    """

    def __init__(self, kube: Kube, on_status_write: OnStatusWrite | None = None) -> None:
        self._kube = kube
        self._observe = on_status_write or (lambda _resource, _error: None)

    def persist(self, resource: Resource) -> bool:
        """Write the draft of the status if it differs from what the server has.

        A conflict refreshes what the write was computed against and sends it once more, if the
        object is still the same generation of the same object: fields that the caller set stay.
        Raises ObjectGone, StaleObject and what the REST client raises.
        """
        if resource.status == resource.recorded:  # most passes find nothing to do
            return False
        wanted = ours(resource.status)
        if wanted == ours(resource.recorded):
            return False
        self._observed(resource, wanted)
        return True

    def clear(self, resource: Resource) -> None:
        """Give back all of our status. Fields that others own stay."""
        if resource.recorded:
            self._observed(resource, None)
        resource.status = {}

    def _observed(self, resource: Resource, wanted: Object | None) -> None:
        try:
            self._apply(resource, wanted)
        except Exception as error:
            self._observe(resource, error)
            raise
        self._observe(resource, None)

    def _apply(self, resource: Resource, wanted: Object | None) -> None:
        for last in (False, True):
            try:
                resource.refreshed(self._kube.apply_status(resource, wanted))
            except StatusError as error:
                if error.kind is StatusKind.NOT_FOUND:
                    raise ObjectGone from None
                if error.kind is not StatusKind.CONFLICT:
                    raise
                if last:
                    raise StaleObject from None
            else:
                return
            reread(self._kube, resource)


def status_update_best_effort(
    writer: StatusWriter, resource: Resource
) -> ApiFailure | StaleObject | None:
    """`persist` beside something that matters more, a failure that is to be reported.

    What went wrong with the write is given back instead of raised, but for ObjectGone: then
    nothing is to be reported.
    """
    try:
        writer.persist(resource)
    except (StaleObject, ApiFailure) as error:
        return error
    return None


def is_ready(obj: Object) -> bool:
    """Whether the object's Ready condition says True for the generation that it has."""
    ready = find(obj.get("status") or {}, READY)
    return (
        ready is not None
        and ready.get("status") == "True"
        and ready.get("observedGeneration") == obj["metadata"].get("generation")
    )
