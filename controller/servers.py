"""Which lldap this process wrote into the objects, and whether somebody else writes another."""

import threading
from collections.abc import Callable

from controller.finalizers import StaleObject, reread
from controller.kube import Kube
from controller.resource import Resource


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
        self._written: dict[tuple[str, str], tuple[str, str]] = {}  # kind, key -> uid, server
        self._told: set[tuple[str, str]] = set()

    def note(self, resource: Resource, error: BaseException | None) -> None:
        """A status was written, or not: see OnStatusWrite."""
        server = resource.recorded.get("server")
        if error is None and server is not None and server == self._server():
            with self._lock:
                self._written[_key(resource)] = (resource.uid, server)
                self._told.discard(_key(resource))

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
            uid, written = self._written.get(_key(resource), ("", ""))
        return uid == resource.uid and resource.recorded.get("server") not in {
            None,
            written,
            self._server(),
        }

    def tell_once(self, resource: Resource) -> bool:
        """Whether this is the first time that the object is found contested."""
        with self._lock:
            known = _key(resource) in self._told
            self._told.add(_key(resource))
        return not known

    def forget(self, kind: str, key: str) -> None:
        """The object is gone."""
        with self._lock:
            self._written.pop((kind, key), None)
            self._told.discard((kind, key))


def _key(resource: Resource) -> tuple[str, str]:
    return resource.kind, resource.key
