"""Faults that others have reported, by the ids of the case list (F: list, watch, informer).

F03, F04, F07 and C09 are in test_transport_*.py too, on sockets; F06 is in test_refusals.py, F11
in test_watchstream.py.
"""

import itertools
import threading
from collections.abc import Iterator

import pytest

from informers import (
    ConnectionFailed,
    DeadlineExceeded,
    EndOfStream,
    GarbledStream,
    ListPage,
    Object,
    StatusError,
    WatchEvent,
    key_of,
)
from tests.informers.mutation import MutationDetector
from tests.informers.scripted import (
    EXPIRED,
    FORBIDDEN,
    Recorder,
    Rig,
    ScriptedListWatch,
    Step,
    added,
    bookmark,
    deleted,
    error_event,
    modified,
    obj,
    page,
)

A, B = obj("a", 5), obj("b", 6)


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """What a handler waits for that hangs; set at the end, however the test ends."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize(
    "error",
    [
        error_event(410, "Expired", metadata={}),
        error_event(410, "Expired"),
        error_event(500, "InternalError"),
        EXPIRED,
    ],
)
def test_F01_an_error_event_is_no_object_and_leads_to_one_list(error: Step) -> None:
    events: list[Step] = [added(obj("c", 8)), added(obj("d", 9)), error]
    source = ScriptedListWatch([page(7, A), page(12, A, obj("c", 8), obj("d", 9))], [events])
    rig = Rig(source)
    rig.settle(seconds=30)
    assert source.versions == [("LIST", "0"), ("WATCH", "7"), ("LIST", "9"), ("WATCH", "12")]
    assert [told[:2] for told in rig.told] == [("add", "a/a"), ("add", "a/c"), ("add", "a/d")]


def test_F01_410_as_the_status_of_the_watch_leads_to_one_list() -> None:
    source = ScriptedListWatch([page(7, A), page(12, A)], [EXPIRED])
    rig = Rig(source)
    rig.settle(seconds=30)
    assert source.versions == [("LIST", "0"), ("WATCH", "7"), ("LIST", "7"), ("WATCH", "12")]


def test_F02_each_410_is_one_list_later_than_the_one_before() -> None:
    source = ScriptedListWatch(
        [page(n, A) for n in range(7, 12)], [EXPIRED, [error_event(410, "Gone")], EXPIRED]
    )
    rig = Rig(source)
    rig.settle(seconds=60)
    assert source.verbs == ["LIST", "WATCH"] * 4
    lists = [when for when, verb in zip(source.times, source.verbs, strict=True) if verb == "LIST"]
    waits = [b - a for a, b in itertools.pairwise(lists)]
    assert 0.8 <= waits[0] < 1.6 <= waits[1] < 3.2 <= waits[2] < 6.4
    assert rig.last_error() is None


def test_F03_a_stream_that_went_silent_is_replaced_and_the_change_seen() -> None:
    source = ScriptedListWatch(
        [page(7, A)],
        [
            [added(obj("b", 8)), None, DeadlineExceeded("silent", sent=True)],
            [modified(obj("a", 9))],
        ],
    )
    rig = Rig(source)
    rig.settle()
    heard = rig.clock.monotonic()
    assert rig.reflector.last_contact == heard
    rig.clock.advance(300)
    assert rig.informer.last_contact == heard  # by which probes and metrics know how old it is
    rig.settle(seconds=1)
    assert source.versions[-1] == ("WATCH", "8")
    assert rig.store.get("a/a") == obj("a", 9)
    assert rig.reflector.last_contact == pytest.approx(rig.clock.monotonic(), abs=1)


def test_F04_stop_ends_a_wait_for_events() -> None:
    waiting, closed = threading.Event(), threading.Event()

    class Blocking:
        def next(self) -> WatchEvent | None:
            waiting.set()
            assert closed.wait(10)
            raise ConnectionFailed("shut down", sent=True)

        def close(self) -> None:
            closed.set()

    source = ScriptedListWatch([page(7)])
    source.watch = lambda *_: Blocking()  # type: ignore[method-assign, assignment]
    rig = Rig(source)
    thread = threading.Thread(target=rig.settle, name="reflector")
    thread.start()
    assert waiting.wait(10)
    rig.informer.stop()
    thread.join(10)
    assert not thread.is_alive()
    assert rig.step() == float("inf")
    assert source.verbs == ["LIST"]


def always(*errors: StatusError | EndOfStream) -> Iterator[list[Step] | StatusError]:
    while True:
        for error in errors:
            yield [error] if isinstance(error, EndOfStream) else error


THROTTLED_STATUS = StatusError(
    429, "TooManyRequests", "slow down", retry_after=3.0, body_is_status=True
)
THROTTLED_TEXT = StatusError(429, "", "Too many requests", retry_after=3.0)


@pytest.mark.parametrize(
    "errors",
    [
        [THROTTLED_STATUS, THROTTLED_TEXT],
        [FORBIDDEN],
        [StatusError(500, "", "boom")],
        [EndOfStream("at once")],
    ],
)
def test_F05_a_watch_that_always_fails_is_asked_for_seldom_and_recovers(
    errors: list[StatusError | EndOfStream],
) -> None:
    failing = always(*errors)
    source = ScriptedListWatch(
        [page(n, A) for n in range(7, 60)], [next(failing) for _ in range(50)]
    )
    rig = Rig(source)
    started = rig.clock.monotonic()
    rig.settle(seconds=60)
    assert 6 <= sum(when <= started + 60 for when in source.times) <= 20
    asked = [w for w, verb in zip(source.times, source.verbs, strict=True) if verb == "WATCH"]
    if errors[0].__class__ is StatusError and errors[0].retry_after:
        assert all(b - a >= 3 for a, b in itertools.pairwise(asked))
    source.watches.clear()
    source.lists.clear()
    source.lists.extend([page(99, A)] * 5)
    rig.settle(seconds=70)
    assert rig.reflector.state.name == "WATCHING"
    assert rig.last_error() is None
    assert rig.told == [("add", "a/a", "5", True)]


HUNDRED = [obj(f"o{n:03}", n) for n in range(1, 101)]


@pytest.mark.parametrize("count", [0, 1, 99])
@pytest.mark.parametrize(
    "end",
    [
        EndOfStream("clean"),
        ConnectionFailed("IncompleteRead", sent=True),
        GarbledStream("half a line of garbage"),
    ],
)
def test_F07_a_change_in_the_gap_between_two_streams_is_seen(
    count: int, end: EndOfStream | ConnectionFailed | GarbledStream
) -> None:
    changed = [modified(obj(f"o{n:03}", 100 + n)) for n in range(1, 101)]
    source = ScriptedListWatch([page(100, *HUNDRED)], [[*changed[:count], None, end]])
    rig = Rig(source)
    rig.settle()
    rig.clock.advance(30)
    now = [event.object for event in changed]
    source.lists.append(page(200, *now))
    source.watches.append(changed[count:])
    rig.settle(seconds=10)
    assert sorted(map(key_of, rig.store.list())) == sorted(map(key_of, now))
    assert {item["metadata"]["resourceVersion"] for item in rig.store.list()} == {
        str(n) for n in range(101, 201)
    }
    again = [told for told in rig.told if told[0] == "add" and not told[3]]
    assert again == []


def test_F08_a_deletion_that_nobody_saw_is_told_once_with_the_last_known_state(
    release: threading.Event,
) -> None:
    blocked = threading.Event()

    class Slow(Recorder):
        def on_add(self, obj: Object, initial: bool) -> None:
            blocked.set()
            assert release.wait(10)
            super().on_add(obj, initial)

    source = ScriptedListWatch([page(7), page(9)], [[added(obj("x", 8)), EXPIRED]])
    rig = Rig(source)
    slow = Slow()
    registration = rig.informer.add_handler(slow)
    rig.step(3)
    thread = threading.Thread(target=registration.step, name="handler")
    thread.start()
    assert blocked.wait(10)
    rig.settle(seconds=3)
    assert rig.store.get("a/x") is None
    release.set()
    thread.join(10)
    while registration.step() == 0:
        pass
    assert slow.told == [("add", "a/x", "8", False), ("delete", "a/x", "8", True)]


def test_F10_an_object_that_leaves_the_selector_is_told_as_deleted_with_its_old_labels() -> None:
    labelled = obj("alice", 5)
    labelled["metadata"]["labels"] = {"instance": "default"}
    last = obj("alice", 9)
    last["metadata"]["labels"] = {"instance": "default"}
    source = ScriptedListWatch([page(7, labelled)], [[deleted(last), added(obj("alice", 10))]])
    rig = Rig(source)
    rig.settle()
    # That the object lives on, only its missing deletionTimestamp says: nobody may delete on this.
    assert "deletionTimestamp" not in last["metadata"]
    assert rig.told[1:] == [("delete", "a/alice", "9", False), ("add", "a/alice", "10", False)]


TWELVE_HUNDRED = [obj(f"o{n:04}", n) for n in range(1, 1201)]


def pages(*sizes: int) -> list[ListPage | StatusError]:
    found: list[ListPage | StatusError] = []
    start = 0
    for size in sizes:
        end = start + size
        token = "more" if end < len(TWELVE_HUNDRED) else ""
        found.append(page(2000, *TWELVE_HUNDRED[start:end], token=token))
        start = end
    return found


@pytest.mark.parametrize(
    "error",
    [
        StatusError(410, "Expired", body_is_status=True),
        StatusError(500, "InternalError", body_is_status=True),
    ],
)
def test_F12_a_list_that_fails_in_the_middle_starts_again_and_replaces_nothing(
    error: StatusError,
) -> None:
    lists: list[ListPage | StatusError] = [
        page(1500, *TWELVE_HUNDRED),
        pages(500, 500, 200)[0],
        error,
        *pages(1200),
    ]
    source = ScriptedListWatch(lists, [EXPIRED])
    rig = Rig(source)
    rig.settle(seconds=30)
    tokens = [call[3] for call in source.calls if call[0] == "LIST"]
    assert tokens == ["", "", "more", ""]
    assert len(rig.store) == 1200
    assert [told for told in rig.told if told[0] != "add"] == []
    assert len(rig.told) == 1200


def test_F12_all_pages_are_read_and_one_inserted_between_them_is_seen_by_the_watch() -> None:
    source = ScriptedListWatch(pages(500, 500, 200), [[added(obj("o0000", 2001))]])
    rig = Rig(source)
    rig.step(2)
    assert len(rig.store) == 0
    rig.settle()
    assert len(rig.store) == 1201
    assert source.versions[-1] == ("WATCH", "2000")


def test_F14_bookmarks_move_the_version_and_reach_no_handler() -> None:
    source = ScriptedListWatch(
        [page(7, A)], [[*(bookmark(n) for n in range(8, 68)), EndOfStream("")]]
    )
    rig = Rig(source)
    rig.settle(seconds=2)
    assert source.versions == [("LIST", "0"), ("WATCH", "7"), ("WATCH", "67")]
    assert rig.told == [("add", "a/a", "5", True)]
    assert rig.reflector.last_sync_rv == "67"


def test_F15_a_handler_that_hangs_or_raises_holds_up_nobody(release: threading.Event) -> None:
    hanging = threading.Event()

    class Hanging(Recorder):
        def on_add(self, obj: Object, initial: bool) -> None:
            hanging.set()
            assert release.wait(30)

    class Raising(Recorder):
        def on_add(self, obj: Object, initial: bool) -> None:
            super().on_add(obj, initial)
            raise RuntimeError

    source = ScriptedListWatch(
        [page(9, *(obj(f"o{n}", n) for n in range(1, 10_001)))], [[added(obj("late", 10_001))]]
    )
    rig = Rig(source)
    stuck = rig.informer.add_handler(Hanging())
    raising = Raising()
    rig.informer.add_handler(raising)
    rig.step()
    thread = threading.Thread(target=stuck.step, name="hanging")
    thread.start()
    assert hanging.wait(10)
    rig.settle()
    late = Recorder()
    others = [r for r in rig.informer.registrations if r is not stuck]
    others.append(rig.informer.add_handler(late))
    for registration in others:
        while registration.step() == 0:
            pass
    assert len(rig.recorder.told) == len(raising.told) == len(late.told) == 10_001
    assert all(registration.has_synced() for registration in others)
    assert not stuck.has_synced()
    release.set()
    thread.join(10)
    assert not thread.is_alive()


def test_F16_the_store_no_longer_has_what_is_told_as_deleted() -> None:
    seen: list[object] = []

    class Looker(Recorder):
        def on_delete(self, obj: Object, final_state_unknown: bool) -> None:
            seen.append((rig.store.get(key_of(obj)), rig.informer.lister.by_index("all", "x")))

    source = ScriptedListWatch([page(7, A, B), page(12)], [[deleted(obj("a", 8)), EXPIRED]])
    rig = Rig(source, indexers={"all": lambda _: ["x"]})
    rig.informer.add_handler(Looker())
    rig.step(3)
    rig.deliver()
    assert seen == [(None, [B])]
    rig.settle(seconds=3)
    rig.deliver()
    assert seen[1:] == [(None, [])]


def test_F16_whoever_changes_a_shared_object_is_found_out() -> None:
    class Changer(Recorder):
        def on_update(self, old: Object, new: Object) -> None:
            new["spec"]["email"] = "x"

    source = ScriptedListWatch([page(7, obj("a", 5, spec={}))], [[modified(obj("a", 8, spec={}))]])
    rig = Rig(source)
    detector = MutationDetector()
    rig.informer.add_handler(detector)
    rig.settle()
    rig.deliver()
    detector.check(rig.store)
    changer = Changer()
    changer.on_update(A, rig.store.list()[0])
    with pytest.raises(AssertionError, match="a/a"):
        detector.check(rig.store)
