"""`make faults`: every enumerated plan, or one that is given; prints one table."""

import argparse
import sys
import time
from pathlib import Path

from tests.faults.campaign import Campaign
from tests.faults.enumeration import GROUPS
from tests.faults.explore import exploration
from tests.faults.plan import Plan
from tests.faults.rest import at_rest
from tests.faults.run import run
from tests.faults.workloads import REGISTRY


def main() -> int:
    """Run what the command line asks for; 1 if a plan failed."""
    given = _arguments()
    if given.plan:
        outcome = run(Plan.load(given.plan))
        print(outcome.report())
        return 0 if outcome.good else 1
    if given.explore:
        return _explore(given)
    names = given.workloads or sorted(REGISTRY)
    campaign = Campaign(names, given.groups, given.every, given.seed)
    begun = time.monotonic()
    for failed in campaign.run(given.jobs):
        print(failed.report, flush=True)
        if given.save:
            failed.save(given.save)
    print(campaign.table(minutes=(time.monotonic() - begun) / 60))
    rest = at_rest(given.objects) if given.objects else None
    if rest is not None:
        print(rest)
    return 0 if not campaign.failed and (rest is None or rest.good) else 1


def _explore(given: argparse.Namespace) -> int:
    """Random plans for some minutes; how many states they went through."""
    found = exploration(given.explore, given.jobs, given.seed)
    states = {state for explored in found.values() for state in explored.states}
    failed = 0
    for seed, explored in found.items():
        if explored.report:
            failed += 1
            print(f"seed {seed}: {explored.report}")
    first = f"seeds from {given.seed} on"
    print(f"{len(found)} runs, {first}: {len(states)} states, {failed} failed")
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--plan", type=Path, help="run this plan file and say what came of it")
    parser.add_argument("--workloads", nargs="*", help="only these")
    parser.add_argument("--groups", nargs="*", default=GROUPS, choices=GROUPS, help="only these")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th plan")
    parser.add_argument("--seed", type=int, default=0, help="which of them; the first seed")
    parser.add_argument("--explore", type=float, default=0, help="random plans for some minutes")
    parser.add_argument("--objects", type=int, default=0, help="so many come to rest as well")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--save", type=Path, help="a folder for the files of plans that failed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
