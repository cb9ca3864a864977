"""Any sequence of calls, against a model that is too simple to be wrong."""

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.support.clock import FakeClock
from workqueue import Item, ItemExponential, NotProcessing, RateLimitingQueue, ShutDown

KEYS = st.sampled_from("abcd")
PRIORITIES = st.sampled_from([-100, 0, 0, 7])
# Sums of them are exact, so that model and queue agree on what is due.
SECONDS = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 64.0])


@dataclass
class Model:
    """Lists, searched from end to end."""

    now: float = 0.0
    ready: list[Item[str]] = field(default_factory=list)  # as they became ready
    delayed: list[tuple[float, Item[str]]] = field(default_factory=list)  # as they were asked for
    readded: dict[str, int] = field(default_factory=dict)  # added while in process: priority
    processing: set[str] = field(default_factory=set)
    closed: bool = False
    wakes: int = 0

    def add(self, key: str, priority: int, *, overtake: bool = True) -> None:
        wanted = key in self.readded or any(item.key == key for item in self.ready)
        if self.closed or (wanted and not overtake):
            return
        for due, item in self.delayed:
            if item.key == key:
                priority = max(priority, item.priority)
                self.delayed.remove((due, item))
                break
        waiting = [item for item in self.ready if item.key == key]
        if key in self.processing:
            self.readded[key] = max(priority, self.readded.get(key, priority))
        elif not waiting:
            self.ready.append(Item(key, priority))
            self.wakes += 1
        elif waiting[0].priority < priority:
            self.ready.remove(waiting[0])
            self.ready.append(Item(key, priority))

    def add_after(self, key: str, seconds: float, priority: int) -> None:
        wanted = key in self.readded or any(item.key == key for item in self.ready)
        if self.closed or seconds <= 0 or wanted:
            self.add(key, priority)
            return
        due = self.now + seconds
        self.wakes += all(due < other for other, _ in self.delayed)
        for other in self.delayed:
            if other[1].key == key:
                priority = max(priority, other[1].priority)
                place = self.delayed.index(other)
                if other[0] <= due:
                    self.delayed[place] = other[0], Item(key, priority)
                    return
                self.delayed.remove(other)
                break
        self.delayed.append((due, Item(key, priority)))

    def look(self) -> None:
        due = [entry for entry in self.delayed if entry[0] <= self.now]
        for entry in sorted(due, key=lambda entry: entry[0]):
            self.add(entry[1].key, entry[1].priority)

    def take(self) -> Item[str] | None:
        if not self.ready:
            return None
        item = max(self.ready, key=lambda item: item.priority)  # the first of the highest
        self.ready.remove(item)
        self.processing.add(item.key)
        return item

    def done(self, key: str) -> None:
        self.processing.remove(key)
        if key in self.readded:
            self.ready.append(Item(key, self.readded.pop(key)))
            self.wakes += 1

    def shut_down(self) -> None:
        self.closed = True
        self.delayed = []

    def idle(self) -> bool:
        return not (self.ready or self.delayed or self.readded or self.processing)


