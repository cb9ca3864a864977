"""Workers: what becomes of a key, which key comes next, and who wakes for it."""

import logging
import threading
from collections.abc import Callable, Iterator

import pytest

from controller.harness.outcome import AT_ONCE, DONE, LATER, Result
from controller.loop import Loop
from controller.watching.worker import IDLE_SECONDS, Controller, WorkerPool, settle
from tests.support.clock import FakeClock
from workqueue import ItemExponential, RateLimitingQueue

DEADLINE = 10.0


class Pool:
    """A pool over some queues, and what was worked on."""

    def __init__(self, *names: str) -> None:
        self.clock = FakeClock()
        self.pool = WorkerPool(self.clock)
        self.worked: list[str] = []
        self.results: dict[str, Result] = {}
        self.queues = {name: self._queue(name) for name in names}

    def _queue(self, name: str) -> RateLimitingQueue[str]:
        queue = RateLimitingQueue[str](
            clock=self.clock, limiter=ItemExponential(), wake=self.pool.wake
        )

        def reconcile(key: str) -> Result:
            self.worked.append(f"{name} {key}")
            return self.results.get(key, DONE)

        self.pool.add(Controller(name, queue, reconcile))
        return queue

    def work(self) -> list[str]:
        """All that is ready now, in order."""
        self.worked.clear()
        while self.pool.try_step():
            pass
        return list(self.worked)


@pytest.fixture
def one() -> Pool:
    return Pool("user")


@pytest.fixture
def two() -> Pool:
    return Pool("user", "group")


# --- settle: the whole of the retry rules -----------------------------------------------------


@pytest.mark.parametrize(
    ("result", "failures", "due"),
    [
        pytest.param(DONE, 0, None, id="done"),
        pytest.param(Result(error=ValueError(), terminal=True), 0, None, id="terminal, no rest"),
        pytest.param(Result(requeue_after=30.0), 0, 30.0, id="after a time"),
        pytest.param(Result(requeue_after=600.0, terminal=True), 0, 600.0, id="terminal"),
        pytest.param(AT_ONCE, 0, 0.0, id="at once"),
        pytest.param(LATER, 3, 0.02, id="backed off"),
        pytest.param(Result(rate_limited=True, error=ValueError()), 3, 0.02, id="failed"),
        pytest.param(
            Result(rate_limited=True, requeue_after=99.0), 3, 0.02, id="the back-off counts"
        ),
    ],
)
def test_what_becomes_of_a_key(one: Pool, result: Result, failures: int, due: float | None) -> None:
    queue = one.queues["user"]
    for _ in range(2):
        queue.add_rate_limited("k")
        one.clock.advance(1)
        queue.try_get()
        queue.done("k")
    queue.add("k", 7)
    item = queue.try_get()
    assert item is not None
    settle(queue, item, result)
    queue.done("k")
    assert queue.num_requeues("k") == failures
    if due == 0.0:
        assert queue.head() == 7
    else:
        assert queue.next_due() == (None if due is None else pytest.approx(due))
        one.clock.advance(due or 0)
        assert queue.head() == (7 if due else None)


def test_a_key_that_fails_comes_back_ever_later_and_success_ends_that(one: Pool) -> None:
    queue = one.queues["user"]
    queue.add("k")
    one.results["k"] = LATER
    waits = []
    for _ in range(4):
        assert one.work() == ["user k"]
        waits.append(queue.next_due() or 0.0)
        one.clock.advance(waits[-1])
    assert waits == pytest.approx([0.005, 0.01, 0.02, 0.04])
    one.results["k"] = DONE
    assert one.work() == ["user k"]
    assert queue.idle()
    assert queue.num_requeues("k") == 0


def test_an_add_during_the_work_is_one_more_pass(one: Pool) -> None:
    queue = one.queues["user"]
    added = iter([True])

    def reconcile(key: str) -> Result:
        one.worked.append(key)
        if next(added, False):
            queue.add(key)
            queue.add(key)
        return DONE

    one.pool._controllers[0] = Controller("user", queue, reconcile)
    queue.add("k")
    assert one.work() == ["k", "k"]


