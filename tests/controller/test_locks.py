"""Keyed locks: who excludes whom, in which order, and that nothing is left behind."""

import random
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.harness.locks import Key, KeyedLocks

A, B, C = ("user", "a"), ("user", "b"), ("group", "1")
DEADLINE = 10.0


class Crew:
    """Threads that hold keys until they are told to let go; `order` says who came in when."""

    def __init__(self) -> None:
        self.locks = KeyedLocks()
        self.order: list[str] = []
        self._letting_go: dict[str, threading.Event] = {}
        self._in: dict[str, threading.Event] = {}
        self._threads: list[threading.Thread] = []

    def start(self, name: str, exclusive: list[Key], shared: list[Key] | None = None) -> None:
        self._in[name], self._letting_go[name] = threading.Event(), threading.Event()

        def work() -> None:
            with self.locks.hold(exclusive, shared or []):
                self.order.append(name)
                self._in[name].set()
                assert self._letting_go[name].wait(DEADLINE)

        thread = threading.Thread(target=work)
        self._threads.append(thread)
        thread.start()

    def comes_in(self, name: str) -> None:
        assert self._in[name].wait(DEADLINE), f"{name} waits for ever"

    def waits(self, name: str, key: Key) -> None:
        """Until it stands in the line of `key`."""
        for _ in range(1000):
            if self.in_line(key):
                break
            threading.Event().wait(0.01)
        assert not self._in[name].is_set()

    def in_line(self, key: Key) -> int:
        with self.locks._guard:
            lock = self.locks._locks.get(key)
            return 0 if lock is None else len(lock.line)

    def until_in_line(self, key: Key, count: int) -> None:
        for _ in range(1000):
            if self.in_line(key) == count:
                return
            threading.Event().wait(0.01)
        raise AssertionError(f"never {count} in line")

    def let_go(self, name: str) -> None:
        self._letting_go[name].set()

    def end(self) -> None:
        for event in self._letting_go.values():
            event.set()
        for thread in self._threads:
            thread.join(DEADLINE)
        assert not any(thread.is_alive() for thread in self._threads)
        assert len(self.locks) == 0


@pytest.fixture
def crew() -> Iterator[Crew]:
    crew = Crew()
    yield crew
    crew.end()


def test_an_entry_lives_as_long_as_somebody_uses_it() -> None:
    locks = KeyedLocks()
    with locks.hold([A, B], [C]):
        assert len(locks) == 3
    assert len(locks) == 0


def test_nothing_is_left_behind_by_work_that_fails() -> None:
    locks = KeyedLocks()
    with pytest.raises(ValueError, match="no"), locks.hold([A], [B]):
        raise ValueError("no")
    assert len(locks) == 0
    with locks.hold([A, B]):
        pass


def test_a_key_asked_for_in_both_ways_is_held_alone(crew: Crew) -> None:
    crew.start("both", [A], [A])
    crew.comes_in("both")
    crew.start("reader", [], [A])
    crew.waits("reader", A)
    crew.let_go("both")
    crew.comes_in("reader")


def test_exclusive_holders_exclude_each_other(crew: Crew) -> None:
    crew.start("first", [A])
    crew.comes_in("first")
    crew.start("second", [A])
    crew.waits("second", A)
    crew.start("elsewhere", [B])
    crew.comes_in("elsewhere")
    crew.let_go("first")
    crew.comes_in("second")


def test_shared_holders_do_not_exclude_each_other_but_exclusive_ones(crew: Crew) -> None:
    crew.start("one", [], [A])
    crew.start("two", [], [A])
    crew.comes_in("one")
    crew.comes_in("two")
    crew.start("alone", [A])
    crew.waits("alone", A)
    crew.let_go("one")
    crew.let_go("two")
    crew.comes_in("alone")


def test_who_wants_it_alone_is_not_overtaken_by_those_who_share(crew: Crew) -> None:
    crew.start("sharing", [], [A])
    crew.comes_in("sharing")
    crew.start("alone", [A])
    crew.until_in_line(A, 1)
    crew.start("late", [], [A])
    crew.until_in_line(A, 2)
    crew.let_go("sharing")
    crew.comes_in("alone")
    crew.let_go("alone")
    crew.comes_in("late")
    assert crew.order == ["sharing", "alone", "late"]


