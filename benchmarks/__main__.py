"""`python -m benchmarks PLAN`: measure, keep the results, write the page."""

import argparse
import os
import time
from pathlib import Path

import orjson

from benchmarks import plots, report
from benchmarks.bed import LLDAP_URL, ROOT, Bed, bed
from benchmarks.plan import PLANS, Plan
from benchmarks.results import Run, medians


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser("benchmarks", description=__doc__)
    parser.add_argument("plan", choices=PLANS)
    parser.add_argument("--results", type=Path, default=ROOT / "build/benchmarks/results.json")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/performance.md")
    arguments = parser.parse_args()
    about = {"plan": arguments.plan, "for ratios": bool(os.environ.get(LLDAP_URL))}
    about |= report.machine()
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    with bed() as servers:
        runs = _measure(servers, PLANS[arguments.plan], arguments.results, about)
    rows = medians(runs)
    drawn = plots.draw(arguments.page.parent / "performance", rows)
    report.write(arguments.page, about, rows, drawn)


def _measure(servers: Bed, plan: Plan, results: Path, about: dict[str, object]) -> list[Run]:
    """All runs; each is kept as soon as it is done, for a run of hours may be stopped."""
    runs: list[Run] = []
    for step in plan.steps:
        for size in step.sizes:
            for repetition in range(plan.repetitions):
                for run in step.measure(servers, size, repetition):
                    runs.append(run)
                    _tell(run)
                    kept = {"about": about, "runs": [each.as_json() for each in runs]}
                    results.write_bytes(orjson.dumps(kept, option=orjson.OPT_INDENT_2))
    return runs


def _tell(run: Run) -> None:
    values = ", ".join(f"{name} {value:.4g}" for name, value in run.values.items())
    now = time.strftime("%H:%M:%S")
    print(f"{now} {run.scenario} {run.size} {run.contestant}: {values}", flush=True)


if __name__ == "__main__":
    main()
