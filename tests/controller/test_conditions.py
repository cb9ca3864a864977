"""Conditions: bounded messages, times that move with the status, words that stay."""

import datetime
import uuid
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.api import READY, RECONCILING, STALLED
from controller.harness.conditions import (
    MAX_CONDITION_MESSAGE_BYTES,
    bounded,
    find,
    mark_degraded,
    quoted,
    ready_false,
    ready_true,
    remove_condition,
    same_words,
    set_condition,
)
from controller.harness.resource import Object

START = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)


@dataclass
class Thing:
    """A StatusObject."""

    status: Object = field(default_factory=dict)
    generation: int = 1
    moment: datetime.datetime = START

    def now(self) -> datetime.datetime:
        return self.moment

    def pass_seconds(self, seconds: float) -> None:
        self.moment += datetime.timedelta(seconds=seconds)

    def ready(self) -> Object:
        found = find(self.status, READY)
        assert found is not None
        return found


# --- the bound -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("short", "short"),
        ("a" * 512, "a" * 512),
        ("a" * 400 + "b" * 170, "a" * 339 + "…" + "b" * 170),
        ("ü" * 256, "ü" * 256),
        ("ü" * 257, "ü" * 169 + "…" + "ü" * 85),  # 339 bytes would end within a character
        ("a" + "€" * 171, "a" + "€" * 112 + "…" + "€" * 56),
        ("\N{GRINNING FACE}" * 200, "\N{GRINNING FACE}" * 84 + "…" + "\N{GRINNING FACE}" * 42),
        ("lone \udcff surrogate", "lone ? surrogate"),
    ],
)
def test_a_message_is_cut_on_a_character(text: str, expected: str) -> None:
    assert bounded(text) == expected


@given(st.text(), st.integers(min_value=3, max_value=600))
def test_no_text_is_longer_than_its_bound_or_another_text(text: str, limit: int) -> None:
    cut = bounded(text, limit)
    assert len(cut.encode()) <= limit
    whole = text.encode(errors="replace").decode()
    splits = [(cut[:n], cut[n + 1 :]) for n, letter in enumerate(cut) if letter == "…"]
    assert cut == whole or any(whole.startswith(a) and whole.endswith(b) for a, b in splits)


def test_a_word_keeps_its_beginning_and_a_sentence_its_end_too() -> None:
    assert bounded("a" * 300, 128) == "a" * 125 + "…"
    cut = bounded("user alice: " + "x" * 600 + ": delete one of the two")
    assert cut.startswith("user alice: xxx")
    assert cut.endswith("xxx: delete one of the two")


def test_the_words_of_a_server_leave_room_for_what_to_do() -> None:
    long = quoted("ü" * 5000)
    assert len(long.encode()) <= 246
    assert long.startswith("“ü")
    assert long.endswith("…”")


def test_the_message_of_a_condition_is_bounded() -> None:
    thing = Thing()
    ready_false(thing, "Conflict", "x" * 5000, now=thing.now)
    assert len(thing.ready()["message"].encode()) == MAX_CONDITION_MESSAGE_BYTES


# --- the vocabulary ------------------------------------------------------------------------------


def test_ready_true_and_false_say_what_they_are_called() -> None:
    thing = Thing(generation=7)
    ready_true(thing, "Verified", "it is there", now=thing.now)
    assert thing.status["conditions"] == [
        {
            "type": READY,
            "status": "True",
            "reason": "Verified",
            "message": "it is there",
            "observedGeneration": 7,
            "lastTransitionTime": "2030-01-01T00:00:00Z",
        }
    ]
    ready_false(thing, "Conflict", "another has it", now=thing.now)
    assert [c["status"] for c in thing.status["conditions"]] == ["False"]


def test_a_degraded_mark_stands_beside_ready_until_it_is_removed() -> None:
    thing = Thing()
    ready_false(thing, "Conflict", "no", now=thing.now)
    mark_degraded(thing, STALLED, "Conflict", "no", now=thing.now)
    stalled = find(thing.status, STALLED)
    assert stalled is not None
    assert stalled["status"] == "True"
    remove_condition(thing, STALLED)
    assert find(thing.status, STALLED) is None
    assert find(thing.status, READY) is not None


def test_removing_what_is_not_there_leaves_the_status_as_it_is() -> None:
    thing = Thing()
    remove_condition(thing, RECONCILING)
    assert thing.status == {}


def test_conditions_of_others_are_left_alone_and_the_list_is_not_edited_in_place() -> None:
    foreign = {"type": "Audited", "status": "True", "reason": "Fine", "message": "by hand"}
    shared = [foreign]
    thing = Thing({"conditions": shared})
    ready_true(thing, "Verified", "yes", now=thing.now)
    ready_false(thing, "Conflict", "no", now=thing.now)
    assert shared == [foreign]
    assert [c["type"] for c in thing.status["conditions"]] == ["Audited", READY]
    assert thing.status["conditions"][0] is foreign


# --- when it changes -----------------------------------------------------------------------------


