"""The delaying layer: when a delayed key becomes ready, and what is merged with what."""

import gc
import math
import weakref

import pytest

from tests.support.clock import FakeClock
from tests.workqueue.support import Crew, eventually, run_all, take_all
from workqueue import DelayingQueue, Item, ShutDown


class Key:
    """A key that can be watched as it goes."""


@pytest.fixture
def queue(clock: FakeClock) -> DelayingQueue[str]:
    return DelayingQueue(clock=clock)


class TestAddAfter:
    def test_a_delayed_key_is_ready_when_its_time_comes_and_not_before(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        queue.add_after("a", 10)
        clock.advance(9.5)
        assert (queue.try_get(), queue.head(), len(queue)) == (None, None, 0)
        clock.advance(0.5)
        assert queue.try_get() == Item("a", 0)
        queue.done("a")
        clock.advance(1000)
        assert queue.try_get() is None

    def test_who_asks_again_for_the_same_time_keeps_the_place(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        for key in ("a", "b", "a"):
            queue.add_after(key, 10)
        clock.advance(10)
        assert [queue.try_get(), queue.try_get()] == [Item("a", 0), Item("b", 0)]
        queue.done("a")
        queue.done("b")

    @pytest.mark.parametrize("seconds", [0, -1, -math.inf, math.nan])
    def test_no_delay_means_now(self, queue: DelayingQueue[str], seconds: float) -> None:
        queue.add_after("a", seconds, 3)
        assert queue.try_get() == Item("a", 3)

    @pytest.mark.parametrize("look", ["head", "__len__", "try_get", "stats"])
    def test_any_look_makes_due_keys_ready(
        self, queue: DelayingQueue[str], clock: FakeClock, look: str
    ) -> None:
        queue.add_after("a", 1)
        clock.advance(1)
        getattr(queue, look)()
        assert queue.next_due() is None

    def test_due_keys_come_in_the_order_of_their_times(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        for key, seconds in [("c", 3), ("a", 1), ("later", 9), ("b", 2)]:
            queue.add_after(key, seconds)
        clock.advance(5)
        assert [item.key for item in take_all(queue)] == ["a", "b", "c"]

    def test_due_keys_come_by_priority_first(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        queue.add_after("a", 1, -100)
        queue.add_after("b", 2, 5)
        queue.add("c")
        clock.advance(2)
        assert queue.head() == 5
        assert take_all(queue) == [Item("b", 5), Item("c", 0), Item("a", -100)]

    def test_a_delay_asked_for_in_process_runs_after_done(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        queue.add("a")
        queue.try_get()
        queue.add_after("a", 5)
        clock.advance(6)
        assert queue.try_get() is None  # due, but still with its worker
        queue.done("a")
        assert run_all(queue) == ["a"]

    def test_a_very_long_delay_can_be_waited_for(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        queue.add_after("a", math.inf)
        due = queue.next_due()
        assert due is not None
        assert 1e8 < due < 1e9


class TestMerge:
    @pytest.mark.parametrize(("first", "second"), [(10, 3), (3, 10), (3, 3)])
    def test_of_two_delays_the_earlier_wins_and_one_run_is_made(
        self, queue: DelayingQueue[str], clock: FakeClock, first: float, second: float
    ) -> None:
        queue.add_after("a", first)
        queue.add_after("a", second)
        assert queue.next_due() == 3
        clock.advance(3)
        assert run_all(queue) == ["a"]
        clock.advance(100)
        assert run_all(queue) == []

    @pytest.mark.parametrize(("first", "second"), [(1, 6), (6, 1)])
    @pytest.mark.parametrize("later", [3, 10])
    def test_of_two_delays_the_higher_priority_counts(
        self, queue: DelayingQueue[str], clock: FakeClock, first: int, second: int, later: float
    ) -> None:
        queue.add_after("a", 5, first)
        queue.add_after("a", later, second)
        clock.advance(5)
        assert queue.try_get() == Item("a", 6)

    def test_an_add_drops_the_pending_delay_and_keeps_the_higher_priority(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        queue.add_after("a", 5, 7)
        queue.add("a", 1)
        assert queue.next_due() is None
        assert queue.try_get() == Item("a", 7)
        queue.done("a")
        clock.advance(5)
        assert queue.try_get() is None

    def test_a_delay_for_a_ready_key_is_part_of_the_run_that_comes(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        queue.add("b", 2)
        queue.add("a")
        queue.add_after("a", 5, 2)
        assert queue.next_due() is None
        assert take_all(queue) == [Item("b", 2), Item("a", 2)]

    def test_a_reconciler_that_asks_to_look_later_loses_no_look_to_an_add(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        """Its own delay is superseded by the run that the add causes, and that run asks anew."""
        looks: list[float] = []

        def reconcile() -> None:
            item = queue.try_get()
            assert item is not None
            looks.append(clock.monotonic())
            queue.add_after(item.key, 30)
            queue.done(item.key)

        start = clock.monotonic()
        queue.add("a")
        reconcile()  # the next look is wanted at 30
        clock.advance(20)
        queue.add("a")
        reconcile()  # and now at 50
        clock.advance(10)
        assert queue.try_get() is None
        clock.advance(20)
        reconcile()
        assert [at - start for at in looks] == [0, 20, 50]

    def test_an_add_in_process_beats_the_delay_that_the_running_reconciler_asks_for(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        for added_first in (True, False):
            queue.add("a")
            queue.try_get()
            if added_first:
                queue.add("a")
            queue.add_after("a", 30)
            if not added_first:
                queue.add("a")
            queue.done("a")
            assert run_all(queue) == ["a"]
            assert queue.next_due() is None

    def test_nothing_refers_to_a_key_whose_delays_were_superseded(self, clock: FakeClock) -> None:
        queue: DelayingQueue[Key] = DelayingQueue(clock=clock)
        key = Key()
        gone = weakref.ref(key)
        for seconds in range(300, 1, -1):
            queue.add_after(key, seconds)
        queue.add(key)
        queue.try_get()
        queue.done(key)
        del key
        gc.collect()
        assert gone() is None

    def test_superseded_delays_do_not_pile_up(self, queue: DelayingQueue[str]) -> None:
        queue.add_after("soon", 0.5)  # stays on top, so that nothing below it is seen
        for _ in range(10_000):
            queue.add_after("a", 300)
            queue.add("a")
            run_all(queue)
        heap = queue._schedule._heap  # nothing public shows it
        assert len(heap) < 100

    def test_the_delays_of_others_keep_their_order_when_many_are_superseded(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        others = [str(n * 37 % 101) for n in range(1, 101)]
        for key in others:
            queue.add_after(key, int(key))
        for _ in range(1000):
            queue.add_after("a", 300)
            queue.add("a")
            run_all(queue)
        clock.advance(101)
        assert run_all(queue) == sorted(others, key=int)


class TestNextDue:
    def test_it_says_the_seconds_until_the_earliest_delay(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        assert queue.next_due() is None
        queue.add_after("a", 8)
        queue.add_after("b", 4)
        clock.advance(1)
        assert queue.next_due() == 3
        clock.advance(5)
        assert queue.next_due() == 0
        assert run_all(queue) == ["b"]
        assert queue.next_due() == 2

    def test_a_superseded_delay_is_not_waited_for(self, queue: DelayingQueue[str]) -> None:
        queue.add_after("a", 2)
        queue.add_after("b", 8)
        queue.add("a")
        assert queue.next_due() == 8


class TestBlockedGet:
    def test_it_waits_until_the_next_due_time(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        queue.add_after("a", 5)
        got: list[Item[str] | None] = []
        crew = Crew()
        crew.start(lambda: got.append(queue.get()))
        eventually(lambda: clock.waiters == 1)
        clock.advance(5)
        crew.join()
        assert got == [Item("a", 0)]

    def test_its_time_may_be_over_before_the_next_due_time(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        queue.add_after("a", 5)
        got: list[Item[str] | None] = []
        crew = Crew()
        crew.start(lambda: got.append(queue.get(timeout=2)))
        eventually(lambda: clock.waiters == 1)
        clock.advance(2)
        crew.join()
        assert got == [None]

    def test_it_learns_of_a_delay_that_was_added_while_it_waits(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        queue.add_after("later", 100)
        got: list[Item[str] | None] = []
        crew = Crew()
        crew.start(lambda: got.append(queue.get()))
        eventually(lambda: clock.waiters == 1)
        queue.add_after("a", 5)
        clock_at_rest(queue, clock, getters=1)
        clock.advance(5)
        crew.join()
        assert got == [Item("a", 0)]

    def test_two_waiting_getters_take_two_delayed_keys_each_at_its_time(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        """One getter takes the first key and is busy: the other must be up for the second."""
        got: list[Item[str] | None] = []
        crew = Crew()
        for _ in range(2):
            crew.start(lambda: got.append(queue.get()))
        eventually(lambda: clock.waiters == 2)
        queue.add_after("a", 5)
        queue.add_after("b", 6)
        clock_at_rest(queue, clock, getters=2)
        clock.advance(5)
        eventually(lambda: len(got) == 1)
        clock_at_rest(queue, clock, getters=1)
        clock.advance(1)
        crew.join()
        assert got == [Item("a", 0), Item("b", 0)]


def clock_at_rest(queue: DelayingQueue[str], clock: FakeClock, *, getters: int) -> None:
    """Wait until all getters wait for the next due time (the clock cannot tell old from new)."""
    due = queue.next_due()
    assert due is not None
    deadline = clock.monotonic() + due

    def settled() -> bool:
        with clock._lock:
            return [end for _, end in clock._waiting] == [deadline] * getters

    eventually(settled)


class TestShutDown:
    def test_delayed_keys_are_dropped(self, queue: DelayingQueue[str], clock: FakeClock) -> None:
        queue.add_after("a", 5)
        queue.add("b")
        queue.shut_down()
        assert queue.next_due() is None
        clock.advance(10)
        assert run_all(queue) == ["b"]
        with pytest.raises(ShutDown):
            queue.get()

    def test_a_drain_does_not_wait_for_delayed_keys_and_nothing_fires_after_it(
        self, queue: DelayingQueue[str], clock: FakeClock
    ) -> None:
        queue.add_after("a", 5)
        assert queue.shut_down_with_drain(0)
        queue.add_after("b", 5)
        queue.add_after("c", 0)
        clock.advance(10)
        assert (queue.try_get(), queue.head(), queue.next_due()) == (None, None, None)

    def test_nothing_refers_to_a_dropped_key(self, clock: FakeClock) -> None:
        queue: DelayingQueue[Key] = DelayingQueue(clock=clock)
        key = Key()
        gone = weakref.ref(key)
        queue.add_after(key, 5)
        queue.shut_down()
        del key
        gc.collect()
        assert gone() is None

    def test_a_delay_is_not_idle(self, queue: DelayingQueue[str], clock: FakeClock) -> None:
        queue.add_after("a", 5)
        assert not queue.idle()
        queue.shut_down()
        assert queue.idle()


class TestWake:
    def test_it_is_called_for_each_key_that_a_look_finds_due(self, clock: FakeClock) -> None:
        calls: list[int] = []
        queue: DelayingQueue[str] = DelayingQueue(clock=clock, wake=lambda: calls.append(1))
        queue.add_after("a", 5)
        queue.add("b")
        queue.try_get()
        queue.add_after("b", 5)
        calls.clear()
        clock.advance(5)
        assert queue.head() == 0
        assert len(calls) == 1  # b is due too, but still with its worker
        queue.done("b")
        assert len(calls) == 2

    def test_it_is_called_when_the_next_due_time_moves_forward(self, clock: FakeClock) -> None:
        calls: list[int] = []
        queue: DelayingQueue[str] = DelayingQueue(clock=clock, wake=lambda: calls.append(1))
        queue.add_after("a", 5)
        assert len(calls) == 1
        queue.add_after("b", 6)
        queue.add_after("a", 7)
        queue.add_after("c", 5)
        assert len(calls) == 1
        queue.add_after("b", 4)
        assert len(calls) == 2

    @pytest.mark.timeout(10)
    @pytest.mark.parametrize("look", ["head", "__len__", "try_get", "get", "stats"])
    def test_it_is_called_without_the_lock(self, clock: FakeClock, look: str) -> None:
        calls: list[float | None] = []
        woken: DelayingQueue[str] = DelayingQueue(
            clock=clock, wake=lambda: calls.append(woken.next_due())
        )
        woken.add_after("a", 5)
        clock.advance(5)
        getattr(woken, look)()
        assert calls == [5, None]
