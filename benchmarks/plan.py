"""What is measured, at which sizes, how often."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.bed import Bed
from benchmarks.results import Run
from benchmarks.scenarios import isolation, settled, throughput
from benchmarks.scenarios.throughput import Work

Measure = Callable[[Bed, int, int], Iterator[Run]]
"""Takes the bed, the size and the number of the repetition."""


@dataclass(frozen=True, slots=True)
class Step:
    """One scenario at its sizes."""

    measure: Measure
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps, in this order, and how often each."""

    name: str
    repetitions: int
    steps: tuple[Step, ...]


def _of(work: Work) -> Measure:
    """Every contestant in turn, so that a change of the machine's mood meets all of them."""

    def measure(bed: Bed, size: int, repetition: int) -> Iterator[Run]:
        for contestant in work.contestants:
            yield throughput.run(bed, work, contestant, size, repetition)

    return measure


def _plan(name: str, repetitions: int, sizes: tuple[int, ...], passwords: tuple[int, ...]) -> Plan:
    steps = (
        Step(_of(throughput.NEW_USERS), sizes),
        Step(_of(throughput.ONE_GROUP), sizes),
        Step(_of(throughput.MANY_GROUPS), sizes),
        Step(_of(throughput.MIXED), sizes),
        Step(_of(throughput.DELETIONS), sizes),
        Step(_of(throughput.NEW_USERS_WITH_PASSWORDS), passwords),
        Step(settled.restart, (0, *sizes)),
        Step(settled.one_change, sizes[:1]),
        Step(settled.rotation, passwords),
        Step(isolation.queue, (100_000,)),
        Step(isolation.informer, (sizes[0],)),
    )
    return Plan(name, repetitions, steps)


PLANS = {
    "smoke": _plan("smoke", 1, (50,), (4,)),
    "quick": _plan("quick", 3, (1_000,), (200,)),
    "full": _plan("full", 1, (1_000, 10_000, 50_000), (200, 1_000)),
}
