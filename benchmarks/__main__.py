"""`python -m benchmarks PLAN`: measure, keep the results, write the page."""

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

from benchmarks import plots, report
from benchmarks.bed import LLDAP_URL, ROOT, bed
from benchmarks.plan import PLANS, only, sized
from benchmarks.results import medians
from benchmarks.running import measure


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser("benchmarks", description=__doc__)
    parser.add_argument("plan", choices=PLANS)
    parser.add_argument("--count", type=int, help="so many objects instead of the plan's")
    parser.add_argument("--repetitions", type=int, help="instead of the plan's")
    parser.add_argument(
        "--only", action="append", help="steps whose name holds this; the page stays as it is"
    )
    parser.add_argument("--results", type=Path, default=ROOT / "build/benchmarks/results.json")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/performance.md")
    arguments = parser.parse_args()
    plan = PLANS[arguments.plan]
    if arguments.count:
        plan = sized(plan, arguments.count)
    if arguments.repetitions:
        plan = replace(plan, repetitions=arguments.repetitions)
    if arguments.only:
        plan = only(plan, arguments.only)
    about: dict[str, object] = {"plan": plan.name}
    about |= {"for ratios": bool(os.environ.get(LLDAP_URL))} | report.machine()
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    with bed() as servers:
        began = time.monotonic()
        runs = measure(servers, plan, arguments.results, about)
        about["minutes"] = round((time.monotonic() - began) / 60)
    if arguments.only:
        return
    rows = medians(runs)
    drawn = plots.draw(arguments.page.parent / "performance", rows)
    report.write(arguments.page, about, rows, drawn)


if __name__ == "__main__":
    main()
