"""`make failover`: many forced failovers, one after the other."""

import argparse
import random
import statistics
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

from tests.failover.bed import FAKETIME, failover_bed
from tests.failover.drill import Drill, Outcome
from tests.failover.faults import CLOCK_STEPS, FAULTS, NO_FAKETIME
from tests.failover.history import terms, violations


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.failover", description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    arguments = parser.parse_args()
    say(f"seed {arguments.seed}")
    faults = [*FAULTS, CLOCK_STEPS] if FAKETIME else FAULTS
    if not FAKETIME:
        say(f"{CLOCK_STEPS.name} is not tried: {NO_FAKETIME}")
    rng = random.Random(arguments.seed)
    outcomes: list[Outcome] = []
    with (
        tempfile.TemporaryDirectory(prefix="failover-") as folder,
        failover_bed(Path(folder), rng, steppable=True) as bed,
    ):
        drill = Drill(bed)
        for number, fault in enumerate(islice(cycle(faults), arguments.count), 1):
            outcomes.append(drill.run(fault))
            say(f"{number:4} {outcomes[-1]}")
        found = violations(bed.holders, bed.writes)
        say(f"{drill.disturbed} rounds were disturbed by this machine and made again")
        say(f"{len(terms(bed.holders))} terms, {len(bed.writes)} writes, violations: {found}")
    report(outcomes)
    return 1 if found else 0


def report(outcomes: list[Outcome]) -> None:
    for fault in [*FAULTS, CLOCK_STEPS]:
        taken = [each.taken for each in outcomes if each.fault == fault.name]
        if taken:
            middle, longest = statistics.median(taken), max(taken)
            say(
                f"{fault.name:20} {len(taken):4} failovers, taken after {middle:.2f} s (median), "
                f"{longest:.2f} s (longest) of {fault.within:.2f} s"
            )


if __name__ == "__main__":
    sys.exit(main())
