"""The brake on deletions: how many a minute, in which order, and who is forgotten."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.harness.brake import WINDOW_SECONDS, Brake
from controller.harness.reasoned import ReasonedError
from controller.harness.resource import Resource
from tests.support.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def brake_of(per_minute: int, clock: FakeClock) -> Brake:
    return Brake(per_minute, clock.monotonic)


def going(uid: str, reason: str = "Verified") -> Resource:
    conditions = [{"type": "Ready", "status": "False", "reason": reason}]
    return Resource({"metadata": {"uid": uid}, "status": {"conditions": conditions}})


def passes(brake: Brake, uid: str) -> bool:
    return brake.take(uid)[0] == 0


def test_so_many_a_minute_and_no_more(clock: FakeClock) -> None:
    brake = brake_of(3, clock)
    assert [passes(brake, uid) for uid in "abcde"] == [True, True, True, False, False]
    clock.advance(59.9)
    assert not passes(brake, "d")
    clock.advance(0.1)
    assert [passes(brake, uid) for uid in "de"] == [True, True]
    assert brake.waiting == 0


def test_zero_takes_it_off(clock: FakeClock) -> None:
    brake = brake_of(0, clock)
    assert all(passes(brake, str(number)) for number in range(1000))
    assert brake.waiting == 0


def test_who_waits_knows_its_place_and_when_to_ask_again(clock: FakeClock) -> None:
    """In its turn, or a minute before: then its place may be another."""
    brake = brake_of(2, clock)
    assert passes(brake, "a")
    clock.advance(10)
    assert passes(brake, "b")
    assert [brake.take(uid) for uid in "cdefg"] == [
        (1, 50.0),
        (2, 60.0),
        (3, 50.0),
        (4, 60.0),
        (5, 110.0),
    ]


def test_a_restart_gives_no_new_allowance_when_somebody_waited(clock: FakeClock) -> None:
    brake = brake_of(3, clock)
    assert passes(brake, "a")
    brake.meet(going("b", "Deleting"))
    assert brake.take("b") == (1, 60.0)
    assert not passes(brake, "c")
    clock.advance(60.0)
    assert [passes(brake, uid) for uid in "bcd"] == [True, True, True]


def test_a_brake_that_has_held_somebody_knows_the_last_minute_itself(clock: FakeClock) -> None:
    brake = brake_of(1, clock)
    assert [passes(brake, uid) for uid in "ab"] == [True, False]
    clock.advance(60.0)
    brake.meet(going("c", "Deleting"))
    assert brake.take("c")[0] == 2, "b is first; nothing else is in the way"
    assert passes(brake, "b")


def test_what_waits_for_another_cause_in_this_process_takes_no_allowance(clock: FakeClock) -> None:
    brake = brake_of(1, clock)
    brake.meet(going("a"))
    brake.meet(going("a", "Deleting"))
    assert passes(brake, "a")


def test_who_asks_again_keeps_its_place(clock: FakeClock) -> None:
    brake = brake_of(1, clock)
    passes(brake, "a")
    for uid in "bcd":
        brake.take(uid)
    assert [brake.take(uid)[0] for uid in "dcb"] == [3, 2, 1]
    clock.advance(60)
    assert not passes(brake, "d")
    assert passes(brake, "b")


def test_a_turn_that_has_come_is_not_asked_for_without_pause(clock: FakeClock) -> None:
    brake = brake_of(1, clock)
    passes(brake, "a")
    brake.take("b")
    brake.take("c")
    clock.advance(60)
    place, seconds = brake.take("c")
    assert (place, seconds) == (2, 60.0)
    brake.forget("b")
    assert passes(brake, "c")


def test_one_deletion_takes_one_turn_however_often_it_is_tried(clock: FakeClock) -> None:
    brake = brake_of(1, clock)
    assert passes(brake, "a")
    clock.advance(30)
    assert passes(brake, "a")
    assert not passes(brake, "b")
    clock.advance(30)
    assert passes(brake, "b")


def test_an_object_that_is_gone_is_forgotten(clock: FakeClock) -> None:
    brake = brake_of(1, clock)
    passes(brake, "a")
    brake.take("b")
    brake.take("c")
    brake.forget("b")
    assert brake.waiting == 1
    assert brake.take("c")[0] == 1
    brake.forget("nobody")


def test_who_does_not_come_in_its_turn_holds_up_nobody_for_ever(clock: FakeClock) -> None:
    brake = brake_of(1, clock)
    passes(brake, "a")
    _, turn = brake.take("let off")
    brake.take("b")
    clock.advance(turn + WINDOW_SECONDS)
    assert not passes(brake, "b")  # it may still come
    clock.advance(1)
    assert passes(brake, "b")


def test_the_words_name_the_object_and_its_place(clock: FakeClock) -> None:
    brake = brake_of(1, clock)
    brake.pass_or_wait("a", "user alice")
    with pytest.raises(ReasonedError) as raised:
        brake.pass_or_wait("b", "user bob")
    assert raised.value.reason == "Deleting"
    assert raised.value.message.startswith("user bob waits at place 1 ")
    assert "LLDAP_MAX_DELETIONS_PER_MINUTE" in raised.value.message
    assert raised.value.after == 60.0


@given(
    st.integers(min_value=1, max_value=5),
    st.lists(
        st.tuples(st.integers(min_value=0, max_value=4), st.floats(min_value=0, max_value=50)),
        max_size=20,
    ),
    st.randoms(use_true_random=False),
)
def test_no_minute_has_more_and_first_come_is_first_served(
    per_minute: int, rounds: list[tuple[int, float]], rng: random.Random
) -> None:
    """In each round some come, and all who wait ask, in any order."""
    clock = FakeClock()
    brake = brake_of(per_minute, clock)
    came: list[str] = []
    passed: dict[str, float] = {}
    for newcomers, seconds in rounds:
        clock.advance(seconds)
        asking = [uid for uid in came if uid not in passed]
        asking += [f"{len(came)}+{number}" for number in range(newcomers)]
        rng.shuffle(asking)
        for uid in asking:
            if uid not in came:
                came.append(uid)
            if passes(brake, uid):
                passed[uid] = clock.monotonic()
        recent = [at for at in passed.values() if at > clock.monotonic() - WINDOW_SECONDS]
        assert len(recent) == min(per_minute, len(recent) + brake.waiting)
        assert set(passed) == set(came[: len(passed)])
        assert brake.waiting == len(came) - len(passed)


@pytest.mark.parametrize("count", [100, 500])
def test_all_come_through_when_each_asks_in_its_turn(clock: FakeClock, count: int) -> None:
    """Nobody polls: each asks at first, a minute before its turn and in its turn."""
    brake = brake_of(60, clock)
    start, asked, done = clock.monotonic(), 0, []
    due = [(start, number) for number in range(count)]
    while due:
        moment, number = min(due)
        due.remove((moment, number))
        clock.advance(max(0.0, moment - clock.monotonic()))
        place, seconds = brake.take(str(number))
        asked += 1
        if place:
            due.append((clock.monotonic() + seconds, number))
        else:
            done.append(number)
    assert done == sorted(done)
    assert asked <= 3 * count
    assert clock.monotonic() - start <= WINDOW_SECONDS * ((count - 1) // 60)
