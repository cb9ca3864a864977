"""Many threads at once, with an interpreter that switches between them as often as it can."""

import random
import threading
import time
from collections import Counter
from functools import partial

import pytest

from tests.support.clock import FakeClock
from tests.workqueue.support import Crew, SystemClock, eventually, frequent_switches
from workqueue import DelayingQueue, ItemExponential, RateLimitingQueue, ShutDown

SEED = 20261129


class Runs:
    """What the runs of each key saw: fails when two overlap, knows when an add got no run."""

    def __init__(self, keys: int) -> None:
        self.wanted = [0] * keys
        self.seen = [0] * keys
        self.count = 0
        self._locks = [threading.Lock() for _ in range(keys)]
        self._counting = threading.Lock()  # guards wanted and count

    def want(self, key: int) -> None:
        with self._counting:
            self.wanted[key] += 1

    def run(self, key: int, pause: float) -> None:
        assert self._locks[key].acquire(blocking=False), f"two workers on key {key}"
        try:
            self.seen[key] = self.wanted[key]
            if pause:
                time.sleep(pause)
        finally:
            self._locks[key].release()
        with self._counting:
            self.count += 1


@pytest.mark.slow
class TestG03SameKeyInTwoWorkers:
    KEYS = 20

    def produce(self, queue: RateLimitingQueue[int], runs: Runs, seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(200):
            key = rng.randrange(self.KEYS)
            runs.want(key)
            match rng.randrange(3):
                case 0:
                    queue.add(key, rng.choice([-100, 0, 5]))
                case 1:
                    queue.add_after(key, rng.random() * 0.02, rng.choice([-100, 0, 5]))
                case _:
                    queue.add_rate_limited(key)
            if rng.random() < 0.05:
                time.sleep(rng.random() * 0.002)

    def work(self, queue: RateLimitingQueue[int], runs: Runs, seed: int) -> None:
        rng = random.Random(seed)
        while True:
            try:
                item = queue.get(timeout=rng.choice([None, 0.0, 0.001]))
            except ShutDown:
                return
            if item is not None:
                runs.run(item.key, rng.choice([0.0, 0.0, 0.0005]))
                queue.forget(item.key)
                queue.done(item.key)

    def test_no_two_runs_of_a_key_overlap_and_the_last_add_gets_its_run(self) -> None:
        limiter: ItemExponential[int] = ItemExponential(base=0.0005, cap=0.05)
        queue: RateLimitingQueue[int] = RateLimitingQueue(clock=SystemClock(), limiter=limiter)
        runs = Runs(self.KEYS)
        producers, workers = Crew(), Crew()
        with frequent_switches():
            for n in range(50):
                workers.start(partial(self.work, queue, runs, SEED + n))
                producers.start(partial(self.produce, queue, runs, SEED - n - 1))
            producers.join(60)
            eventually(queue.idle)
            assert queue.shut_down_with_drain(5)
            workers.join()
        assert runs.seen == runs.wanted
        assert sum(runs.wanted) == 50 * 200
        stats = queue.stats()
        assert runs.count == stats.adds
        assert (stats.depth, stats.unfinished_seconds) == ({}, 0)

    def test_the_earlier_of_two_delays_wins_in_whatever_order_threads_ask(self) -> None:
        clock = FakeClock()
        queue: DelayingQueue[int] = DelayingQueue(clock=clock)
        rng = random.Random(SEED)
        asked = [(key, float(rng.randrange(1, 100))) for key in range(50) for _ in range(40)]
        rng.shuffle(asked)
        crew = Crew()

        def ask(part: int) -> None:
            for key, seconds in asked[part::8]:
                queue.add_after(key, seconds)

        with frequent_switches():
            for part in range(8):
                crew.start(partial(ask, part))
            crew.join()
        earliest = {key: min(s for k, s in asked if k == key) for key in range(50)}
        came: dict[int, float] = {}
        for second in range(1, 100):
            clock.advance(1)
            while (item := queue.try_get()) is not None:
                assert item.key not in came
                came[item.key] = second
        assert came == earliest


@pytest.mark.slow
class TestG04ShutdownDeadlocks:
    WORKERS = 16

    def work(self, queue: DelayingQueue[int]) -> None:
        while True:
            try:
                item = queue.get()
            except ShutDown:
                return
            assert item is not None
            queue.done(item.key)

    def produce(self, queue: DelayingQueue[int], happened: Counter[str]) -> None:
        for key in range(200):
            queue.add(key % 17)
            queue.add_after(1000 + key, 3600)
            if queue.shutting_down:
                happened["shut down while adding"] += 1
                return

    def one_round(self, rng: random.Random) -> Counter[str]:
        """Shut down somewhere in the middle; says what happened."""
        queue: DelayingQueue[int] = DelayingQueue(clock=SystemClock())
        happened: Counter[str] = Counter()
        drained: list[bool] = []
        crew = Crew()
        for _ in range(self.WORKERS):
            crew.start(partial(self.work, queue))
        crew.start(partial(self.produce, queue, happened))
        end = time.monotonic() + rng.random() * 0.002
        while time.monotonic() < end:
            pass
        if rng.random() < 0.5:
            queue.shut_down()
        else:
            for _ in range(2):
                crew.start(lambda: drained.append(queue.shut_down_with_drain(2)))
        crew.join(2)
        assert queue.idle()
        assert queue.next_due() is None
        assert all(drained)
        happened["drained"] = len(drained)
        return happened

    @pytest.mark.timeout(300)
    def test_a_thousand_shutdowns_at_random_instants_let_all_threads_go(self) -> None:
        rng = random.Random(SEED)
        happened: Counter[str] = Counter()
        with frequent_switches():
            for _ in range(1000):
                happened += self.one_round(rng)
        assert happened["shut down while adding"] > 100  # else the instants are not in the middle
        assert happened["drained"] > 600

    def test_a_drain_waits_for_what_is_running_only(self) -> None:
        clock = FakeClock()
        queue: DelayingQueue[str] = DelayingQueue(clock=clock)
        queue.add("running")
        queue.get()
        queue.add_after("delayed", 60)
        drained: list[bool] = []
        crew = Crew()
        crew.start(lambda: drained.append(queue.shut_down_with_drain(30)))
        eventually(lambda: clock.waiters == 1)
        queue.done("running")
        crew.join()
        assert drained == [True]
