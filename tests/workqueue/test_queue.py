"""The plain queue, call by call: client-go's contract and controller-runtime's priorities."""

import gc
import weakref

import pytest

from tests.support.clock import FakeClock
from tests.workqueue.support import Crew, eventually, run_all, take_all
from workqueue import Item, NotProcessing, Queue, ShutDown


class Key:
    """A key that can be watched as it goes."""


class TestAdd:
    def test_an_added_key_is_handed_out_once(self, queue: Queue[str]) -> None:
        queue.add("a")
        assert queue.try_get() == Item("a", 0)
        assert queue.try_get() is None

    def test_a_thousand_adds_before_the_get_make_one_run(self, queue: Queue[str]) -> None:
        for _ in range(1000):
            queue.add("a")
        assert run_all(queue) == ["a"]

    def test_an_add_during_processing_waits_for_done_and_makes_exactly_one_more_run(
        self, queue: Queue[str]
    ) -> None:
        queue.add("a")
        queue.try_get()
        for _ in range(3):
            queue.add("a")
        assert queue.try_get() is None
        assert len(queue) == 0
        queue.done("a")
        assert run_all(queue) == ["a"]

    def test_a_key_in_process_does_not_hold_up_others(self, queue: Queue[str]) -> None:
        queue.add("a")
        queue.try_get()
        queue.add("a")
        queue.add("b")
        assert queue.try_get() == Item("b", 0)

    def test_an_add_after_shutdown_is_dropped(self, queue: Queue[str]) -> None:
        queue.shut_down()
        queue.add("a")
        assert queue.try_get() is None
        assert queue.idle()

    def test_an_add_during_processing_is_dropped_after_shutdown(self, queue: Queue[str]) -> None:
        queue.add("a")
        queue.try_get()
        queue.shut_down()
        queue.add("a")
        queue.done("a")
        assert queue.try_get() is None


class TestPriority:
    def test_higher_priorities_come_first_and_equal_ones_in_order(self, queue: Queue[str]) -> None:
        for key, priority in [("a", 0), ("low", -100), ("b", 0), ("high", 7), ("c", 0)]:
            queue.add(key, priority)
        assert take_all(queue) == [
            Item("high", 7),
            Item("a", 0),
            Item("b", 0),
            Item("c", 0),
            Item("low", -100),
        ]

    def test_a_raise_moves_the_key_to_the_end_of_its_new_priority(self, queue: Queue[str]) -> None:
        queue.add("a", -100)
        queue.add("b", -100)
        queue.add("c", 0)
        queue.add("a", 0)
        assert take_all(queue) == [Item("c", 0), Item("a", 0), Item("b", -100)]

    def test_a_lower_or_equal_priority_changes_neither_priority_nor_place(
        self, queue: Queue[str]
    ) -> None:
        queue.add("a", 1)
        queue.add("b", 1)
        queue.add("a", 1)
        queue.add("a", -100)
        assert take_all(queue) == [Item("a", 1), Item("b", 1)]

    def test_who_need_not_overtake_keeps_its_place_and_comes_in_any_case(
        self, queue: Queue[str]
    ) -> None:
        queue.add("a", -100)
        queue.add("b", -100)
        queue.add("b", 0, overtake=False)
        queue.add("c", -1, overtake=False)
        assert take_all(queue) == [Item("c", -1), Item("a", -100), Item("b", -100)]
        queue.add("a", 0, overtake=False)  # in process: it has no place
        queue.done("a")
        assert queue.try_get() == Item("a", 0)

    def test_of_adds_during_processing_the_highest_priority_counts(self, queue: Queue[str]) -> None:
        queue.add("a", 9)
        queue.try_get()
        for priority in (-100, 3, 1):
            queue.add("a", priority)
        queue.done("a")
        assert queue.try_get() == Item("a", 3)

    def test_a_priority_is_not_remembered_beyond_its_run(self, queue: Queue[str]) -> None:
        queue.add("a", 9)
        run_all(queue)
        queue.add("a", -1)
        assert queue.try_get() == Item("a", -1)

    def test_head_is_the_priority_of_the_next_key(self, queue: Queue[str]) -> None:
        assert queue.head() is None
        queue.add("a", -100)
        assert queue.head() == -100
        queue.add("b", 2)
        assert queue.head() == 2
        queue.try_get()
        assert queue.head() == -100
        queue.try_get()
        assert queue.head() is None


