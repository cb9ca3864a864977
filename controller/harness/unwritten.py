"""What was done for an object while its status could not be written."""

import threading

from controller.harness.finalizers import ObjectGone
from controller.harness.resource import Object, Resource, record


class Unwritten:
    """Records that the API server did not take: the object had changed, or the server failed.

    Any thread. By uid of the object, until one of its statuses is written or it is gone. Only of
    passes that may have changed lldap: what another one saw gives its object no right to anything.
    A process that ends takes them with it: the next one knows only what lldap and the status say.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _records
        self._records: dict[str, Object] = {}

    def note(self, resource: Resource, error: BaseException | None) -> None:
        """The status of a pass was written, or not: see OnStatusWrite."""
        lost = error is not None and not isinstance(error, ObjectGone)
        did = resource.acted or resource.unwritten is not None
        draft = record(resource.status) if lost and did else None
        if draft is None or draft == record(resource.written):
            self.forget(resource.uid)
        else:
            with self._lock:
                self._records[resource.uid] = draft

    def restore(self, resource: Resource) -> None:
        """Have the pass that begins go on from what is kept for its object."""
        with self._lock:
            kept = self._records.get(resource.uid)
        if kept is not None:
            resource.restored(kept)

    def forget(self, uid: str) -> None:
        """Nothing is to be kept for the object."""
        with self._lock:
            self._records.pop(uid, None)
