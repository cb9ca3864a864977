"""What was measured."""

import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import orjson


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one contestant."""

    scenario: str
    contestant: str
    size: int
    repetition: int
    values: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """For the file of results."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Kept:
    """The file that a measurement leaves."""

    about: dict[str, Any]
    runs: list[Run]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read it."""
        kept = orjson.loads(path.read_bytes())
        return cls(kept["about"], [Run(**run) for run in kept["runs"]])

    def write(self, path: Path) -> None:
        """Write it; a run of hours may be stopped."""
        kept = {"about": self.about, "runs": [run.as_json() for run in self.runs]}
        path.write_bytes(orjson.dumps(kept, option=orjson.OPT_INDENT_2))


@dataclass(frozen=True, slots=True)
class Row:
    """The medians of a scenario's runs."""

    scenario: str
    contestant: str
    size: int
    values: dict[str, float]


def medians(runs: Iterable[Run]) -> list[Row]:
    """One row a scenario, size and contestant, in the order of the first runs."""
    grouped: dict[tuple[str, str, int], list[dict[str, float]]] = {}
    for run in runs:
        grouped.setdefault((run.scenario, run.contestant, run.size), []).append(run.values)
    return [Row(*key, _median_of(values)) for key, values in grouped.items()]


def _median_of(values: list[dict[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for each in values for name in each)
    return {
        name: statistics.median(each[name] for each in values if name in each) for name in names
    }


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that `share` of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
