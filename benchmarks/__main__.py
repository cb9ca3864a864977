"""`python -m benchmarks PLAN`: measure, keep the results, write the page.

`python -m benchmarks page --beside FILE ...` measures nothing: it writes the page of kept results.
"""

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

from benchmarks import plots, report
from benchmarks.bed import LLDAP_URL, ROOT, bed
from benchmarks.plan import PLANS, only, sized
from benchmarks.results import Kept, medians
from benchmarks.running import measure

PAGE = "page"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser("benchmarks", description=__doc__)
    parser.add_argument("plan", choices=[*PLANS, PAGE])
    parser.add_argument("--count", type=int, help="so many objects instead of the plan's")
    parser.add_argument("--repetitions", type=int, help="instead of the plan's")
    parser.add_argument(
        "--only", action="append", help="steps whose name holds this; the page stays as it is"
    )
    parser.add_argument(
        "--beside", action="append", type=Path, default=[], help="kept results, for the page too"
    )
    parser.add_argument("--results", type=Path, default=ROOT / "build/benchmarks/results.json")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/performance.md")
    arguments = parser.parse_args()
    kept = [Kept.read(path) for path in arguments.beside]
    if arguments.plan == PAGE:
        if not kept:
            parser.error("page is made of kept results: --beside FILE")
        write(arguments.page, kept)
        return
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
    measured = Kept(about, runs)
    measured.write(arguments.results)
    if not arguments.only:
        write(arguments.page, [measured, *kept])


def write(page: Path, kept: list[Kept]) -> None:
    """Tables and plots of several measurements."""
    rows = medians(run for each in kept for run in each.runs)
    drawn = plots.draw(page.parent / "performance", rows)
    report.write(page, [each.about for each in kept], rows, drawn)


if __name__ == "__main__":
    main()
