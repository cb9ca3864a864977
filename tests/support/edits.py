"""Edits of objects that are about the operator itself: pauses, labels; and what came of them."""

from controller.api import INSTANCE_LABEL, PAUSED_ANNOTATION
from controller.harness.resource import Object
from informers import PatchType, RawResponse
from tests.support.bed import Bed
from tests.support.kubebed import on_write


def annotate(bed: Bed, kind: str, name: str, **annotations: str | None) -> None:
    bed.admin.patch(
        bed.path(kind, "team-a", name),
        {"metadata": {"annotations": annotations}},
        content_type=PatchType.MERGE,
    )


def pause(bed: Bed, kind: str, name: str) -> None:
    annotate(bed, kind, name, **{PAUSED_ANNOTATION: "true"})
    bed.settle()


def go_on(bed: Bed, kind: str, name: str) -> None:
    annotate(bed, kind, name, **{PAUSED_ANNOTATION: None})
    bed.settle()


def relabel(bed: Bed, name: str, label: str | None, kind: str = "LldapUser") -> None:
    bed.admin.patch(
        bed.path(kind, "team-a", name),
        {"metadata": {"labels": {INSTANCE_LABEL: label}}},
        content_type=PatchType.MERGE,
    )
    bed.settle()


def refuse_statuses(bed: Bed, answer: RawResponse | Exception) -> None:
    """From now on the API server takes no status of the operator."""
    bed.api_transport.before = on_write(answer, part="/status")


def take_statuses(bed: Bed) -> None:
    """The API server does what it is asked."""
    bed.api_transport.before = lambda _call: None
    bed.api_transport.after = lambda _call, _status: None


def status_writes(bed: Bed) -> int:
    return sum(path.endswith("/status") for _, path in bed.api_writes())


def merge(bed: Bed, change: Object, name: str = "alice") -> None:
    """A merge patch of a user."""
    path = bed.path("LldapUser", "team-a", name)
    bed.admin.patch(path, change, content_type=PatchType.MERGE)


def condition(bed: Bed, name: str = "alice") -> Object:
    """The whole Ready condition of a user."""
    conditions = bed.get("LldapUser", name)["status"]["conditions"]
    found: Object = next(c for c in conditions if c["type"] == "Ready")
    return found
