"""What was made in lldap while no status could say so yet."""

import threading
from dataclasses import dataclass
from typing import Protocol

from controller.harness.resource import Object, Resource


class Fact(Protocol):
    """Something that a pass made for its object."""

    def is_recorded(self, status: Object) -> bool:
        """Whether the status, as the API server has it, says so."""


@dataclass(frozen=True, slots=True)
class MadeAccount:
    """A user or group with this uuid, in which these fields and attributes were set."""

    uuid: str
    names: frozenset[str]

    def is_recorded(self, status: Object) -> bool:
        """See Fact."""
        return status.get("uuid") == self.uuid and "managed" in status


@dataclass(frozen=True, slots=True)
class MadeAttribute:
    """An attribute, in the lldap that this uuid stands for."""

    server: str | None

    def is_recorded(self, status: Object) -> bool:
        """See Fact."""
        return status.get("server") == self.server


class Unrecorded:
    """What this process made for an object, until a status says so. Any thread.

    The status that comes after a creation is not taken if the object was edited meanwhile, or if
    the API server fails. Only what was made counts: what a pass found, or had begun, gives its
    object no right to anything. A process that ends forgets it; the next one knows only what
    lldap and the statuses say.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _facts
        self._facts: dict[tuple[str, str], tuple[str, Fact]] = {}  # by kind and key: uid, fact

    def made(self, resource: Resource, fact: Fact) -> None:
        """It is in lldap now."""
        with self._lock:
            self._facts[resource.kind, resource.key] = (resource.uid, fact)

    def of(self, resource: Resource) -> Fact | None:
        """What was made for the object and is not recorded yet."""
        with self._lock:
            uid, fact = self._facts.get((resource.kind, resource.key), ("", None))
        return fact if uid == resource.uid else None

    def note(self, resource: Resource, error: BaseException | None) -> None:
        """A status was written, or not: see OnStatusWrite."""
        if error is not None:
            return
        fact = self.of(resource)
        if fact is not None and fact.is_recorded(resource.recorded):
            self.forget(resource.kind, resource.key)

    def forget(self, kind: str, key: str) -> None:
        """The object is gone, or not ours any more, or what was made for it is dealt with."""
        with self._lock:
            self._facts.pop((kind, key), None)
