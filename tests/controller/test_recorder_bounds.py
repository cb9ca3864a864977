"""No text, no number of events and no server is too much."""

import threading
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.clock import SystemClock
from controller.events.eventseries import event_name, note_of, word
from controller.events.recorder import BURST, MAX_SERIES, MAX_UNSENT
from controller.events.tokens import MAX_KEYS, TokenBuckets
from controller.loop import Loop
from tests.controller.test_recorder import Setting, reference


@pytest.fixture
def s() -> Setting:
    return Setting()


# Bounds.


def test_I06_a_long_note_is_cut_on_a_character(s: Setting) -> None:
    s.event(note="é王😀" * 1000, reason="R" * 500)
    s.send()

    note = s.server.only["note"]
    assert len(note.encode()) <= 512
    assert note.count("…") == 1
    assert note.startswith("é王😀")
    assert note.endswith("é王😀")
    assert "\ufffd" not in note
    assert len(s.server.only["reason"].encode()) <= 128


@given(st.text(alphabet=st.characters(), max_size=1200))
def test_I06_any_text_becomes_a_note_and_a_reason_that_the_server_takes(text: str) -> None:
    assert len(note_of(text).encode()) <= 512
    assert 0 < len(word(text).encode()) <= 128
    assert (
        len(text.encode(errors="replace")) > 512
        or note_of(text) == text.encode(errors="replace").decode()
    )


def test_I06_empty_texts_and_lone_surrogates_are_sent_all_the_same(s: Setting) -> None:
    s.recorder.event(reference(), "Warning", "", "", "\ud800")
    s.send()

    assert s.server.only["reason"] == "Unknown"
    assert s.server.only["action"] == "Unknown"
    assert s.server.only["note"] == "?"


@pytest.mark.parametrize("name", ["a", "a" * 253, "a" * 230 + "." + "b" * 22, "a" * 235 + "-x-y"])
def test_the_name_of_an_event_is_a_name(name: str) -> None:
    made = event_name(name, 2**64 - 1)

    assert len(made) <= 253
    assert ".." not in made
    assert "-." not in made


def test_I07_an_outage_makes_a_small_number_of_events_for_each_object(s: Setting) -> None:
    for _ in range(60):
        for i in range(50):
            s.event(f"user-{i}", reason="LldapUnavailable", note="cannot be reached")
        s.run(10.0)

    calls = Counter(path.partition("user-")[2].partition(".")[0] for _, path in s.server.calls)
    assert len(s.server.stored) == 50
    assert len(s.server.calls) <= 50 * 7
    assert calls
    assert s.counts["dropped"] == 0


def test_I07_one_object_cannot_have_any_number_of_events(s: Setting) -> None:
    for i in range(1000):
        s.event(reason=f"Reason{i}")
        s.run(0.1)

    assert len(s.server.stored) == BURST
    assert s.counts == {"created": BURST, "dropped": 1000 - BURST}

    s.event("bob")
    s.send()
    assert s.counts["created"] == BURST + 1, "another object is not affected"
    s.run(300.0)
    s.event(reason="Later")
    s.send()
    assert s.counts["created"] == BURST + 2


def test_I07_the_queue_is_bounded_and_the_oldest_of_the_same_object_goes_first(s: Setting) -> None:
    s.event("alice", reason="First")
    s.event("alice", reason="Second")
    for i in range(MAX_UNSENT - 2):
        s.event(f"user-{i}")
    assert s.counts["dropped"] == 0

    s.event("alice", reason="Third")
    s.event("new")
    s.run(1.0)

    sent = [(e["regarding"]["name"], e["reason"]) for e in s.server.stored.values()]
    assert ("alice", "First") not in sent, "its own oldest made room for the third"
    assert ("alice", "Second") not in sent, "the oldest of all made room for the new object's"
    assert ("alice", "Third") in sent
    assert ("new", "UserCreated") in sent
    assert s.counts == {"created": MAX_UNSENT, "dropped": 2}


def test_I07_a_slow_server_does_not_slow_the_reconcilers() -> None:
    """Each call takes 5 s of the sender's thread; the callers go on meanwhile."""
    s = Setting()
    answered = threading.Event()
    s.server.slow = lambda: answered.wait(5.0)
    loop = Loop("events", s.recorder.step, clock=SystemClock(), wake=s.recorder.wake_with)
    loop.start()
    started = time.monotonic()
    for i in range(5000):
        s.event(f"user-{i % 500}", reason="LldapUnavailable")
    took = time.monotonic() - started
    answered.set()
    loop.stop()

    assert loop.join(5.0)
    assert took < 2.0
    assert len(s.server.calls) >= 1


def test_memory_is_bounded_whatever_happens(s: Setting) -> None:
    for i in range(MAX_SERIES + 500):
        s.event(f"user-{i}")
        s.send()

    assert len(s.recorder._series) == MAX_SERIES
    assert len(s.recorder._unsent) == 0
    for i in range(MAX_SERIES + 500):
        s.event(f"other-{i}")
    assert len(s.recorder._series) == MAX_SERIES
    assert len(s.recorder._unsent) == MAX_UNSENT


def test_L01_nothing_of_the_objects_labels_is_on_the_event(s: Setting) -> None:
    s.event()
    s.send()

    assert set(s.server.only["metadata"]) == {"name", "namespace"}


def test_token_buckets_refill_and_do_not_overflow() -> None:
    buckets = TokenBuckets(2, 10.0)

    assert [buckets.take("a", 0.0) for _ in range(3)] == [True, True, False]
    assert buckets.take("b", 0.0)
    assert not buckets.take("a", 9.9)
    assert buckets.take("a", 10.1)
    assert [buckets.take("a", 1e6) for _ in range(3)] == [True, True, False]
    for i in range(MAX_KEYS):
        buckets.take(f"key-{i}", 1e6)
    assert buckets.take("a", 1e6), "forgotten, and so full"