def test_a_reconcile_that_raises_ends_no_worker(
    one: Pool, caplog: pytest.LogCaptureFixture
) -> None:
    queue = one.queues["user"]

    def reconcile(key: str) -> Result:
        if key == "bad":
            raise RuntimeError("a fault of the program")
        one.worked.append(key)
        return DONE

    one.pool._controllers[0] = Controller("user", queue, reconcile)
    queue.add("bad")
    queue.add("good")
    assert one.work() == ["good"]
    assert queue.num_requeues("bad") == 1
    assert [r.levelno for r in caplog.records] == [logging.ERROR]
    assert caplog.records[0].exc_info is not None


# --- which key comes next ---------------------------------------------------------------------


def test_the_highest_priority_of_all_queues_comes_first(two: Pool) -> None:
    users, groups = two.queues["user"], two.queues["group"]
    for number in range(3):
        users.add(f"listed-{number}", -100)
    groups.add("listed", -100)
    groups.add("changed", 0)
    users.add("urgent", 10)
    assert two.work()[:2] == ["user urgent", "group changed"]


def test_equals_that_somebody_waits_for_come_in_turn_so_that_no_kind_waits_for_another(
    two: Pool,
) -> None:
    for number in range(50):
        two.queues["user"].add(str(number))
    for number in range(3):
        two.queues["group"].add(str(number))
    first = two.work()[:8]
    assert sum(entry.startswith("group") for entry in first) == 3


def test_of_what_nobody_waits_for_a_kind_comes_before_those_added_after_it(two: Pool) -> None:
    for number in range(3):
        two.queues["group"].add(str(number), -100)
        two.queues["user"].add(str(number), -100)
    assert two.work() == [f"{name} {number}" for name in ("user", "group") for number in range(3)]


def test_what_a_person_changed_overtakes_a_resync_of_thousands(two: Pool) -> None:
    for number in range(5000):
        two.queues["user"].add(str(number), -100)
    for _ in range(10):
        two.pool.try_step()
    two.queues["user"].add("4999", 0)
    two.worked.clear()
    two.pool.try_step()
    assert two.worked == ["user 4999"]


def test_the_next_due_key_is_that_of_all_queues(two: Pool) -> None:
    assert two.pool.next_due() is None
    two.queues["user"].add_after("k", 30)
    two.queues["group"].add_after("k", 20)
    assert two.pool.next_due() == 20


def test_nothing_is_taken_once_the_pool_is_stopped(one: Pool) -> None:
    one.queues["user"].add("k")
    one.pool.stop()
    assert not one.pool.try_step()
    assert one.pool.step() == 0.0
    assert len(one.queues["user"]) == 1


# --- real threads ---------------------------------------------------------------------------


class Threads(Pool):
    """The pool with real workers; the clock is still the test's."""

    def __init__(self, workers: int) -> None:
        super().__init__("user", "group")
        self.inside: dict[str, int] = {}
        self.most = 0
        self.guard = threading.Lock()
        self.hold: dict[str, threading.Event] = {}
        self.done: dict[str, threading.Event] = {}
        for name, queue in self.queues.items():
            controller = Controller(name, queue, self._reconcile)
            index = [c.name for c in self.pool._controllers].index(name)
            self.pool._controllers[index] = controller
        self.loops = [
            Loop(f"worker-{number}", self.pool.step, clock=self.clock) for number in range(workers)
        ]
        for loop in self.loops:
            loop.start()

    def _reconcile(self, key: str) -> Result:
        with self.guard:
            self.inside[key] = self.inside.get(key, 0) + 1
            self.most = max(self.most, self.inside[key])
        if key in self.hold:
            assert self.hold[key].wait(DEADLINE)
        with self.guard:
            self.inside[key] -= 1
            self.worked.append(key)
        if key in self.done:
            self.done[key].set()
        return DONE

    def until(self, condition: Callable[[], bool]) -> None:
        for _ in range(1000):
            if condition():
                return
            threading.Event().wait(0.005)
        raise AssertionError("it never comes to that")

    def all_wait(self) -> None:
        self.until(lambda: self.clock.waiters == len(self.loops))

    def busy(self, key: str) -> None:
        """Until a worker is at `key`, which it does not leave."""
        self.hold[key] = threading.Event()
        self.queues["user"].add(key)
        self.until(lambda: self.inside.get(key) == 1)

    def worked_on(self, key: str) -> None:
        assert self.done[key].wait(DEADLINE), f"nobody came for {key}"

    def expect(self, key: str) -> None:
        self.done[key] = threading.Event()

    def end(self) -> None:
        for event in self.hold.values():
            event.set()
        self.pool.stop()
        for loop in self.loops:
            loop.stop()
        self.clock.advance(IDLE_SECONDS)
        assert all(loop.join(DEADLINE) for loop in self.loops)
        assert all(loop.error is None for loop in self.loops)


