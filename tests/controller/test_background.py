"""Keys that nobody waits for have a part of the workers: who waits finds one, and quick servers."""

import threading
from collections.abc import Iterator

import pytest

from controller.watching.background import CALM_SECONDS, BackgroundLimit
from controller.watching.watching import PRIORITY_CHANGED, PRIORITY_LISTED
from tests.controller.test_worker import Pool, Threads
from tests.support.clock import FakeClock
from workqueue import Item, RateLimitingQueue

WORKERS = 8
RESERVED = 1


class Limit:
    """A limit, and as many background keys as it admits."""

    def __init__(self, workers: int) -> None:
        self.clock = FakeClock()
        self.limit = BackgroundLimit(self.clock)
        self.limit.workers = workers

    def fill(self) -> int:
        taken = 0
        while taken < 100 and self.limit.admits(PRIORITY_LISTED):
            self.limit.begin(PRIORITY_LISTED)
            taken += 1
        return taken

    def drain(self, count: int) -> None:
        for _ in range(count):
            self.limit.end(PRIORITY_LISTED)


@pytest.mark.parametrize(
    ("workers", "ordinary", "hurried"),
    [(1, 1, 1), (2, 2, 1), (3, 3, 1), (4, 3, 1), (8, 7, 1), (16, 14, 2), (64, 56, 8)],
)
def test_how_many_workers_have_background_keys(workers: int, ordinary: int, hurried: int) -> None:
    it = Limit(workers)
    assert it.fill() == ordinary
    assert it.limit.more_in() is None
    it.drain(ordinary)
    it.limit.begin(PRIORITY_CHANGED)
    assert it.fill() == hurried
    assert it.limit.more_in() == CALM_SECONDS
    it.limit.end(PRIORITY_CHANGED)
    assert it.fill() == 0, "as many as before for a while: the next change is often near"
    assert it.limit.more_in() == pytest.approx(CALM_SECONDS)
    it.clock.advance(CALM_SECONDS)
    assert it.fill() == ordinary - hurried


def test_urgent_keys_have_all_workers() -> None:
    it = Limit(4)
    it.fill()
    for _ in range(4):
        assert it.limit.admits(PRIORITY_CHANGED)
        it.limit.begin(PRIORITY_CHANGED)
    assert it.limit.admits(PRIORITY_CHANGED + 1)


def test_without_a_number_of_workers_there_is_no_limit() -> None:
    assert Limit(0).fill() == 100


@pytest.fixture
def eight() -> Iterator[Threads]:
    threads = Threads(WORKERS)
    threads.pool.workers(WORKERS)
    yield threads
    threads.end()


def hold(threads: Threads, count: int) -> list[str]:
    """So many background keys, which end when the test says so."""
    names = [f"listed-{number}" for number in range(count)]
    for name in names:
        threads.hold[name] = threading.Event()
    for name in names:
        threads.queues["user"].add(name, PRIORITY_LISTED)
    return names


def working(threads: Threads) -> int:
    with threads.guard:
        return sum(threads.inside.values())


def test_a_change_finds_a_free_worker_among_any_number_of_others(eight: Threads) -> None:
    hold(eight, 50)
    eight.until(lambda: working(eight) == WORKERS - RESERVED)
    eight.expect("changed")
    eight.queues["group"].add("changed", PRIORITY_CHANGED)
    eight.worked_on("changed")
    assert working(eight) == WORKERS - RESERVED


def test_no_background_key_is_begun_while_a_change_is_worked_on_and_shortly_after(
    eight: Threads,
) -> None:
    names = hold(eight, 50)
    eight.until(lambda: working(eight) == WORKERS - RESERVED)
    eight.busy("changed")
    for name in names[: WORKERS - RESERVED]:
        eight.hold[name].set()
    eight.until(lambda: working(eight) == 2)  # the change, and one of the others
    eight.until(lambda: eight.clock.waiters == WORKERS - 2)
    assert len(eight.queues["user"]) == 50 - (WORKERS - RESERVED) - 1
    eight.hold["changed"].set()
    eight.until(lambda: eight.clock.waiters == WORKERS - 1)
    eight.clock.advance(CALM_SECONDS)
    eight.until(lambda: working(eight) == WORKERS - RESERVED)
    for name in names:
        eight.hold[name].set()
    eight.until(lambda: set(names) <= set(eight.worked))


def test_who_finds_that_others_were_faster_takes_no_place_of_background_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else each lost race would leave it one worker fewer, for ever."""
    one = Pool("user")
    one.pool.workers(WORKERS)
    queue, real = one.queues["user"], RateLimitingQueue.try_get
    lost = iter([True] * 2 * WORKERS)

    def try_get(self: RateLimitingQueue[str]) -> Item[str] | None:
        return None if next(lost, False) else real(self)

    monkeypatch.setattr(RateLimitingQueue, "try_get", try_get)
    queue.add("listed", PRIORITY_LISTED)
    assert one.work() == ["user listed"]
    assert not one.pool.busy


class Counting(threading.Condition):
    """Counts who is woken."""

    woken = 0

    def notify(self, n: int = 1) -> None:
        self.woken += n
        super().notify(n)


def test_who_goes_from_key_to_key_wakes_nobody() -> None:
    one = Pool("user")
    for number in range(20):
        one.queues["user"].add(str(number), PRIORITY_LISTED)
    condition = one.pool._condition = Counting()
    assert len(one.work()) == 20
    assert condition.woken == 0
