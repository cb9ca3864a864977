"""What a queue reports has the meaning that client-go gives it."""

from collections.abc import Callable

import pytest

from tests.support.clock import FakeClock
from tests.workqueue.support import run_all
from workqueue import (
    DelayingQueue,
    ItemExponential,
    Queue,
    QueueObserver,
    QueueStats,
    RateLimitingQueue,
)


class Recorder:
    """A provider that notes what it is told, for one queue."""

    def __init__(self, *, durations: bool = True) -> None:
        self.durations = durations
        self.stats: dict[str, Callable[[], QueueStats]] = {}
        self.queued: list[float] = []
        self.worked: list[float] = []
        self.when_told: Callable[[], object] = lambda: None

    def register(self, name: str, stats: Callable[[], QueueStats]) -> QueueObserver | None:
        stats()  # a scrape may come at once
        self.stats[name] = stats
        return self if self.durations else None

    def queue_duration(self, seconds: float) -> None:
        self.when_told()
        self.queued.append(seconds)

    def work_duration(self, seconds: float) -> None:
        self.when_told()
        self.worked.append(seconds)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def queue(clock: FakeClock, recorder: Recorder) -> RateLimitingQueue[str]:
    limiter: ItemExponential[str] = ItemExponential(base=1)
    return RateLimitingQueue(clock=clock, limiter=limiter, name="users", metrics=recorder)


def test_a_new_queue_has_all_numbers_at_zero(
    queue: RateLimitingQueue[str], recorder: Recorder
) -> None:
    assert recorder.stats.keys() == {"users"}
    assert recorder.stats["users"]() == QueueStats({}, 0, 0, 0.0, 0.0)


def test_depth_counts_ready_and_readded_keys_by_priority_but_not_delayed_ones(
    queue: RateLimitingQueue[str], clock: FakeClock
) -> None:
    queue.add("a")
    queue.add("b", -100)
    queue.add("b", -100)
    queue.add_after("later", 5, 3)
    assert queue.stats().depth == {0: 1, -100: 1}
    queue.try_get()
    assert queue.stats().depth == {-100: 1}
    queue.add("a", -100)  # in process, and yet it waits for a worker
    assert queue.stats().depth == {-100: 2}
    queue.done("a")
    assert queue.stats().depth == {-100: 2}
    clock.advance(5)
    assert queue.stats().depth == {-100: 2, 3: 1}
    run_all(queue)
    assert queue.stats().depth == {}


def test_a_raise_moves_the_depth_to_the_new_priority(queue: RateLimitingQueue[str]) -> None:
    queue.add("a", 1)
    queue.add("a", 2)
    assert queue.stats().depth == {2: 1}


def test_adds_counts_what_was_not_merged_and_delayed_keys_when_they_are_due(
    queue: RateLimitingQueue[str], clock: FakeClock
) -> None:
    queue.add("a")
    queue.add("a", 5)
    assert queue.stats().adds == 1
    queue.try_get()
    queue.add("a")
    queue.add("a")
    assert queue.stats().adds == 2
    queue.add_after("b", 5)
    assert queue.stats().adds == 2
    clock.advance(5)
    assert queue.stats().adds == 3
    queue.shut_down()
    queue.add("c")
    assert queue.stats().adds == 3


def test_retries_counts_every_add_after_even_without_delay(queue: RateLimitingQueue[str]) -> None:
    queue.add("a")
    assert queue.stats().retries == 0
    queue.add_after("a", 0)
    queue.add_after("b", 5)
    queue.add_after("b", 9)
    queue.add_rate_limited("c")
    assert queue.stats().retries == 4
    queue.shut_down()
    queue.add_after("a", 1)
    assert queue.stats().retries == 4


def test_queue_duration_runs_from_the_first_add_to_the_get(
    queue: RateLimitingQueue[str], clock: FakeClock, recorder: Recorder
) -> None:
    queue.add("a")
    clock.advance(2)
    queue.add("a", 9)
    clock.advance(1)
    queue.get()
    queue.add("a")
    clock.advance(4)
    queue.done("a")
    clock.advance(0.5)
    queue.try_get()
    assert recorder.queued == [3, 4.5]


def test_queue_duration_of_a_delayed_key_starts_when_it_is_due_whoever_looks_when(
    queue: RateLimitingQueue[str], clock: FakeClock, recorder: Recorder
) -> None:
    queue.add_after("a", 10)
    queue.add_after("b", 10)
    clock.advance(14)
    queue.add("b")  # due since 4 s, but nobody has looked yet
    run_all(queue)
    queue.add_after("c", 10)
    queue.add("c")  # not due yet
    run_all(queue)
    assert recorder.queued == [4, 4, 0]


def test_work_duration_runs_from_get_to_done(
    queue: RateLimitingQueue[str], clock: FakeClock, recorder: Recorder
) -> None:
    queue.add("a")
    queue.get()
    clock.advance(7)
    assert recorder.worked == []
    queue.done("a")
    assert recorder.worked == [7]


def test_unfinished_and_longest_running_are_the_ages_of_what_is_in_process_now(
    queue: RateLimitingQueue[str], clock: FakeClock
) -> None:
    for key in "ab":
        queue.add(key)
        queue.get()
        clock.advance(5)
    stats = queue.stats()
    assert (stats.unfinished_seconds, stats.longest_running_seconds) == (15, 10)
    queue.done("a")
    stats = queue.stats()
    assert (stats.unfinished_seconds, stats.longest_running_seconds) == (5, 5)


def test_an_unnamed_queue_reports_nothing(clock: FakeClock, recorder: Recorder) -> None:
    queue: Queue[str] = Queue(clock=clock, metrics=recorder)
    queue.add("a")
    run_all(queue)
    assert (recorder.stats, recorder.queued, recorder.worked) == ({}, [], [])


def test_a_provider_may_want_no_durations(clock: FakeClock) -> None:
    recorder = Recorder(durations=False)
    queue: Queue[str] = Queue(clock=clock, name="users", metrics=recorder)
    queue.add("a")
    run_all(queue)
    assert recorder.queued == []
    assert recorder.stats["users"]().adds == 1


@pytest.mark.timeout(10)
def test_an_observer_is_told_without_the_lock(clock: FakeClock, recorder: Recorder) -> None:
    queue: DelayingQueue[str] = DelayingQueue(clock=clock, name="users", metrics=recorder)
    recorder.when_told = queue.stats
    queue.add("a")
    queue.get()
    queue.done("a")
    queue.add("a")
    run_all(queue)
    assert (len(recorder.queued), len(recorder.worked)) == (2, 2)
