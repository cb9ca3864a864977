"""`python -m benchmarks PLAN`: measure, keep the results, write the page."""

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import orjson

from benchmarks import plots, report
from benchmarks.bed import LLDAP_URL, ROOT, Bed, bed
from benchmarks.plan import PLANS, Plan, sized
from benchmarks.results import Run, medians


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser("benchmarks", description=__doc__)
    parser.add_argument("plan", choices=PLANS)
    parser.add_argument("--count", type=int, help="so many objects instead of the plan's")
    parser.add_argument("--repetitions", type=int, help="instead of the plan's")
    parser.add_argument("--results", type=Path, default=ROOT / "build/benchmarks/results.json")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/performance.md")
    arguments = parser.parse_args()
    plan = PLANS[arguments.plan]
    if arguments.count:
        plan = sized(plan, arguments.count)
    if arguments.repetitions:
        plan = replace(plan, repetitions=arguments.repetitions)
    about: dict[str, object] = {"plan": plan.name}
    about |= {"for ratios": bool(os.environ.get(LLDAP_URL))} | report.machine()
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    with bed() as servers:
        began = time.monotonic()
        runs = _measure(servers, plan, arguments.results, about)
        about["minutes"] = round((time.monotonic() - began) / 60)
    rows = medians(runs)
    drawn = plots.draw(arguments.page.parent / "performance", rows)
    report.write(arguments.page, about, rows, drawn)


def _measure(servers: Bed, plan: Plan, results: Path, about: dict[str, object]) -> list[Run]:
    """All runs; each is kept as soon as it is done, for a run of hours may be stopped.

    The whole plan once, then again: what the machine does in one quarter of an hour must not
    meet one scenario alone. A repetition for which no time is left is not begun.
    """
    runs: list[Run] = []
    began, longest = time.monotonic(), 0.0
    for repetition in range(plan.repetitions):
        started = time.monotonic()
        if started - began + longest > plan.minutes * 60:
            break
        about["repetitions"] = repetition + 1
        for run in _once(servers, plan, repetition):
            runs.append(run)
            _tell(run)
            kept = {"about": about, "runs": [each.as_json() for each in runs]}
            results.write_bytes(orjson.dumps(kept, option=orjson.OPT_INDENT_2))
        longest = max(longest, time.monotonic() - started)
    return runs


def _once(servers: Bed, plan: Plan, repetition: int) -> Iterator[Run]:
    for step in plan.steps:
        for size in step.sizes:
            yield from step.measure(servers, size, repetition)


def _tell(run: Run) -> None:
    values = ", ".join(f"{name} {value:.4g}" for name, value in run.values.items())
    now = time.strftime("%H:%M:%S")
    print(f"{now} {run.scenario} {run.size} {run.contestant}: {values}", flush=True)


if __name__ == "__main__":
    main()
