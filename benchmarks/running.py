"""Runs a plan, and keeps what it found so far."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bare import CallFailed
from benchmarks.bed import Bed
from benchmarks.plan import Plan
from benchmarks.results import Kept, Run


def measure(servers: Bed, plan: Plan, results: Path, about: dict[str, object]) -> list[Run]:
    """All runs; each is kept as soon as it is done, for a run of hours may be stopped.

    The whole plan once, then again: what the machine does in one quarter of an hour must not
    meet one scenario alone. A repetition for which no time is left is not begun.
    """
    runs: list[Run] = []
    failed: list[str] = []
    about["failed"] = failed
    began, longest = time.monotonic(), 0.0
    for repetition in range(plan.repetitions):
        started = time.monotonic()
        if started - began + longest > plan.minutes * 60:
            break
        about["repetitions"] = repetition + 1
        for run in once(servers, plan, repetition, failed):
            runs.append(run)
            _tell(run)
            Kept(about, runs).write(results)
        longest = max(longest, time.monotonic() - started)
    return runs


def once(servers: Bed, plan: Plan, repetition: int, failed: list[str]) -> Iterator[Run]:
    """One repetition. A step that fails is named in `failed`; the others go on."""
    for step in plan.steps:
        try:
            yield from step.measure(servers, step.size, repetition)
        except (CallFailed, OSError, RuntimeError, TimeoutError) as error:
            failed.append(f"{step.name} with {step.size:,}")
            print(f"{failed[-1]}: {error}", file=sys.stderr, flush=True)


def _tell(run: Run) -> None:
    values = ", ".join(f"{name} {value:.4g}" for name, value in run.values.items())
    now = time.strftime("%H:%M:%S")
    print(f"{now} {run.scenario} {run.size} {run.contestant}: {values}", flush=True)
