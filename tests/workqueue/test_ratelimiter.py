"""The back-off of each key, and the layer that applies it."""

import gc
import sys
import weakref
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.clock import FakeClock
from tests.workqueue.support import run_all
from workqueue import Item, ItemExponential, RateLimiter, RateLimitingQueue


class Key:
    """A key that can be watched as it goes."""


TABLE = [
    *(0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64),
    *(1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84),
    *(300.0, 300.0, 300.0),
]


class TestItemExponential:
    def test_each_failure_doubles_the_delay_up_to_the_cap(self) -> None:
        limiter: ItemExponential[str] = ItemExponential()
        assert [limiter.when("a") for _ in TABLE] == pytest.approx(TABLE)

    def test_the_numbers_of_client_go_reach_their_cap_at_the_19th_failure(self) -> None:
        limiter: ItemExponential[str] = ItemExponential(base=0.005, cap=1000.0)
        delays = [limiter.when("a") for _ in range(20)]
        assert delays[17] == pytest.approx(655.36)
        assert delays[18:] == [1000.0, 1000.0]

    def test_keys_fail_apart_from_each_other(self) -> None:
        limiter: ItemExponential[str] = ItemExponential(base=1)
        assert [limiter.when("a"), limiter.when("a"), limiter.when("b")] == [1, 2, 1]
        assert (limiter.num_requeues("a"), limiter.num_requeues("b")) == (2, 1)

    def test_forget_starts_over(self) -> None:
        limiter: ItemExponential[str] = ItemExponential(base=1)
        limiter.when("a")
        limiter.when("a")
        limiter.forget("a")
        limiter.forget("never failed")
        assert limiter.num_requeues("a") == 0
        assert limiter.when("a") == 1

    @pytest.mark.parametrize(
        ("base", "cap"), [(0, 1), (-1, 1), (2, 1), (1, float("inf")), (float("nan"), 1)]
    )
    def test_senseless_numbers_are_refused(self, base: float, cap: float) -> None:
        with pytest.raises(ValueError, match="0 < base <= cap"):
            ItemExponential(base, cap)

    @given(
        base=st.floats(min_value=sys.float_info.min, max_value=1e6),
        factor=st.floats(min_value=1, max_value=1e300),
    )
    def test_the_delay_starts_at_base_grows_and_ends_at_cap(
        self, base: float, factor: float
    ) -> None:
        cap = min(base * factor, sys.float_info.max)
        limiter: ItemExponential[str] = ItemExponential(base, cap)
        delays = [limiter.when("a") for _ in range(1100)]
        assert delays[0] == base
        assert delays[-1] == cap
        assert all(before <= after <= 2 * before for before, after in pairwise(delays))


@pytest.fixture
def queue(clock: FakeClock) -> RateLimitingQueue[str]:
    return RateLimitingQueue(clock=clock, limiter=ItemExponential(base=1, cap=8))


class TestRateLimitingQueue:
    def test_a_key_that_goes_on_failing_waits_longer_each_time(
        self, queue: RateLimitingQueue[str], clock: FakeClock
    ) -> None:
        waits = []
        for _ in range(5):
            queue.add_rate_limited("a", 2)
            due = queue.next_due()
            assert due is not None
            waits.append(due)
            clock.advance(due)
            assert queue.try_get() == Item("a", 2)
            queue.done("a")
        assert waits == [1, 2, 4, 8, 8]
        assert queue.num_requeues("a") == 5

    def test_success_forgets(self, queue: RateLimitingQueue[str]) -> None:
        queue.add_rate_limited("a")
        queue.forget("a")
        assert queue.num_requeues("a") == 0
        assert queue.next_due() == 1  # what was asked for still comes
        queue.add("a")
        run_all(queue)
        queue.add_rate_limited("a")
        assert queue.next_due() == 1

    def test_an_event_does_not_wait_for_the_back_off_and_does_not_end_it(
        self, queue: RateLimitingQueue[str], clock: FakeClock
    ) -> None:
        queue.add_rate_limited("a")
        queue.add("a")
        assert run_all(queue) == ["a"]
        queue.add_rate_limited("a")
        assert queue.next_due() == 2

    def test_forget_does_not_give_the_key_back(self, queue: RateLimitingQueue[str]) -> None:
        queue.add("a")
        queue.try_get()
        queue.forget("a")
        queue.add("a")
        assert queue.try_get() is None
        queue.done("a")
        assert run_all(queue) == ["a"]

    def test_any_limiter_will_do(self, clock: FakeClock) -> None:
        class Fixed:
            def when(self, key: str) -> float:
                return 7.0

            def forget(self, key: str) -> None: ...

            def num_requeues(self, key: str) -> int:
                return 0

        limiter: RateLimiter[str] = Fixed()
        queue = RateLimitingQueue(clock=clock, limiter=limiter)
        queue.add_rate_limited("a")
        assert queue.next_due() == 7

    def test_nothing_refers_to_a_failed_key_that_was_forgotten(self, clock: FakeClock) -> None:
        queue: RateLimitingQueue[Key] = RateLimitingQueue(clock=clock, limiter=ItemExponential())
        key = Key()
        gone = weakref.ref(key)
        queue.add_rate_limited(key)
        clock.advance(1)
        assert queue.try_get() == Item(key, 0)
        queue.forget(key)
        queue.done(key)
        del key
        gc.collect()
        assert gone() is None
