"""What is measured, at which sizes, how often."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from benchmarks.bed import Bed
from benchmarks.results import Run
from benchmarks.scenarios import isolation, settled, throughput
from benchmarks.scenarios.throughput import Work

Measure = Callable[[Bed, int, int], Iterator[Run]]
"""Takes the bed, the size and the number of the repetition."""


@dataclass(frozen=True, slots=True)
class Step:
    """One scenario at one size; of a throughput, one contestant of it."""

    name: str
    measure: Measure
    size: int


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps, in this order, and how often; no further repetition that `minutes` cut short."""

    name: str
    repetitions: int
    minutes: float
    steps: tuple[Step, ...]


def _of(work: Work, contestant: str, size: int) -> Step:
    def measure(bed: Bed, size: int, repetition: int) -> Iterator[Run]:
        yield throughput.run(bed, work, contestant, size, repetition)

    return Step(f"{work.name}: {contestant}", measure, size)


def _all_of(work: Work, sizes: Iterable[int]) -> Iterator[Step]:
    """Every contestant in turn, so that a change of the machine's mood meets all of them."""
    for size in sizes:
        for contestant in work.contestants:
            yield _of(work, contestant, size)


def _at(name: str, measure: Measure, *sizes: int) -> Iterator[Step]:
    for size in sizes:
        yield Step(name, measure, size)


LEAST = 10  # of mixed kinds: one of them is a group

_WITHOUT_PASSWORDS = (
    throughput.NEW_USERS,
    throughput.ONE_GROUP,
    throughput.MANY_GROUPS,
    throughput.MIXED,
    throughput.DELETIONS,
)


def _plan(
    name: str,
    repetitions: int,
    minutes: float,
    sizes: tuple[int, ...],
    passwords: tuple[int, ...],
) -> Plan:
    """All scenarios; the operator also at a tenth of the smallest size."""
    tenth = max(LEAST, sizes[0] // 10)
    steps = (
        *(_of(work, "operator", tenth) for work in _WITHOUT_PASSWORDS),
        *(step for work in _WITHOUT_PASSWORDS for step in _all_of(work, sizes)),
        *_all_of(throughput.NEW_USERS_WITH_PASSWORDS, passwords),
        *_at("restart", settled.restart, 0, *sizes),
        *_at("one change", settled.one_change, sizes[0]),
        *_at("rotation", settled.rotation, *passwords),
        *_at("work queue", isolation.queue, 10_000, 100_000),
        *_at("informer", isolation.informer, tenth, *sizes[:2]),
    )
    return Plan(name, repetitions, minutes, steps)


def sized(plan: Plan, count: int) -> Plan:
    """The plan with `count` objects, a fifth of them with passwords, to see that it runs."""
    passwords = (max(1, count // 5),)
    made = _plan(plan.name, plan.repetitions, plan.minutes, (count,), passwords)
    return replace(made, name=f"{plan.name}, {count:,} objects")


def only(plan: Plan, words: Iterable[str]) -> Plan:
    """The plan with the steps whose names hold one of `words`. SystemExit if there are none."""
    wanted = tuple(words)
    steps = tuple(step for step in plan.steps if any(word in step.name for word in wanted))
    if not steps:
        names = ", ".join(dict.fromkeys(step.name for step in plan.steps))
        raise SystemExit(f"no step is called that; there are: {names}")
    return replace(plan, name=f"{plan.name}, only {' and '.join(wanted)}", steps=steps)


PLANS = {
    "smoke": _plan("smoke", 1, 10, (100,), (4,)),
    "quick": _plan("quick", 3, 28, (1_000,), (200,)),
    "full": _plan("full", 1, 24 * 60, (1_000, 10_000, 50_000), (200, 1_000)),
}
