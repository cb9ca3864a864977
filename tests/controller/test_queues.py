"""The queues of all kinds: who comes first, who comes later, who does not come."""

import random

import pytest

from controller.api import INSTANCE_LABEL, KINDS, LLDAP_GROUP, LLDAP_USER, Kind
from controller.harness.resource import Object
from controller.watching.cache import Cache
from controller.watching.queues import JITTER_SECONDS, Queues
from controller.watching.watching import PRIORITY_CHANGED, PRIORITY_LISTED, PRIORITY_WAITED
from informers import Indexer, Lister
from tests.support.clock import FakeClock
from workqueue import ItemExponential, RateLimitingQueue

USER, GROUP = LLDAP_USER.kind, LLDAP_GROUP.kind


class Some:
    def __init__(self, seed: int = 1) -> None:
        self.clock = FakeClock()
        self.stores = {kind.kind: Indexer() for kind in KINDS}
        listers = {name: Lister(store) for name, store in self.stores.items()}
        self.cache = Cache(listers, Lister(Indexer()))
        made = {
            kind.kind: RateLimitingQueue[str](clock=self.clock, limiter=ItemExponential())
            for kind in KINDS
        }
        self.queues = Queues(made, random.Random(seed))

    def put(self, kind: Kind, name: str, label: str = "default", **status: object) -> None:
        metadata = {"namespace": "a", "name": name, "labels": {INSTANCE_LABEL: label}}
        obj: Object = {"kind": kind.kind, "metadata": metadata, "status": status}
        self.stores[kind.kind].set(f"a/{name}", obj)

    def take(self, kind: str) -> list[tuple[str, int]]:
        taken = []
        while (item := self.queues[kind].try_get()) is not None:
            taken.append((item.key, item.priority))
            self.queues[kind].done(item.key)
        return taken


@pytest.fixture
def some() -> Some:
    return Some()


def test_a_key_goes_to_the_queue_of_its_kind(some: Some) -> None:
    some.queues.add(USER, "a/alice", PRIORITY_CHANGED)
    assert some.take(GROUP) == []
    assert some.take(USER) == [("a/alice", PRIORITY_CHANGED)]


def test_all_of_this_instance_come_and_nobody_elses(some: Some) -> None:
    some.put(LLDAP_USER, "alice")
    some.put(LLDAP_USER, "foreign", label="other")
    some.put(LLDAP_USER, "moved", label="other", instance="default")
    some.put(LLDAP_GROUP, "team")
    some.queues.add_all(some.cache, "default")
    assert some.take(USER) == [("a/alice", PRIORITY_LISTED), ("a/moved", PRIORITY_LISTED)]
    assert some.take(GROUP) == [("a/team", PRIORITY_LISTED)]


def test_G07_a_resync_stands_behind_what_a_person_changed(some: Some) -> None:
    for name in ("alice", "bob", "carol"):
        some.put(LLDAP_USER, name)
    some.queues.add(USER, "a/carol", PRIORITY_CHANGED)
    some.queues.add_all(some.cache, "default")
    assert [key for key, _ in some.take(USER)] == ["a/carol", "a/alice", "a/bob"]


def test_who_waited_for_lldap_comes_back_within_a_second_before_what_nobody_changed(
    some: Some,
) -> None:
    waiting = [(kind.kind, f"a/{number}") for number in range(20) for kind in KINDS]
    for kind in KINDS:
        for number in range(25):
            some.put(kind, str(number))
    some.queues.add_waiting(waiting)
    some.queues.add_all(some.cache, "default", but=set(waiting))
    for kind in KINDS:
        assert some.take(kind.kind) == [(f"a/{n}", PRIORITY_LISTED) for n in range(20, 25)]
    some.clock.advance(JITTER_SECONDS)
    for kind in KINDS:
        assert some.take(kind.kind) == [(f"a/{n}", PRIORITY_WAITED) for n in range(20)]


def test_two_operators_do_not_come_back_to_lldap_at_one_moment() -> None:
    dues = set()
    for seed in range(20):
        some = Some(seed)
        some.queues.add_waiting([(USER, "a/alice"), (GROUP, "a/team")])
        due = some.queues[USER].next_due()
        assert due == some.queues[GROUP].next_due()
        dues.add(due)
    assert len(dues) == 20


def test_once_shut_down_nothing_is_taken_in(some: Some) -> None:
    assert some.queues.idle()
    some.queues.add(USER, "a/alice", 0)
    assert not some.queues.idle()
    some.queues.shut_down()
    some.queues.add(USER, "a/bob", 0)
    assert [key for key, _ in some.take(USER)] == ["a/alice"]
    assert some.queues.idle()
