"""Bounded exploration of interleavings: operators, a human, faults, any order of steps (G10)."""

import functools
import hashlib
import itertools
import multiprocessing
import random
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

import orjson

from tests.faults.acts import ACTS
from tests.faults.child import in_child
from tests.faults.endstate import end_state
from tests.faults.enumeration import LANDING_SECONDS
from tests.faults.plan import Fault, Plan
from tests.faults.points import WRITES, Category, Point
from tests.faults.run import Outcome, Prepared, undisturbed
from tests.faults.workloads import REGISTRY

MOST_DEEDS = 3
# Where dates are whole seconds, of an account's first second nobody can tell who set its password.
_UNTELLABLE = {"set-own-password"}
_AT_A_CALL = ("crash-before", "crash-after", "lose-answer", "lose-request", "timeout-done", "500")
_AT_AN_EVENT = ("drop", "hold", "twice")


def draw(seed: int) -> Plan:
    """A workload, an order of steps and a few deeds: of the network, a human, a second operator."""
    rng = random.Random(seed)
    workload = rng.choice(sorted(name for name, each in REGISTRY.items() if each.rests))
    points = undisturbed(workload).points[: undisturbed(workload).reached]
    chosen = rng.sample(points, min(len(points), rng.randint(1, MOST_DEEDS)))
    whole_seconds = REGISTRY[workload].options.get("whole_seconds", False)
    acts = sorted(ACTS.keys() - _UNTELLABLE if whole_seconds else ACTS)
    deeds = tuple(_deed(rng, point, acts) for point in chosen)
    return Plan(workload, deeds, rng.randrange(1, 2**31))


def _deed(rng: random.Random, point: Point, acts: list[str]) -> Fault:
    if rng.random() < 0.4:
        return Fault(point.address, "act-before", act=rng.choice(acts))
    if point.category is Category.EVENT:
        do = rng.choice(_AT_AN_EVENT)
        return Fault(point.address, do, seconds=10.0 if do == "hold" else 0.0)
    if point.category in WRITES and rng.random() < 0.4:
        return Fault(point.address, "crash-late", seconds=rng.choice(LANDING_SECONDS))
    return Fault(point.address, rng.choice(_AT_A_CALL))


@dataclass(slots=True)
class Explored:
    """States that were seen right before an outward call, and what is wrong."""

    states: set[int] = field(default_factory=set)
    report: str = ""


def explore(plan: Plan, prepared: Prepared | None = None) -> Explored:
    """Run one plan to its end: safe at each step, at rest in the end.

    What a human or a late write did may stay, so the end is not compared with another run's.
    """
    prepared = prepared or Prepared(plan.workload)
    explored = Explored()
    _watch(prepared, explored.states)
    try:
        explored.report = _wrong(prepared.play(plan, expected=None))
    except Exception:  # noqa: BLE001 - it is what was found
        explored.report = f"{plan}\n{traceback.format_exc()}"
    return explored


def _wrong(outcome: Outcome) -> str:
    outcome.unreached.clear()  # another order of steps leads past other points
    return "" if outcome.good else outcome.report()


def _watch(prepared: Prepared, states: set[int]) -> None:
    injector, bed = prepared.bed.injector, prepared.bed
    fault_at: Callable[[str, Category], Fault | None] = injector.fault_at

    @functools.wraps(fault_at)
    def seen(label: str, category: Category) -> Fault | None:
        if injector.points.armed:
            state = orjson.dumps(end_state(bed), default=str, option=orjson.OPT_SORT_KEYS)
            seen_now = hashlib.blake2b(label.encode() + state, digest_size=8)
            states.add(int.from_bytes(seen_now.digest()))
        return fault_at(label, category)

    object.__setattr__(injector, "fault_at", seen)


# --- many plans --------------------------------------------------------------------------------


def exploration(minutes: float, jobs: int, first: int) -> dict[int, Explored]:
    """Plans of the seeds from `first` on, in copies of prepared beds, until the time is over."""
    shares = [(first + job, jobs, minutes) for job in range(jobs)]
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        return {seed: each for share in pool.map(_share, shares) for seed, each in share.items()}


def _share(share: tuple[int, int, float]) -> dict[int, Explored]:
    first, jobs, minutes = share
    until = time.monotonic() + 60 * minutes
    seeds = itertools.takewhile(lambda _: time.monotonic() < until, itertools.count(first, jobs))
    return {seed: explore_seed(seed) for seed in seeds}


def explore_seed(seed: int) -> Explored:
    """One seed's plan, in a copy of this process."""
    plan = draw(seed)
    prepared = _prepared(plan.workload)
    told = orjson.loads(in_child(lambda: _said(explore(plan, prepared))))
    return Explored(set(told["states"]), told["report"])


@functools.cache
def _prepared(workload: str) -> Prepared:
    return Prepared(workload)


def _said(explored: Explored) -> str:
    return orjson.dumps({"states": [*explored.states], "report": explored.report}).decode()
