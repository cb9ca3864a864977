"""From what reconcilers tell to events of Kubernetes and lines of the log."""

import logging
import threading
from collections import OrderedDict
from typing import Final, Protocol

from controller.api import API_VERSION
from controller.events.eventseries import EventType, ObjectReference
from controller.harness.resource import Resource
from controller.log import with_fields

_LOG = with_fields(logging.getLogger("controller.objects"))
_LEVELS: Final = {"Normal": logging.INFO, "Warning": logging.WARNING}

MAX_SAID: Final = 20_000
"""Objects of which the last warning is remembered."""


class Recorder(Protocol):
    """What is needed of an EventRecorder."""

    def event(
        self, reference: ObjectReference, kind: EventType, reason: str, action: str, note: str
    ) -> None:
        """See EventRecorder.event."""
        ...


class ObjectEvents:
    """Implements controller.events.events.Events. Any thread; never blocks, never fails.

    Every event is also a line of the log, but for a warning that repeats the one before it.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._lock = threading.Lock()  # guards _said
        self._said: OrderedDict[str, str] = OrderedDict()  # the last warning by uid; latest last

    def normal(self, resource: Resource, reason: str, note: str) -> None:
        """Something was done."""
        self.record(resource, "Normal", reason, note)

    def warning(self, resource: Resource, reason: str, note: str) -> None:
        """Something that a person should look at."""
        self.record(resource, "Warning", reason, note)

    def record(self, resource: Resource, kind: EventType, reason: str, note: str) -> None:
        """The harness's Recorder. What is done is named by the reason."""
        reference = ObjectReference(
            API_VERSION,
            resource.kind,
            resource.namespace,
            resource.name,
            resource.uid,
            resource.resource_version,
        )
        self._recorder.event(reference, kind, reason, reason, note)
        if self._is_news(resource.uid, kind, note):
            _log(resource, kind, reason, note)

    def _is_news(self, uid: str, kind: EventType, note: str) -> bool:
        """What was done is; a warning is unless it was the last word about the object."""
        with self._lock:
            known = self._said.pop(uid, None)
            if kind == "Warning":
                self._said[uid] = note
            if len(self._said) > MAX_SAID:
                self._said.popitem(last=False)
        return known != note or kind == "Normal"


def _log(resource: Resource, kind: EventType, reason: str, note: str) -> None:
    fields = {
        "kind": resource.kind,
        "namespace": resource.namespace,
        "name": resource.name,
        "reason": reason,
    }
    _LOG.log(_LEVELS[kind], "%s %s: %s", resource.kind, resource.key, note, fields=fields)
