"""Streams recorded from kube-apiserver 1.37, played through decoder, reflector and store."""

import json
from typing import Any

import orjson
import pytest

from informers.watchstream import RestWatchStream
from tests.informers.faketransport import Bytes
from tests.informers.scripted import Rig, ScriptedListWatch, page
from tests.informers.test_refusals import RECORDINGS

NOT_OURS = {"watch: Table", "watch: yaml Accept"}
"""We never ask for these."""

WATCHES: dict[str, list[Any]] = {
    exchange["case"]: [piece["event"] for piece in exchange["body"]["stream"]]
    for exchange in json.loads(RECORDINGS.read_text())
    if isinstance(exchange["body"], dict) and "stream" in exchange["body"]
    if exchange["case"] not in NOT_OURS
}


LIFE = "watch: from a resourceVersion, no bookmarks; create"


class Recorded(ScriptedListWatch):
    """An empty list, then the recorded stream."""

    def __init__(self, events: list[Any]) -> None:
        super().__init__([page(1), page(9999)])
        self.data = b"".join(orjson.dumps(event) + b"\n" for event in events)

    def watch(self, resource_version: str, timeout_seconds: int) -> RestWatchStream:  # type: ignore[override]
        self._called("WATCH", resource_version, timeout_seconds)
        pieces = [self.data[i : i + 1000] for i in range(0, len(self.data), 1000)]
        self.data = b""
        return RestWatchStream(Bytes([*pieces, *[None] * 9999]))


def expected(events: list[Any]) -> dict[str, str]:
    """Name to version of what is there after the events."""
    state: dict[str, str] = {}
    for kind, obj in ((event["type"], event["object"]) for event in events):
        metadata = obj.get("metadata", {})
        if kind in {"ADDED", "MODIFIED"} and metadata.get("name"):
            state[metadata["name"]] = metadata["resourceVersion"]
        elif kind == "DELETED":
            state.pop(metadata.get("name"), None)
    return state


def test_there_are_recordings_of_every_type_of_event() -> None:
    types = {event.get("type") for events in WATCHES.values() for event in events}
    assert {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"} <= types


@pytest.mark.parametrize("case", WATCHES)
def test_a_recorded_stream_leaves_what_it_says(case: str) -> None:
    events = [event for event in WATCHES[case] if "type" in event]
    errors = [event for event in events if event["type"] == "ERROR"]
    rig = Rig(Recorded(events))
    for _ in range(len(events) + 3):
        rig.reflector.step()
    if errors:
        assert isinstance(rig.last_error(), Exception)
        assert len(rig.store) == 0
        return
    found = {o["metadata"]["name"]: o["metadata"]["resourceVersion"] for o in rig.store.list()}
    assert found == expected(events)
    last = [event["object"]["metadata"].get("resourceVersion") for event in events][-1:]
    if last and last[0]:
        assert rig.reflector.last_sync_rv == last[0]
    assert rig.last_error() is None


def test_the_recorded_deletion_carries_the_version_of_the_deletion() -> None:
    events = next(events for case, events in WATCHES.items() if case.startswith(LIFE))
    rig = Rig(Recorded(events))
    for _ in range(len(events) + 2):
        rig.reflector.step()
    kinds = [told[0] for told in rig.told]
    assert kinds == ["add", "update", "update", "update", "update", "delete"]
    assert rig.told[-1][3] is False