def test_I01_the_time_moves_with_the_status_alone() -> None:
    thing = Thing()
    ready_true(thing, "Verified", "one", now=thing.now)
    thing.pass_seconds(60)
    thing.generation = 2
    ready_true(thing, "DryRun", "two", now=thing.now)
    assert thing.ready()["lastTransitionTime"] == "2030-01-01T00:00:00Z"
    ready_false(thing, "Conflict", "three", now=thing.now)
    assert thing.ready()["lastTransitionTime"] == "2030-01-01T00:01:00Z"


def test_I03_a_new_generation_shows_though_nothing_else_changes() -> None:
    thing = Thing()
    ready_true(thing, "Verified", "yes", now=thing.now)
    before = thing.status["conditions"]
    thing.generation = 2
    ready_true(thing, "Verified", "yes", now=thing.now)
    assert thing.ready()["observedGeneration"] == 2
    assert before[0]["observedGeneration"] == 1


def test_the_same_again_leaves_the_very_list() -> None:
    thing = Thing()
    ready_true(thing, "Verified", "yes", now=thing.now)
    before = thing.status["conditions"]
    thing.pass_seconds(3600)
    ready_true(thing, "Verified", "yes", now=thing.now)
    assert thing.status["conditions"] is before


def test_a_generation_can_be_given_for_a_condition_that_nobody_reconciled() -> None:
    thing = Thing(generation=9)
    set_condition(thing, READY, "Unknown", "Paused", "", now=thing.now, generation=4)
    assert thing.ready()["observedGeneration"] == 4


def test_a_condition_without_a_time_gets_one() -> None:
    thing = Thing({"conditions": [{"type": READY, "status": "True", "reason": "Forged"}]})
    ready_true(thing, "Verified", "yes", now=thing.now)
    assert thing.ready()["lastTransitionTime"] == "2030-01-01T00:00:00Z"


STATES = st.tuples(
    st.sampled_from(["True", "False", "Unknown"]),
    st.sampled_from(["Verified", "Conflict"]),
    st.sampled_from(["one", "two", quoted("request 1"), quoted("request 2")]),
    st.integers(min_value=1, max_value=3),
)


@given(st.lists(STATES, max_size=20))
def test_the_time_is_that_of_the_last_change_of_the_status(
    states: list[tuple[str, str, str, int]],
) -> None:
    thing = Thing()
    last, since = "", ""
    for value, reason, message, generation in states:
        thing.pass_seconds(1)
        thing.generation = generation
        if value != last:
            last, since = value, thing.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        set_condition(thing, READY, value, reason, message, now=thing.now)
        shown = thing.ready()
        assert (shown["status"], shown["reason"]) == (value, reason)
        assert shown["observedGeneration"] == generation
        assert shown["lastTransitionTime"] == since
        assert same_words(shown["message"], message)
        assert len(thing.status["conditions"]) == 1


# --- words of servers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("request 4711 failed", "request 12 failed"),
        (f"trace {uuid.UUID(int=1)}", f"trace {uuid.UUID(int=2**100)}"),
        ("at 2030-01-01T00:00:00Z", "at 2030-01-02T11:22:33.456Z"),
        ("<object at 0x7f00dead>", "<object at 0x55aa1234>"),
        ("id=deadbeefcafe gone", "id=abcdefabcdef gone"),
        ("x" * 150 + " tail", "x" * 150 + " other tail"),
    ],
)
def test_I02_what_a_server_says_with_another_id_is_the_same(one: str, other: str) -> None:
    said = [f"lldap refused the change: {quoted(text)}" for text in (one, other)]
    assert same_words(*said)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("user alice1 has it", "user alice2 has it"),  # our own words: a name counts
        (f"bob: {quoted('no')}", f"bob2: {quoted('no')}"),
        (quoted("disk full"), quoted("disk gone")),
        ("", quoted("")),
    ],
)
def test_what_says_something_else_is_not_the_same(one: str, other: str) -> None:
    assert not same_words(one, other)


def test_a_message_that_was_cut_within_a_quotation_is_still_the_same() -> None:
    long = "reason " * 100
    said = [bounded(f"refused: {quoted(f'{number} {long}')}") for number in (1, 22)]
    assert said[0] != said[1]
    assert same_words(*said)


def test_I02_the_message_that_was_written_first_stays() -> None:
    thing = Thing()
    ready_false(thing, "Refused", quoted("request 1"), now=thing.now)
    before = thing.status["conditions"]
    ready_false(thing, "Refused", quoted("request 2"), now=thing.now)
    assert thing.status["conditions"] is before
    ready_false(thing, "Refused", quoted("timeout 2"), now=thing.now)
    assert thing.ready()["message"] == "“timeout 2”"


@given(st.text())
def test_a_quotation_ends_where_it_is_meant_to_end(text: str) -> None:
    shown = quoted(text)
    assert shown.count("“") == shown.count("”") == 1
    assert shown.startswith("“")
    assert shown.endswith("”")
