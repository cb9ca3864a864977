"""How the queue of any layer ends: what is dropped, what is handed out, and who returns when."""

import pytest

from tests.support.clock import FakeClock
from tests.workqueue.support import Crew, eventually
from workqueue import Item, Queue, ShutDown


class TestShutDown:
    def test_it_lets_all_waiting_getters_go(self, queue: Queue[str], clock: FakeClock) -> None:
        over: list[bool] = []

        def worker() -> None:
            with pytest.raises(ShutDown):
                queue.get()
            over.append(True)

        crew = Crew()
        for _ in range(4):
            crew.start(worker)
        eventually(lambda: clock.waiters == 4)
        queue.shut_down()
        crew.join()
        assert over == [True] * 4

    def test_it_may_be_called_again(self, queue: Queue[str]) -> None:
        said = [queue.shutting_down]
        queue.shut_down()
        queue.shut_down()
        said.append(queue.shutting_down)
        assert said == [False, True]
        assert queue.shut_down_with_drain(0)


class TestDrain:
    def test_an_idle_queue_is_drained_at_once(self, queue: Queue[str]) -> None:
        assert queue.shut_down_with_drain(0)
        assert queue.shutting_down

    def test_it_is_not_drained_while_a_key_is_queued_or_in_process(
        self, queue: Queue[str], clock: FakeClock
    ) -> None:
        queue.add("a")
        assert not queue.shut_down_with_drain(0)
        queue.get()
        assert not queue.shut_down_with_drain(0)
        queue.done("a")
        assert queue.shut_down_with_drain(0)

    def test_every_drainer_returns_when_queued_and_readded_keys_are_done_and_not_before(
        self, queue: Queue[str], clock: FakeClock
    ) -> None:
        queue.add("a")
        queue.add("b")
        queue.get()
        queue.add("a")
        drained: list[bool] = []
        crew = Crew()
        for _ in range(3):
            crew.start(lambda: drained.append(queue.shut_down_with_drain(60)))
        eventually(lambda: clock.waiters == 3)
        queue.done("a")
        assert [queue.get(), queue.get()] == [Item("b", 0), Item("a", 0)]
        queue.done("a")
        assert drained == []
        assert clock.waiters == 3
        queue.done("b")
        crew.join()
        assert drained == [True] * 3

    def test_it_gives_up_on_a_worker_that_never_calls_done(
        self, queue: Queue[str], clock: FakeClock
    ) -> None:
        queue.add("a")
        queue.get()
        drained: list[bool] = []
        crew = Crew()
        crew.start(lambda: drained.append(queue.shut_down_with_drain(30)))
        eventually(lambda: clock.waiters == 1)
        clock.advance(30)
        crew.join()
        assert drained == [False]

    def test_a_second_that_is_left_is_waited_for(self, queue: Queue[str], clock: FakeClock) -> None:
        queue.add("a")
        queue.get()
        drained: list[bool] = []
        crew = Crew()
        crew.start(lambda: drained.append(queue.shut_down_with_drain(1)))
        eventually(lambda: clock.waiters == 1)
        queue.done("a")
        crew.join()
        assert drained == [True]

    def test_a_shut_down_ends_every_drain(self, queue: Queue[str], clock: FakeClock) -> None:
        queue.add("a")
        drained: list[bool] = []
        crew = Crew()
        for _ in range(2):
            crew.start(lambda: drained.append(queue.shut_down_with_drain(60)))
        eventually(lambda: clock.waiters == 2)
        queue.shut_down()
        crew.join()
        assert drained == [False, False]

    def test_it_lets_waiting_getters_go(self, queue: Queue[str], clock: FakeClock) -> None:
        over: list[bool] = []

        def worker() -> None:
            with pytest.raises(ShutDown):
                queue.get()
            over.append(True)

        crew = Crew()
        crew.start(worker)
        eventually(lambda: clock.waiters == 1)
        assert queue.shut_down_with_drain(0)
        crew.join()
        assert over == [True]
