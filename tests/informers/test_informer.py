"""What a store and its handlers see of what a server says."""

import logging
import threading
from typing import Any

import pytest

from informers import Object, SharedInformer, by_namespace, drop_metadata
from tests.informers.scripted import (
    EXPIRED,
    Recorder,
    Rig,
    ScriptedListWatch,
    added,
    deleted,
    modified,
    obj,
    page,
)


def test_the_first_list_is_told_as_initial_and_what_follows_is_not() -> None:
    source = ScriptedListWatch(
        [page(7, obj("a", 5))],
        [[added(obj("b", 8)), modified(obj("a", 9)), deleted(obj("b", 10))]],
    )
    rig = Rig(source)
    rig.settle()
    assert rig.told == [
        ("add", "a/a", "5", True),
        ("add", "a/b", "8", False),
        ("update", "a/a", "5", "9"),
        ("delete", "a/b", "10", False),
    ]
    assert rig.store.keys() == ["a/a"]


def test_the_pages_of_a_list_become_one_state() -> None:
    source = ScriptedListWatch(
        [page(7, obj("a", 5), token="t"), page(7, obj("b", 6), token="u"), page(7, obj("c", 7))]
    )
    rig = Rig(source)
    rig.step(2)
    assert not rig.informer.has_synced()
    assert len(rig.store) == 0
    rig.settle()
    assert rig.informer.has_synced()
    assert sorted(rig.store.keys()) == ["a/a", "a/b", "a/c"]


def test_synced_of_a_handler_is_after_its_last_initial_add() -> None:
    rig = Rig(ScriptedListWatch([page(7, *(obj(f"o{n}", n) for n in range(1, 1500)))]))
    assert not rig.registration.has_synced()
    rig.settle()
    assert rig.informer.has_synced()
    assert not rig.registration.has_synced()
    assert rig.registration.pending == 1499
    assert rig.registration.step() == 0
    assert not rig.registration.has_synced()
    assert rig.registration.step() == float("inf")
    assert rig.registration.has_synced()
    assert len(rig.recorder.told) == 1499


def test_an_empty_first_list_syncs_a_handler_too() -> None:
    rig = Rig(ScriptedListWatch([page(7)]))
    rig.settle()
    assert rig.registration.has_synced()


def test_a_handler_added_before_during_and_after_the_list_is_told_all_once() -> None:
    source = ScriptedListWatch(
        [page(7, obj("a", 5), token="t"), page(7, obj("b", 6))], [[None, added(obj("c", 8))]]
    )
    rig = Rig(source)
    during, after = Recorder(), Recorder()
    rig.step()
    registrations = [rig.informer.add_handler(during)]
    rig.step(3)
    registrations.append(rig.informer.add_handler(after))
    assert not registrations[1].has_synced()
    rig.settle(seconds=1)
    rig.deliver()
    expected = [("add", "a/a", "5", True), ("add", "a/b", "6", True), ("add", "a/c", "8", False)]
    assert rig.recorder.told == during.told == after.told == expected
    assert all(registration.has_synced() for registration in registrations)


def test_a_relist_tells_what_changed_and_nothing_else() -> None:
    source = ScriptedListWatch(
        [
            page(7, obj("gone", 1), obj("same", 2), obj("new", 3)),
            page(9, obj("same", 2), obj("new", 8), obj("more", 9)),
        ],
        [EXPIRED],
    )
    rig = Rig(source)
    rig.step()
    same = rig.store.get("a/same")
    assert same is not None
    rig.settle(seconds=2)
    assert rig.told[3:] == [
        ("delete", "a/gone", "1", True),
        ("update", "a/new", "3", "8"),
        ("add", "a/more", "9", False),
    ]
    assert rig.store.get("a/same") is same


@pytest.mark.parametrize("by_list", [True, False])
def test_another_uid_under_the_name_is_a_deletion_and_an_addition(by_list: bool) -> None:
    second = obj("a", 9, uid="second")
    source = ScriptedListWatch(
        [page(7, obj("a", 5)), page(9, second)], [EXPIRED if by_list else [modified(second)]]
    )
    rig = Rig(source)
    rig.settle(seconds=2)
    assert rig.told[1:] == [("delete", "a/a", "5", True), ("add", "a/a", "9", False)]
    assert rig.store.get("a/a") == second


def test_a_deletion_of_another_uid_ends_what_was_known() -> None:
    source = ScriptedListWatch([page(7, obj("a", 5))], [[deleted(obj("a", 9, uid="second"))]])
    rig = Rig(source)
    rig.settle()
    assert rig.told[1:] == [("delete", "a/a", "5", True)]


