import logging
import threading
import time
from collections.abc import Callable

import pytest

from controller.clock import SystemClock
from controller.loop import FOREVER, Loop
from tests.support.clock import FakeClock

DEADLINE = 5.0


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "never came true"
        time.sleep(0.001)


def finish(loop: Loop) -> None:
    loop.stop()
    assert loop.join(DEADLINE)


def test_a_step_follows_when_it_said_so() -> None:
    clock = FakeClock()
    steps: list[float] = []

    def step() -> float:
        steps.append(clock.monotonic())
        return 10.0

    loop = Loop("steps", step, clock=clock)
    loop.start()
    until(lambda: clock.waiters == 1)
    clock.advance(9.0)
    until(lambda: clock.waiters == 1)
    assert steps == [1000.0]

    clock.advance(1.0)
    until(lambda: len(steps) == 2 and clock.waiters == 1)
    assert steps == [1000.0, 1010.0]
    finish(loop)


def test_zero_is_at_once_and_forever_is_until_somebody_wakes_it() -> None:
    clock = FakeClock()
    waits = iter([0.0, 0.0, FOREVER, FOREVER])
    steps: list[int] = []

    def step() -> float:
        steps.append(1)
        return next(waits)

    loop = Loop("steps", step, clock=clock)
    loop.start()
    until(lambda: clock.waiters == 1)
    assert len(steps) == 3

    clock.advance(1e9)
    assert len(steps) == 3
    loop.wake()
    until(lambda: len(steps) == 4 and clock.waiters == 1)
    finish(loop)


def test_a_wake_during_a_step_is_not_lost() -> None:
    clock = FakeClock()
    steps: list[int] = []

    def step() -> float:
        steps.append(1)
        if len(steps) == 1:
            loop.wake()
        return FOREVER

    loop = Loop("steps", step, clock=clock)
    loop.start()
    until(lambda: clock.waiters == 1)
    assert len(steps) == 2
    finish(loop)


def test_who_makes_work_is_handed_the_wake() -> None:
    clock = FakeClock()
    wakes: list[Callable[[], None]] = []
    steps: list[int] = []

    def step() -> float:
        steps.append(1)
        return FOREVER

    loop = Loop("steps", step, clock=clock, wake=wakes.append)
    loop.start()
    until(lambda: clock.waiters == 1)
    wakes[0]()
    until(lambda: len(steps) == 2)
    finish(loop)


def test_stop_ends_what_a_step_waits_for() -> None:
    closed = threading.Event()
    inside = threading.Event()

    def step() -> float:
        inside.set()
        assert closed.wait(DEADLINE)
        return 0.0

    loop = Loop("stream", step, clock=SystemClock(), on_stop=closed.set)
    loop.start()
    assert inside.wait(DEADLINE)
    assert loop.running
    finish(loop)
    assert loop.error is None
    assert not loop.running


def test_no_step_begins_after_stop() -> None:
    steps: list[int] = []

    def step() -> float:
        steps.append(1)
        return 0.0

    loop = Loop("steps", step, clock=SystemClock())
    loop.stop()
    loop.start()

    assert loop.join(DEADLINE)
    assert steps == []


def test_an_error_on_stop_is_logged_and_stops_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail() -> None:
        raise OSError("cannot be closed")

    loop = Loop("stream", lambda: FOREVER, clock=FakeClock(), on_stop=fail)
    loop.start()
    finish(loop)

    assert "stopping stream failed" in caplog.text


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(3), KeyboardInterrupt()])
def test_a_thread_never_dies_silently(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[Loop] = []

    def step() -> float:
        raise error

    loop = Loop("worker-3", step, clock=FakeClock(), on_error=told.append)
    with caplog.at_level(logging.ERROR):
        loop.start()
        assert loop.join(DEADLINE)

    assert loop.error is error
    assert told == [loop]
    assert "worker-3 ended by an error" in caplog.text
    assert "failed" in repr(loop)


def test_the_thread_has_the_name_of_the_loop() -> None:
    names: list[str] = []

    def step() -> float:
        names.append(threading.current_thread().name)
        return FOREVER

    loop = Loop("reflector-LldapUser", step, clock=SystemClock())
    loop.start()
    until(lambda: bool(names))
    finish(loop)
    assert names == ["reflector-LldapUser"]


def test_joining_a_loop_that_never_began_is_fine() -> None:
    assert Loop("idle", lambda: FOREVER, clock=FakeClock()).join(0.0)


def test_join_says_whether_the_thread_ended() -> None:
    release = threading.Event()
    inside = threading.Event()

    def step() -> float:
        inside.set()
        release.wait(DEADLINE)
        return FOREVER

    loop = Loop("stuck", step, clock=SystemClock())
    loop.start()
    assert inside.wait(DEADLINE)
    loop.stop()
    assert not loop.join(0.01)
    release.set()
    assert loop.join(DEADLINE)


def test_a_stop_in_the_middle_of_a_wait_ends_at_once() -> None:
    clock = FakeClock()
    loop = Loop("standby", lambda: 3600.0, clock=clock)
    loop.start()
    until(lambda: clock.waiters == 1)
    before = time.monotonic()
    finish(loop)
    assert time.monotonic() - before < 1.0