class TestGet:
    def test_it_takes_what_is_ready_without_waiting(self, queue: Queue[str]) -> None:
        queue.add("a")
        assert queue.get() == Item("a", 0)

    def test_with_no_time_to_wait_it_returns_none(self, queue: Queue[str]) -> None:
        assert queue.get(timeout=0) is None

    def test_it_returns_none_when_its_time_is_over(
        self, queue: Queue[str], clock: FakeClock
    ) -> None:
        got: list[Item[str] | None] = []
        crew = Crew()
        crew.start(lambda: got.append(queue.get(timeout=5)))
        eventually(lambda: clock.waiters == 1)
        clock.advance(4)
        assert got == []
        clock.advance(1)
        crew.join()
        assert got == [None]

    def test_each_add_wakes_one_waiting_getter(self, queue: Queue[str], clock: FakeClock) -> None:
        got: list[Item[str] | None] = []
        crew = Crew()
        for _ in range(3):
            crew.start(lambda: got.append(queue.get()))
        eventually(lambda: clock.waiters == 3)
        queue.add("a")
        eventually(lambda: len(got) == 1)
        assert clock.waiters == 2
        queue.add("b")
        queue.add("c")
        crew.join()
        assert {item.key for item in got if item} == {"a", "b", "c"}

    def test_who_waits_once_more_is_woken_once_more(
        self, queue: Queue[str], clock: FakeClock
    ) -> None:
        got: list[Item[str] | None] = []

        def wait_twice() -> None:
            got.append(queue.get())
            got.append(queue.get())

        crew = Crew()
        crew.start(wait_twice)
        eventually(lambda: clock.waiters == 1)
        queue.add("a")
        eventually(lambda: len(got) == 1 and clock.waiters == 1)
        queue.add("b")
        crew.join()
        assert got == [Item("a", 0), Item("b", 0)]

    def test_a_done_that_makes_its_key_ready_wakes_a_waiting_getter(
        self, queue: Queue[str], clock: FakeClock
    ) -> None:
        got: list[Item[str] | None] = []
        queue.add("a")
        queue.try_get()
        crew = Crew()
        crew.start(lambda: got.append(queue.get()))
        eventually(lambda: clock.waiters == 1)
        queue.add("a", 4)
        assert got == []
        queue.done("a")
        crew.join()
        assert got == [Item("a", 4)]

    def test_after_shutdown_it_hands_out_what_is_left_and_then_raises(
        self, queue: Queue[str]
    ) -> None:
        queue.add("a")
        queue.add("b")
        queue.shut_down()
        assert queue.get() == Item("a", 0)
        assert queue.get(timeout=1) == Item("b", 0)
        for timeout in (None, 0, 1):
            with pytest.raises(ShutDown):
                queue.get(timeout)

    def test_try_get_never_raises_after_shutdown(self, queue: Queue[str]) -> None:
        queue.add("a")
        queue.shut_down()
        assert queue.try_get() == Item("a", 0)
        assert queue.try_get() is None


class TestDone:
    def test_without_a_get_it_raises_and_names_the_key(self, clock: FakeClock) -> None:
        queue: Queue[str] = Queue(clock=clock, name="users")
        with pytest.raises(NotProcessing, match=r"'users'.*'team/alice'.*exactly once"):
            queue.done("team/alice")

    def test_for_a_queued_key_it_raises_and_does_not_queue_it_twice(
        self, queue: Queue[str]
    ) -> None:
        queue.add("a")
        with pytest.raises(NotProcessing):
            queue.done("a")
        assert take_all(queue) == [Item("a", 0)]

    def test_a_second_time_it_raises(self, queue: Queue[str]) -> None:
        queue.add("a")
        queue.try_get()
        queue.done("a")
        with pytest.raises(NotProcessing):
            queue.done("a")

    def test_after_shutdown_it_still_makes_a_key_ready_that_was_added_before(
        self, queue: Queue[str]
    ) -> None:
        queue.add("a")
        queue.try_get()
        queue.add("a")
        queue.shut_down()
        queue.done("a")
        assert queue.get() == Item("a", 0)

    def test_nothing_refers_to_a_key_that_is_done(self, clock: FakeClock) -> None:
        queue: Queue[Key] = Queue(clock=clock, name="keys")
        key = Key()
        gone = weakref.ref(key)
        queue.add(key)
        queue.add(key, 3)
        item = queue.try_get()
        queue.add(key, 1)
        queue.done(key)
        item = queue.try_get()
        queue.done(key)
        del key, item
        gc.collect()
        assert gone() is None


class TestLook:
    def test_len_counts_ready_keys_only(self, queue: Queue[str]) -> None:
        assert len(queue) == 0
        queue.add("a")
        queue.add("b", 5)
        queue.add("b")
        assert len(queue) == 2
        queue.try_get()
        queue.add("b")
        assert len(queue) == 1

    def test_idle_is_said_only_when_nothing_is_queued_or_in_process(
        self, queue: Queue[str]
    ) -> None:
        assert queue.idle()
        queue.add("a")
        assert not queue.idle()
        queue.try_get()
        assert not queue.idle()
        queue.done("a")
        assert queue.idle()


class TestWake:
    def test_it_is_called_once_for_each_key_that_becomes_ready(self, clock: FakeClock) -> None:
        calls: list[int] = []
        queue: Queue[str] = Queue(clock=clock, wake=lambda: calls.append(1))
        queue.add("a")
        queue.add("b")
        assert len(calls) == 2
        queue.add("a", 5)  # merged: ready already
        queue.try_get()
        queue.add("a")  # in process: not ready yet
        assert len(calls) == 2
        queue.done("a")
        assert len(calls) == 3
        assert run_all(queue) == ["b", "a"]
        queue.shut_down()
        queue.add("c")
        assert len(calls) == 3

    @pytest.mark.timeout(10)
    def test_it_is_called_without_the_lock(self, clock: FakeClock) -> None:
        looks: list[tuple[int, int | None]] = []
        woken: Queue[str] = Queue(
            clock=clock, wake=lambda: looks.append((len(woken), woken.head()))
        )
        woken.add("a", 3)
        woken.try_get()
        woken.add("a", 2)
        woken.done("a")
        assert looks == [(1, 3), (1, 2)]


def test_an_item_cannot_be_changed() -> None:
    item = Item("a", 1)
    with pytest.raises(AttributeError):
        item.key = "b"  # type: ignore[misc]  # the point of the test
    assert not hasattr(item, "__dict__")
