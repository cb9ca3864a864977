"""Namespaces that are deleted with all that is in them, and that come again."""

import random
from typing import Any

import pytest

from controller.api import KINDS
from controller.events.objectevents import ObjectEvents
from controller.events.recorder import EventRecorder
from informers import RestClient
from sandbox.apiserver.transport import InProcessTransport
from tests.support.bed import Bed
from tests.support.directory import Directory

PEOPLE = [f"person-{n}" for n in range(6)]
GROUPS = [f"group-{n}" for n in range(4)]
PAIRS = [(person, GROUPS[n % 4]) for n, person in enumerate(PEOPLE)] + [("person-0", "group-3")]
ATTRIBUTES = ["badge", "room", "floor"]


def fill(bed: Bed, policy: str) -> None:
    """Twenty objects of all kinds."""
    for name in ATTRIBUTES:
        bed.schema(name, deletionPolicy=policy)
    for name in PEOPLE:
        badge = [{"name": "badge", "value": [name]}]
        bed.user(name, deletionPolicy=policy, attributes=badge)
    for name in GROUPS:
        bed.group(name, deletionPolicy=policy)
    for user, group in PAIRS:
        bed.membership(user, group, deletionPolicy=policy)


def left(bed: Bed, namespace: str = "team-a") -> list[str]:
    return [
        f"{kind.kind} {obj['metadata']['name']}"
        for kind in KINDS
        for obj in bed.admin.get(bed.path(kind.kind, namespace))["items"]
    ]


def remove_namespace(bed: Bed, name: str = "team-a") -> None:
    """As kubectl and the namespace controller do: nothing can be made in there any more."""
    bed.admin.delete(f"/api/v1/namespaces/{name}")
    for kind in KINDS:
        bed.admin.delete(bed.path(kind.kind, name))


def sending_events(bed: Bed, counts: list[str]) -> EventRecorder:
    """Start an operator whose events are sent to the API server."""
    recorder = EventRecorder(
        RestClient(InProcessTransport(bed.api, user="operator"), call_seconds=8.0),
        clock=bed.clock,
        rng=random.Random(1),
        controller="lldap-operator.example",
        instance="pod-1",
        count=counts.append,
    )
    bed.start(events=ObjectEvents(recorder))
    return recorder


@pytest.mark.parametrize("policy", ["Delete", "Retain"])
def test_E06_a_namespace_goes_though_no_event_can_be_written_into_it(policy: str) -> None:
    bed = Bed()
    counts: list[str] = []
    recorder = sending_events(bed, counts)
    fill(bed, policy)
    bed.run(40)
    assert len(left(bed)) == 20
    for _ in range(200):
        recorder.step()
    assert "failed" not in counts
    before = content(bed)
    remove_namespace(bed)
    bed.run(50)
    for _ in range(200):
        bed.clock.advance(1)
        recorder.step()
    assert "failed" in counts  # the events of the deletions were refused, and nothing waited
    assert left(bed) == []
    assert content(bed) == (before if policy == "Retain" else (set(), {}, set()))


def content(bed: Bed) -> tuple[set[str], dict[str, set[str]], set[str]]:
    """People, groups with their members, and attributes that the objects made."""
    directory = Directory(bed)
    people = {name for name in PEOPLE if directory.has_user(name)}
    groups = {name: directory.members(name) for name in GROUPS if directory.has_group(name)}
    dump = directory.dump()
    return people, groups, {name for name in ATTRIBUTES if f"user attribute {name}" in dump}


def test_E07_a_watched_namespace_goes_and_its_namesake_is_served() -> None:
    bed = Bed(namespaces=frozenset({"team-a", "team-b", "lldap-system"}))
    fill(bed, "Delete")
    bed.user("other", "team-b")
    bed.run(40)
    uids = uids_of(bed)
    remove_namespace(bed)
    bed.run(50)
    assert left(bed) == []
    assert content(bed) == (set(), {}, set())
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}
    bed.admin.post("/api/v1/namespaces", body)
    fill(bed, "Delete")
    bed.run(40)
    assert len(left(bed)) == 20
    assert not uids & uids_of(bed)
    assert {bed.ready(*each.split()) for each in left(bed)} == {("True", "Verified")}
    assert bed.ready("LldapUser", "other", "team-b") == ("True", "Verified")


def uids_of(bed: Bed) -> set[Any]:
    return {bed.get(*each.split())["metadata"]["uid"] for each in left(bed)}
