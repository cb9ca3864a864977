"""Many plans: runs them in copies of one prepared bed for each workload, and counts."""

import functools
import multiprocessing
import random
import re
import resource
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.child import in_child, settled_memory
from tests.faults.enumeration import plans
from tests.faults.plan import Plan
from tests.faults.run import Prepared, run, undisturbed

KEPT = Path(__file__).parent / "plans"


@dataclass(frozen=True, slots=True)
class Failed:
    """A plan that did not end as it must."""

    group: str
    plan: Plan
    report: str

    def save(self, folder: Path) -> None:
        """Write the plan's file, named after what it does."""
        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^a-z0-9]+", "-", str(self.plan).lower()).strip("-")
        self.plan.save(folder / f"{name[:150]}.json")


@dataclass(frozen=True, slots=True)
class Batch:
    """The plans of some groups for one workload, or every `every`-th of them."""

    workload: str
    groups: tuple[str, ...]
    every: int = 1
    first: int = 0


@dataclass(slots=True)
class Result:
    """What came of a batch."""

    tried: Counter[str] = field(default_factory=Counter)
    failed: list[Failed] = field(default_factory=list)


def run_batch(batch: Batch) -> Result:
    """Run all of it, each plan in a copy of this process."""
    undisturbed(batch.workload)
    prepared = Prepared(batch.workload)
    settled_memory()
    result = Result()
    every = [(group, plan) for group in batch.groups for plan in plans(batch.workload, group)]
    for group, plan in every[batch.first :: batch.every]:
        result.tried[group] += 1
        if report := in_child(functools.partial(_report, plan, prepared)):
            result.failed.append(Failed(group, plan, report))
    return result


def _report(plan: Plan, prepared: Prepared) -> str:
    outcome = run(plan, prepared)
    return "" if outcome.good else outcome.report()


class Campaign:
    """What was tried and what failed, by group."""

    def __init__(
        self, workloads: Sequence[str], groups: Sequence[str], every: int, seed: int
    ) -> None:
        self.tried: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._groups = groups
        self._batches = [
            Batch(
                workload, tuple(groups), every, random.Random(f"{seed} {workload}").randrange(every)
            )
            for workload in workloads
        ]

    def run(self, jobs: int) -> Iterator[Failed]:
        """Run all; gives what fails as it comes."""
        with multiprocessing.get_context("spawn").Pool(jobs) as pool:
            for result in pool.imap_unordered(run_batch, self._batches):
                self.tried += result.tried
                self.failed += Counter(failed.group for failed in result.failed)
                yield from result.failed

    def table(self, minutes: float) -> str:
        """All of it in one table; CPU time says more on a machine that has other work as well."""
        lines = [f"{'faults':12}{'tried':>8}{'survived':>10}{'failed':>8}"]
        for group in self._groups:
            tried, failed = self.tried[group], self.failed[group]
            lines.append(f"{group:12}{tried:8}{tried - failed:10}{failed:8}")
        tried, failed = self.tried.total(), self.failed.total()
        lines.append(f"{'all':12}{tried:8}{tried - failed:10}{failed:8}")
        kept = len(list(KEPT.glob("*.json")))
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = (used.ru_utime + used.ru_stime) / 60
        lines.append(f"{minutes:.1f} minutes, {cpu:.1f} of CPU time")
        lines.append(f"{kept} plans that once failed are kept as tests")
        return "\n".join(lines)