class QueueMachine(RuleBasedStateMachine):
    """Invariants of a rate-limiting queue under any calls in any order.

    - A key is never with two workers.
    - Nothing is lost: after each add the key runs again, after the add; at the latest when the
      delay that was asked for is over and the workers get to it (delayed keys end at shutdown).
    - Of several delays of a key the earlier wins, and no delayed key comes before its time.
    - The highest priority comes first, first in first out within it.
    - The depth is never negative and is what the model has.
    - A drain ends as soon as everything is done, and then nothing comes any more.
    - Each `wake` announces a key that became ready or a next due time that moved forward.
    """

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock(start=0.0)
        self.wakes = 0
        limiter: ItemExponential[str] = ItemExponential(base=0.5, cap=4.0)
        self.queue = RateLimitingQueue(clock=self.clock, limiter=limiter, wake=self.woken)
        self.model = Model()
        self.failures: dict[str, int] = {}
        self.held: set[str] = set()
        self.owed: dict[str, float] = {}  # a run must start: not later than this, if anyone asks

    def woken(self) -> None:
        self.wakes += 1
        assert self.queue.idle() is False

    def owe(self, key: str, seconds: float) -> None:
        if not self.model.closed:
            latest = self.clock.monotonic() + max(seconds, 0.0)
            self.owed[key] = min(latest, self.owed.get(key, latest))

    @rule(key=KEYS, priority=PRIORITIES, overtake=st.booleans())
    def add(self, key: str, priority: int, overtake: bool) -> None:
        self.queue.add(key, priority, overtake=overtake)
        self.model.add(key, priority, overtake=overtake)
        self.owe(key, 0)

    @rule(key=KEYS, seconds=SECONDS, priority=PRIORITIES)
    def add_after(self, key: str, seconds: float, priority: int) -> None:
        self.queue.add_after(key, seconds, priority)
        self.model.add_after(key, seconds, priority)
        self.owe(key, seconds)

    @rule(key=KEYS, priority=PRIORITIES)
    def add_rate_limited(self, key: str, priority: int) -> None:
        failures = self.failures.get(key, 0)
        self.failures[key] = failures + 1
        seconds = min(0.5 * 2**failures, 4.0)
        self.queue.add_rate_limited(key, priority)
        self.model.add_after(key, seconds, priority)
        self.owe(key, seconds)

    @rule(key=KEYS)
    def forget(self, key: str) -> None:
        self.queue.forget(key)
        self.failures.pop(key, None)

    @rule(blocking=st.booleans())
    def take(self, blocking: bool) -> None:
        self.model.look()
        expected = self.model.take()
        if blocking and expected is None and self.model.closed:
            with pytest.raises(ShutDown):
                self.queue.get(timeout=0)
            return
        item = self.queue.get(timeout=0) if blocking else self.queue.try_get()
        assert item == expected
        if item is not None:
            assert item.key not in self.held
            self.held.add(item.key)
            del self.owed[item.key]

    @rule(data=st.data())
    @precondition(lambda self: self.held)
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.held)))
        self.held.remove(key)
        self.queue.done(key)
        self.model.done(key)

    @rule(key=KEYS)
    def done_without_get(self, key: str) -> None:
        if key not in self.held:
            with pytest.raises(NotProcessing):
                self.queue.done(key)

    @rule(seconds=SECONDS.filter(lambda seconds: seconds > 0))
    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.model.now += seconds

    @rule(drain=st.booleans())
    @precondition(lambda self: self.clock.monotonic() > 8)
    def shut_down(self, drain: bool) -> None:
        delayed = {item.key for _, item in self.model.delayed}
        self.model.shut_down()
        for key in delayed:
            del self.owed[key]
        if drain:
            assert self.queue.shut_down_with_drain(0) == self.model.idle()
        else:
            self.queue.shut_down()

    @rule()
    def look(self) -> None:
        self.model.look()
        head = max((item.priority for item in self.model.ready), default=None)
        assert self.queue.head() == head
        assert len(self.queue) == len(self.model.ready)

    @rule()
    def scrape(self) -> None:
        self.model.look()
        depth: dict[int, int] = {}
        waiting = [item.priority for item in self.model.ready]
        for priority in (*waiting, *self.model.readded.values()):
            depth[priority] = depth.get(priority, 0) + 1
        stats = self.queue.stats()
        assert stats.depth == depth
        assert stats.unfinished_seconds >= stats.longest_running_seconds >= 0

    @invariant()
    def the_quiet_questions_agree(self) -> None:
        due = min((due for due, _ in self.model.delayed), default=None)
        wait = None if due is None else max(0.0, due - self.model.now)
        assert self.queue.next_due() == wait
        assert self.queue.idle() == self.model.idle()
        assert self.wakes == self.model.wakes
        for key in "abcd":
            assert self.queue.num_requeues(key) == self.failures.get(key, 0)

    @invariant()
    def whoever_is_owed_a_run_is_queued_or_delayed_for_it(self) -> None:
        waiting = {item.key: 0.0 for item in self.model.ready}
        waiting |= dict.fromkeys(self.model.readded, 0.0)
        waiting |= {item.key: due for due, item in self.model.delayed}
        assert waiting.keys() == self.owed.keys()
        assert all(waiting[key] <= latest for key, latest in self.owed.items())

    def teardown(self) -> None:
        """Workers that go on come to an end, and every owed run has happened by then."""
        for key in sorted(self.held):
            self.held.remove(key)
            self.queue.done(key)
            self.model.done(key)
        while (due := self.queue.next_due()) is not None or len(self.queue):
            self.advance(due or 0.0)
            self.take(blocking=True)
            for key in sorted(self.held):
                self.held.remove(key)
                self.queue.done(key)
                self.model.done(key)
        assert self.owed == {}
        assert self.queue.shut_down_with_drain(0)
        self.queue.add("a")
        assert self.queue.try_get() is None


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = settings(max_examples=150, stateful_step_count=40)