@pytest.fixture
def three() -> Iterator[Threads]:
    threads = Threads(3)
    yield threads
    threads.end()


def test_a_key_is_never_with_two_workers(three: Threads) -> None:
    for _ in range(300):
        three.queues["user"].add("k")
        three.queues["group"].add("g")
    three.until(lambda: all(queue.idle() for queue in three.queues.values()))
    assert three.most == 1


def test_a_waiting_worker_wakes_for_what_is_added(three: Threads) -> None:
    three.all_wait()
    three.expect("k")
    three.queues["group"].add("k")
    three.worked_on("k")


def test_a_delayed_key_is_worked_on_when_it_is_due_and_not_before(three: Threads) -> None:
    three.all_wait()
    three.expect("k")
    three.queues["user"].add_after("k", 30)
    three.all_wait()
    three.clock.advance(29)
    three.all_wait()
    assert three.worked == []
    three.clock.advance(1)
    three.worked_on("k")


def test_an_earlier_delay_wakes_somebody_who_waited_for_a_later_one(three: Threads) -> None:
    three.queues["user"].add_after("late", 50)
    three.all_wait()
    three.expect("early")
    three.queues["group"].add_after("early", 5)
    three.all_wait()
    three.clock.advance(5)
    three.worked_on("early")
    assert three.worked == ["early"]


def test_who_goes_to_work_leaves_the_wait_for_the_next_delayed_key_to_another(
    three: Threads,
) -> None:
    """The only one that knew of it is busy: somebody else must be up when it is due."""
    three.all_wait()
    three.queues["user"].add_after("delayed", 5)
    three.all_wait()
    three.expect("delayed")
    three.busy("one")
    three.busy("two")
    three.until(lambda: three.clock.waiters == 1)
    three.clock.advance(5)
    three.worked_on("delayed")


def test_a_key_that_is_due_while_all_are_busy_is_taken_by_the_first_that_is_free(
    three: Threads,
) -> None:
    for key in ("one", "two", "three"):
        three.busy(key)
    three.expect("k")
    three.queues["user"].add_after("k", 1)
    three.clock.advance(1)
    three.hold["two"].set()
    three.worked_on("k")


def test_waiting_workers_end_when_the_pool_is_stopped(three: Threads) -> None:
    three.all_wait()
    three.pool.stop()
    for loop in three.loops:
        loop.stop()
    assert all(loop.join(DEADLINE) for loop in three.loops)


@pytest.mark.parametrize("round_number", range(5))
def test_no_key_is_lost_whatever_comes_when(three: Threads, round_number: int) -> None:
    keys = [f"{round_number}-{number}" for number in range(200)]
    for number, key in enumerate(keys):
        three.expect(key)
        queue = three.queues["user" if number % 2 else "group"]
        if number % 3:
            queue.add(key, number % 5)
        else:
            queue.add_after(key, number % 7)
    for _ in range(8):
        three.clock.advance(1)
    for key in keys:
        three.worked_on(key)
    assert three.most == 1
