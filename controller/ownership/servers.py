"""Which lldap this process wrote into the objects, and whether somebody else writes another."""

import threading
from collections.abc import Callable

from controller.harness.finalizers import StaleObject, reread
from controller.harness.resource import Resource
from controller.kube import Kube


class Servers:
    """Finds two operators of one instance that serve different lldaps. Any thread.

    An object whose status.server is another than the one that this process wrote there is
    another operator's by now: this one leaves it alone. Before the first write of this process
    another server only voids what is recorded. `server` gives the server that is ours now.
    """

    def __init__(self, kube: Kube, server: Callable[[], str | None]) -> None:
        self._kube = kube
        self._server = server
        self._lock = threading.Lock()  # guards _written and _told
        self._written: dict[str, str] = {}  # by uid of the object
        self._told: set[str] = set()

    def note(self, resource: Resource, error: BaseException | None) -> None:
        """A status was written, or not: see OnStatusWrite."""
        server = resource.recorded.get("server")
        if error is None and server is not None and server == self._server():
            with self._lock:
                self._written[resource.uid] = server
                self._told.discard(resource.uid)

    def contested(self, resource: Resource) -> bool:
        """Whether somebody else wrote another server after this process wrote its own.

        The informer may be behind our own write, so the API server is asked before that is said.
        Raises StaleObject if it was behind, ObjectGone, and what the REST client raises.
        """
        if not self._differs(resource):
            return False
        reread(self._kube, resource)
        if not self._differs(resource):
            raise StaleObject
        return True

    def _differs(self, resource: Resource) -> bool:
        with self._lock:
            written = self._written.get(resource.uid)
        return written is not None and resource.recorded.get("server") not in {None, written}

    def tell_once(self, resource: Resource) -> bool:
        """Whether this is the first time that the object is found contested."""
        with self._lock:
            known = resource.uid in self._told
            self._told.add(resource.uid)
        return not known

    def forget(self, uid: str) -> None:
        """The object is gone."""
        with self._lock:
            self._written.pop(uid, None)
            self._told.discard(uid)
