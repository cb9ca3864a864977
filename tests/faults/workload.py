"""Workloads: what people do, and from which moment on faults may come."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.faults.bed import FaultBed

Play = Callable[[FaultBed], Iterator[None]]


@dataclass(frozen=True, slots=True)
class Workload:
    """One kind and one operation.

    `play` is a generator: what it does before its first `yield` is prepared undisturbed and comes
    to rest; then the faults of a plan are armed. At each further `yield` time passes for the
    operator to work, whether it is done with what was asked or not. Without `rests` the operator
    is not looked at any more once the end is reached: it has lost what it needs to rest.
    """

    name: str
    kind: str
    play: Play
    options: dict[str, Any] = field(default_factory=dict)
    rests: bool = True


REGISTRY: dict[str, Workload] = {}


def workload(kind: str, *, rests: bool = True, **options: Any) -> Callable[[Play], Play]:
    """Register a function as a workload; `options` are those of FaultBed."""

    def register(play: Play) -> Play:
        name = play.__name__.replace("_", "-")
        assert name not in REGISTRY, name
        REGISTRY[name] = Workload(name, kind, play, options, rests)
        return play

    return register
