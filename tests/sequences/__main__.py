"""Long runs of any sequence of states (G7, G8): `python -m tests.sequences --steps N --seed S`."""

import argparse
import itertools
import logging
import random
import sys
import time
import traceback
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.controller.test_membership_convergence import Interleavings
from tests.sequences.edits import Edits, Profile, Subject
from tests.sequences.groups import GROUPS
from tests.sequences.schemas import Schemas
from tests.sequences.users import USERS

STEPS = 40  # of one sequence of a machine, at most
SEQUENCES = 10  # of one batch
EXAMPLES = 100  # of one batch: a bed grows by each


def main() -> int:
    """Run until so many steps were made of each; 1 if one ended as it must not."""
    given = _arguments()
    first = given.seed if given.seed is not None else random.SystemRandom().randrange(10**6)
    print(f"seed {first}: {given.steps} steps each", flush=True)
    logging.disable(logging.CRITICAL)
    good = [_carried_out(name, given.steps, first) for name in given.only or RUNS]
    print(f"{good.count(False)} failed")
    return 0 if all(good) else 1


def _carried_out(name: str, wanted: int, first: int) -> bool:
    begun, steps, good = time.monotonic(), 0, True
    try:
        for batch in itertools.count(first):
            steps += RUNS[name](batch)
            if steps >= wanted:
                break
    except Exception:  # noqa: BLE001 - it is what was found
        traceback.print_exc()
        good = False
    minutes = (time.monotonic() - begun) / 60
    print(f"{name}: {steps} steps, {minutes:.1f} minutes", flush=True)
    return good


def _profile(examples: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[phase for phase in Phase if phase is not Phase.explain],  # it traces each line
    )


Run = Callable[[int], int]
"""One batch by its seed; how many steps it was."""


def _edits(subject: Subject, check: Callable[[Edits, Profile], None]) -> Run:
    def run(batch: int) -> int:
        edits = Edits(subject)
        check(edits, lambda test: seed(batch)(_profile(EXAMPLES)(test)))
        return edits.steps

    return run


def _machine(machine: type[Schemas | Interleavings]) -> Run:
    def run(batch: int) -> int:
        before = machine.steps
        seed(batch)(machine)
        run_state_machine_as_test(machine, settings=_profile(SEQUENCES))
        return machine.steps - before

    return run


RUNS: dict[str, Run] = {
    "users": _edits(USERS, Edits.any_edits_end_as_the_last),
    "users-undone": _edits(USERS, Edits.a_bad_edit_is_undone_by_the_one_before),
    "groups": _edits(GROUPS, Edits.any_edits_end_as_the_last),
    "groups-undone": _edits(GROUPS, Edits.a_bad_edit_is_undone_by_the_one_before),
    "attributes": _machine(Schemas),
    "memberships": _machine(Interleavings),
}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.sequences", description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000, help="so many of each")
    parser.add_argument("--seed", type=int, help="which; printed when it is drawn")
    parser.add_argument("--only", nargs="*", choices=RUNS, help="only these")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
