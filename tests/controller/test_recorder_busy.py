"""Events give way to work: a slow pace while workers are busy, all at once when they are not."""

import pytest

from controller.events.recorder import BUSY_SECONDS, MANY_UNSENT, MAX_UNSENT
from controller.loop import FOREVER
from tests.controller.test_recorder import Setting, refused


class Busy(Setting):
    """Workers have keys, or not, as the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.busy = True
        self.recorder.yield_to(lambda: self.busy)

    def rest(self) -> None:
        self.busy = False
        self.recorder.work_rests()


@pytest.fixture
def s() -> Busy:
    return Busy()


def test_while_workers_are_busy_ten_events_a_second_are_sent(s: Busy) -> None:
    for number in range(100):
        s.event(f"user-{number}")
    assert s.send() == pytest.approx(BUSY_SECONDS[0])
    assert s.server.calls == [], "the first one waits too: its own pass may still be under way"
    s.run(1.0)
    assert len(s.server.calls) == pytest.approx(10, abs=1)


def test_what_was_held_back_is_sent_at_once_when_the_work_rests(s: Busy) -> None:
    for number in range(MANY_UNSENT):
        s.event(f"user-{number}")
    s.send()
    woken = s.woken
    s.rest()
    assert s.woken == woken + 1
    assert s.send() == FOREVER
    assert s.counts == {"created": MANY_UNSENT}


def test_with_nobody_busy_an_event_is_sent_at_once(s: Busy) -> None:
    s.rest()
    assert s.woken == 0, "there was nothing to send"
    s.event()
    assert s.woken == 1
    assert s.send() == FOREVER
    assert s.counts == {"created": 1}


def test_many_events_wake_the_sender_once_while_it_holds_back(s: Busy) -> None:
    for number in range(100):
        s.event(f"user-{number}")
    assert s.woken == 1


def test_work_without_end_holds_back_no_event_for_long(s: Busy) -> None:
    s.event("alice")
    s.run(BUSY_SECONDS[0])
    assert s.counts == {"created": 1}
    s.run(100.0)
    s.event("bob")
    assert s.woken == 2
    s.run(BUSY_SECONDS[0])
    assert s.counts == {"created": 2}


def test_the_pace_goes_up_before_events_are_lost(s: Busy) -> None:
    for number in range(MAX_UNSENT):
        s.event(f"user-{number}")
    s.run(1.0)
    sent = len(s.server.calls)
    assert sent == pytest.approx(1.0 / BUSY_SECONDS[1], abs=2)
    for number in range(sent):
        s.event(f"other-{number}")
    assert s.counts["dropped"] == 0


def test_the_last_events_of_a_process_do_not_keep_to_the_pace(s: Busy) -> None:
    for number in range(50):
        s.event(f"user-{number}")
    s.recorder.flush(1.0)
    assert s.counts == {"created": 50}


def test_a_server_that_asked_for_a_pause_has_it_when_the_work_rests_too(s: Busy) -> None:
    s.server.faults.append(refused(429, "TooManyRequests", retry_after=5.0))
    s.event()
    s.run(BUSY_SECONDS[0])
    s.rest()
    assert s.send() == pytest.approx(5.0)
    s.run(5.0)
    assert s.counts == {"created": 1}
