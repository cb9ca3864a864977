"""When the pool is busy, and when it rests."""

import threading
from collections.abc import Iterator

import pytest

from controller.harness.outcome import DONE, Result
from controller.watching.worker import Controller
from tests.controller.test_worker import DEADLINE, Pool, Threads


@pytest.fixture
def one() -> Pool:
    return Pool("user")


@pytest.fixture
def two() -> Pool:
    return Pool("user", "group")


@pytest.fixture
def three() -> Iterator[Threads]:
    threads = Threads(3)
    yield threads
    threads.end()


def test_the_pool_is_busy_from_the_first_key_until_nothing_is_ready(two: Pool) -> None:
    rests: list[list[str]] = []
    seen: list[bool] = []
    two.pool.rest_with(lambda: rests.append(list(two.worked)))

    def reconcile(key: str) -> Result:
        seen.append(two.pool.busy)
        two.worked.append(key)
        return DONE

    two.pool._controllers[0] = Controller("user", two.queues["user"], reconcile)
    assert not two.pool.busy
    for key in ("a", "b", "c"):
        two.queues["user"].add(key)
    two.work()
    two.pool.try_step()
    assert seen == [True] * 3
    assert not two.pool.busy
    assert rests == [["a", "b", "c"]], "told once, after the last"


def test_a_pool_without_work_is_not_told_to_rest(one: Pool) -> None:
    rests: list[None] = []
    one.pool.rest_with(lambda: rests.append(None))
    one.queues["user"].add_after("k", 30)
    one.work()
    assert rests == []


def test_work_that_fails_unforeseen_ends_the_busy_time_too(one: Pool) -> None:
    def reconcile(_key: str) -> Result:
        raise RuntimeError("a fault of the program")

    one.pool._controllers[0] = Controller("user", one.queues["user"], reconcile)
    one.queues["user"].add("k")
    one.work()
    assert not one.pool.busy


def test_a_key_that_another_worker_took_first_does_not_keep_the_pool_busy(
    one: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests: list[None] = []
    queue = one.queues["user"]
    take = queue.try_get

    def too_late() -> None:
        """The other one took it between the look and the call, and is done with it."""
        item = take()
        assert item is not None
        queue.done(item.key)

    monkeypatch.setattr(queue, "try_get", too_late)
    one.pool.rest_with(lambda: rests.append(None))
    queue.add("k")
    assert not one.pool.try_step()
    assert one.worked == []
    assert not one.pool.busy
    assert len(rests) == 1


def test_the_pool_is_busy_while_one_worker_has_a_key(three: Threads) -> None:
    rested = threading.Event()
    three.pool.rest_with(rested.set)
    three.busy("long")
    three.expect("short")
    three.queues["group"].add("short")
    three.worked_on("short")
    three.until(lambda: three.clock.waiters == 2)
    assert three.pool.busy
    assert not rested.is_set()
    three.hold["long"].set()
    assert rested.wait(DEADLINE)
    assert not three.pool.busy