def test_add_of_a_known_key_is_an_update_and_update_of_an_unknown_one_an_add() -> None:
    source = ScriptedListWatch(
        [page(7, obj("a", 5))],
        [[added(obj("a", 8)), modified(obj("b", 9)), deleted(obj("c", 10)), modified(obj("b", 9))]],
    )
    rig = Rig(source)
    rig.settle()
    assert rig.told[1:] == [("update", "a/a", "5", "8"), ("add", "a/b", "9", False)]


def test_the_transform_runs_before_storing_and_takes_managed_fields_off() -> None:
    heavy = obj("a", 5)
    heavy["metadata"]["managedFields"] = [{}]
    source = ScriptedListWatch([page(7, heavy)], [[modified(heavy | obj("a", 8))]])
    rig = Rig(source)
    rig.settle()
    assert all("managedFields" not in item["metadata"] for item in rig.store.list())


def test_a_transform_can_take_annotations_off() -> None:
    secret = obj("a", 5)
    secret["metadata"] |= {"annotations": {"x": "y"}, "managedFields": [], "labels": {"l": "m"}}
    rig = Rig(
        ScriptedListWatch([page(7, secret)], [[deleted(secret)]]),
        transform=drop_metadata("annotations", "managedFields"),
    )
    rig.step()
    assert rig.store.list() == [
        {
            "metadata": {
                "name": "a",
                "uid": "uid-a",
                "resourceVersion": "5",
                "namespace": "a",
                "labels": {"l": "m"},
            }
        }
    ]


def test_indexes_are_up_to_date_when_the_handler_is_told() -> None:
    seen: list[object] = []

    class Looker(Recorder):
        def on_add(self, obj: Object, initial: bool) -> None:
            seen.append(
                [o["metadata"]["name"] for o in rig.informer.lister.by_index("uid", "uid-a")]
            )

    rig = Rig(
        ScriptedListWatch([page(7, obj("a", 5))]),
        indexers={"uid": lambda item: [item["metadata"]["uid"]]},
    )
    rig.informer.add_handler(Looker())
    rig.settle()
    rig.deliver()
    assert seen == [["a"]]


def test_whoever_steps_a_handler_is_woken_when_there_is_something_after_nothing() -> None:
    source = ScriptedListWatch(
        [page(7, obj("a", 5))],
        [[added(obj("b", 8)), added(obj("c", 9)), None, added(obj("d", 10))]],
    )
    rig = Rig(source)
    woken: list[int] = []
    rig.registration.on_pending(lambda: woken.append(rig.registration.pending))
    rig.step()
    assert woken == [1]
    rig.step(4)
    assert woken == [1]
    rig.deliver()
    rig.step()
    assert woken == [1, 1]
    rig.registration.on_pending(lambda: woken.append(-1))
    assert woken[-1] == -1


def test_after_stop_nothing_is_told_and_no_handler_joins() -> None:
    rig = Rig(ScriptedListWatch([page(7, obj("a", 5))]))
    rig.settle()
    rig.informer.stop()
    assert rig.told == []
    assert rig.registration.pending == 0
    with pytest.raises(RuntimeError, match="users has been stopped"):
        rig.informer.add_handler(Recorder())


def test_a_handler_may_stop_the_informer_in_the_middle_of_a_batch() -> None:
    class Stopper(Recorder):
        def on_add(self, obj: Object, initial: bool) -> None:
            super().on_add(obj, initial)
            rig.informer.stop()

    rig = Rig(ScriptedListWatch([page(7, obj("a", 5), obj("b", 6))]))
    stopper = Stopper()
    registration = rig.informer.add_handler(stopper)
    rig.settle()
    assert registration.step() == float("inf")
    assert len(stopper.told) == 1


def namespaced(**sources: ScriptedListWatch) -> Rig:
    return Rig(by_namespace(list(sources), lambda namespace: sources[namespace or ""]))


def test_a_relist_of_one_namespace_drops_nothing_of_another() -> None:
    a = ScriptedListWatch([page(7, obj("x", 5), obj("y", 6)), page(9, obj("x", 5))], [EXPIRED])
    b = ScriptedListWatch([page(7, obj("x", 4, namespace="b", uid="other"))])
    rig = namespaced(a=a, b=b)
    rig.settle(seconds=2)
    assert sorted(rig.store.keys()) == ["a/x", "b/x"]
    assert rig.told[-1] == ("delete", "a/y", "6", True)
    assert [item["metadata"]["namespace"] for item in rig.informer.lister.list("b")] == ["b"]


