"""From what reconcilers tell to events of Kubernetes."""

from typing import Protocol

from controller.api import API_VERSION
from controller.eventseries import EventType, ObjectReference
from controller.resource import Resource


class Recorder(Protocol):
    """What is needed of an EventRecorder."""

    def event(
        self, reference: ObjectReference, kind: EventType, reason: str, action: str, note: str
    ) -> None:
        """See EventRecorder.event."""
        ...


class ObjectEvents:
    """Implements controller.events.Events. Any thread; never blocks, never fails."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

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
