"""Faults that people had with the queues of their controllers, tried on this one."""

import gc
import time
import weakref
from pathlib import Path

import pytest

from tests.support.clock import FakeClock
from tests.workqueue.support import SystemClock
from workqueue import DelayingQueue, ItemExponential, Queue, RateLimitingQueue


class TestG01ExponentOverflow:
    def test_after_5000_failures_the_delay_is_still_the_cap(self) -> None:
        limiter: ItemExponential[str] = ItemExponential()
        delays = [limiter.when("a") for _ in range(5000)]
        assert delays == sorted(delays)
        assert set(delays[16:]) == {300.0}

    def test_the_failure_counter_is_bounded(self) -> None:
        limiter: ItemExponential[str] = ItemExponential()
        for _ in range(25_000):
            limiter.when("a")
        assert limiter.num_requeues("a") == 10_000
        assert limiter.when("a") == 300.0


class TestG02FailureCountIsForgotten:
    def test_after_a_success_the_delay_starts_at_base(self) -> None:
        queue: RateLimitingQueue[str] = RateLimitingQueue(
            clock=FakeClock(), limiter=ItemExponential(base=1)
        )
        for _ in range(12):
            queue.add_rate_limited("a")
        queue.forget("a")
        queue.add("a")
        assert queue.try_get() is not None
        queue.done("a")
        queue.add_rate_limited("a")
        assert queue.next_due() == 1

    def test_ten_thousand_deleted_keys_that_had_failed_leave_nothing(self) -> None:
        limiter: ItemExponential[int] = ItemExponential()
        for key in range(10_000):
            limiter.when(key)
        assert len(limiter._failures) == 10_000
        for key in range(10_000):
            limiter.forget(key)
        assert limiter._failures == {}


class Big:
    """A key that would be missed if it stayed."""

    def __init__(self) -> None:
        self.load = bytes(10_000)


def resident_bytes() -> int:
    """The memory of this process that is in RAM (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


class TestG05ItemMemoryKeptAlive:
    def test_ten_thousand_big_keys_are_gone_when_they_are_done(self) -> None:
        clock = FakeClock()
        queue: RateLimitingQueue[Big] = RateLimitingQueue(
            clock=clock, limiter=ItemExponential(), name="big"
        )
        gone = []
        for n in range(10_000):
            key = Big()
            gone.append(weakref.ref(key))
            queue.add_after(key, 1 + n % 7, n % 5)
            if n % 3:
                queue.add(key, n % 4)
            del key
        clock.advance(10)
        while (item := queue.try_get()) is not None:
            if item.priority % 2:
                queue.add_rate_limited(item.key)
                queue.forget(item.key)
            queue.done(item.key)
        clock.advance(1)
        while (item := queue.try_get()) is not None:
            queue.done(item.key)
        del item
        gc.collect()
        assert queue.idle()
        assert sum(ref() is not None for ref in gone) == 0

    @pytest.mark.slow
    def test_memory_stays_flat_over_a_million_keys(self) -> None:
        queue: Queue[str] = Queue(clock=SystemClock())

        def pass_through(keys: range) -> None:
            for start in keys[::1000]:
                for n in range(start, start + 1000):
                    queue.add(f"namespace/user-{n}", n % 3)
                while (item := queue.try_get()) is not None:
                    queue.done(item.key)

        pass_through(range(200_000))
        before = resident_bytes()
        pass_through(range(200_000, 1_000_000))
        assert resident_bytes() - before < 2_000_000


@pytest.mark.slow
def test_the_time_for_a_key_does_not_grow_with_the_number_of_keys() -> None:
    """A queue that scans or shifts would take a hundred times as long with a hundred times more."""

    def seconds_a_key(keys: int) -> float:
        queue: DelayingQueue[int] = DelayingQueue(clock=SystemClock())
        start = time.perf_counter()
        for key in range(keys):
            queue.add(key, key % 3)
        for key in range(keys):
            queue.add(key, 3)  # raise
        while (item := queue.try_get()) is not None:
            queue.add_after(item.key, 60)
            queue.add(item.key)
            queue.done(item.key)
            if item.priority == 0:
                break
        return (time.perf_counter() - start) / keys

    few = min(seconds_a_key(2_000) for _ in range(5))
    many = min(seconds_a_key(200_000) for _ in range(2))
    assert many < 10 * few