def test_several_namespaces_are_synced_when_all_have_been_listed() -> None:
    a = ScriptedListWatch([page(7, obj("x", 5))])
    b = ScriptedListWatch([page(7, obj("y", 6, namespace="b"))])
    rig = namespaced(a=a, b=b)
    first, second = rig.informer.reflectors
    first.step()
    rig.deliver()
    assert not rig.informer.has_synced()
    assert not rig.registration.has_synced()
    assert rig.informer.last_contact is None
    rig.clock.advance(5)
    second.step()
    assert rig.informer.has_synced()
    assert not rig.registration.has_synced()
    assert rig.told == [("add", "a/x", "5", True), ("add", "b/y", "6", True)]
    assert rig.registration.has_synced()
    assert rig.informer.last_contact == rig.clock.monotonic() - 5


def test_without_namespaces_there_is_one_reflector_of_all() -> None:
    asked: list[str | None] = []

    def make(namespace: str | None) -> ScriptedListWatch:
        asked.append(namespace)
        return ScriptedListWatch([])

    assert len(Rig(by_namespace(None, make)).informer.reflectors) == 1
    assert asked == [None]


@pytest.mark.parametrize("namespaces", [[], ["a", ""]])
def test_no_namespace_at_all_is_refused(namespaces: list[str]) -> None:
    with pytest.raises(ValueError, match="namespaces"):
        by_namespace(namespaces, lambda _: ScriptedListWatch([]))


class Counts:
    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def listed(self, name: str, seconds: float, objects: int) -> None:
        self.told.append(("listed", name, objects))

    def event(self, name: str, event_type: str) -> None:
        self.told.append((event_type, name))

    def failed(self, name: str, error: str) -> None:
        self.told.append(("failed", name, error))

    def handler_failed(self, name: str) -> None:
        self.told.append(("handler_failed", name))


def test_metrics_are_told_of_lists_events_and_failures() -> None:
    class Raiser(Recorder):
        def on_add(self, obj: Object, initial: bool) -> None:
            raise ValueError

    counts = Counts()
    source = ScriptedListWatch([page(7, obj("a", 5)), page(8)], [EXPIRED, [added(obj("b", 9))]])
    rig = Rig(source, metrics=counts)
    rig.informer.add_handler(Raiser(), name="raiser")
    rig.settle(seconds=2)
    rig.deliver()
    assert counts.told == [
        ("listed", "users", 1),
        ("failed", "users", "EXPIRED"),
        ("listed", "users", 0),
        ("ADDED", "users"),
        ("handler_failed", "raiser"),
        ("handler_failed", "raiser"),
    ]


def test_nothing_logged_holds_an_object(caplog: pytest.LogCaptureFixture) -> None:
    class Raiser(Recorder):
        def on_add(self, obj: Object, initial: bool) -> None:
            raise ValueError(obj)

    caplog.set_level(logging.DEBUG)
    secret = obj("a", 5, data={"password": "hunter2"})
    strange: Object = {"kind": "Odd", "data": "hunter2"}
    source = ScriptedListWatch([page(7, secret)], [[added(strange), modified(secret)]])
    rig = Rig(source)
    rig.informer.add_handler(Raiser())
    rig.settle()
    rig.deliver()
    assert "handler raised ValueError for a/a" in caplog.text
    assert "hunter2" not in caplog.text
    assert "hunter2" not in repr([rig.informer, rig.registration, rig.reflector])


def test_threads_that_reflect_deliver_and_add_handlers_together_lose_nothing() -> None:
    count = 2000
    events = [added(obj(f"o{n}", n)) for n in range(1, count + 1)]
    rig = Rig(ScriptedListWatch([page(1)], [events]))
    recorders = [Recorder() for _ in range(10)]
    done = threading.Event()

    def deliver() -> None:
        while not done.is_set():
            rig.deliver()

    threads = [threading.Thread(target=deliver, name="deliver")]
    threads.append(threading.Thread(target=rig.settle, name="reflect"))
    for thread in threads:
        thread.start()
    for recorder in recorders:
        rig.informer.add_handler(recorder)
    threads[1].join(30)
    done.set()
    threads[0].join(30)
    rig.deliver()
    for recorder in recorders:
        assert sorted(told[1] for told in recorder.told) == sorted(
            f"a/o{n}" for n in range(1, count + 1)
        )


def test_the_name_of_a_reflector_says_its_namespace() -> None:
    rig = namespaced(a=ScriptedListWatch([]), b=ScriptedListWatch([]))
    assert [reflector.name for reflector in rig.informer.reflectors] == ["users in a", "users in b"]
    assert isinstance(rig.informer, SharedInformer)


def test_an_object_listed_at_its_old_version_with_a_new_default_is_an_update() -> None:
    new = obj("a", 5, spec={"deletionPolicy": "Delete"})
    source = ScriptedListWatch([page(7, obj("a", 5, spec={})), page(9, new)], [EXPIRED])
    rig = Rig(source)
    rig.settle(seconds=2)
    assert rig.told[1:] == [("update", "a/a", "5", "5")]
    assert rig.store.get("a/a") == new