def test_those_who_share_are_not_overtaken_by_who_wants_it_alone(crew: Crew) -> None:
    crew.start("first", [A])
    crew.comes_in("first")
    for number, (name, exclusive) in enumerate(
        [("share-1", False), ("share-2", False), ("second", True)], start=1
    ):
        crew.start(name, [A] if exclusive else [], [] if exclusive else [A])
        crew.until_in_line(A, number)
    crew.let_go("first")
    crew.comes_in("share-1")
    crew.comes_in("share-2")
    assert crew.in_line(A) == 1
    crew.let_go("share-1")
    crew.let_go("share-2")
    crew.comes_in("second")


def test_they_come_in_in_the_order_in_which_they_asked(crew: Crew) -> None:
    names = [f"worker-{number}" for number in range(8)]
    crew.start("holder", [A])
    crew.comes_in("holder")
    for number, name in enumerate(names, start=1):
        crew.start(name, [A])
        crew.until_in_line(A, number)
    for name in ["holder", *names]:
        crew.comes_in(name)
        crew.let_go(name)
    assert crew.order == ["holder", *names]


def test_keys_are_taken_in_one_order_whatever_the_order_of_asking(crew: Crew) -> None:
    """Else one who holds A and wants B, and one who holds B and wants A, would wait for ever."""
    crew.start("blocker", [A])
    crew.comes_in("blocker")
    crew.start("first", [B, A])
    crew.until_in_line(A, 1)
    crew.start("second", [B])
    crew.comes_in("second")  # B is not held by one that waits for A
    crew.let_go("second")
    crew.let_go("blocker")
    crew.comes_in("first")


class Rooms:
    """One room a key: who enters says whether it must be alone there."""

    def __init__(self, keys: list[Key]) -> None:
        self._inside: dict[Key, list[bool]] = {key: [] for key in keys}
        self._guard = threading.Lock()
        self.faults: list[str] = []

    def enter(self, wanted: dict[Key, bool]) -> None:
        for key, exclusive in wanted.items():
            with self._guard:
                if any(self._inside[key]) or (exclusive and self._inside[key]):
                    self.faults.append(f"{key}: {self._inside[key]} and {exclusive}")
                self._inside[key].append(exclusive)

    def leave(self, wanted: dict[Key, bool]) -> None:
        for key, exclusive in wanted.items():
            with self._guard:
                self._inside[key].remove(exclusive)


@settings(max_examples=8, deadline=None)
@given(st.randoms(use_true_random=False))
def test_whatever_is_asked_for_nobody_meets_another_and_all_come_in(rng: random.Random) -> None:
    keys = [("k", str(number)) for number in range(4)]
    locks, rooms = KeyedLocks(), Rooms(keys)

    def wanted() -> dict[Key, bool]:
        return {key: rng.random() < 0.5 for key in rng.sample(keys, rng.randint(1, 3))}

    def work(plan: list[dict[Key, bool]]) -> None:
        for each in plan:
            alone = [key for key, exclusive in each.items() if exclusive]
            with locks.hold(alone, each.keys() - alone):
                rooms.enter(each)
                rooms.leave(each)

    plans = [[wanted() for _ in range(12)] for _ in range(5)]
    threads = [threading.Thread(target=work, args=(plan,)) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert not any(thread.is_alive() for thread in threads)
    assert rooms.faults == []
    assert len(locks) == 0


class _Interrupted(BaseException):
    pass


@pytest.mark.parametrize("admitted", [True, False])
def test_who_is_interrupted_while_it_waits_leaves_the_line(
    monkeypatch: pytest.MonkeyPatch, admitted: bool
) -> None:
    locks = KeyedLocks()

    def interrupted(waiter: threading.Event) -> None:
        if admitted:
            locks._release(A, exclusive=True)  # the holder is quicker than the interruption
        raise _Interrupted

    locks._acquire(A, exclusive=True)
    monkeypatch.setattr(threading.Event, "wait", interrupted)
    with pytest.raises(_Interrupted):
        locks._acquire(A, exclusive=True)
    monkeypatch.undo()
    if not admitted:
        assert len(locks) == 1
        locks._release(A, exclusive=True)
    assert len(locks) == 0
