"""`make mutants`: small errors put into the product; the tests that cover their lines notice."""

import argparse
import concurrent.futures
import random
import sys
import time
from collections import Counter
from pathlib import Path

from tests.mutants.candidates import Mutant, mutants
from tests.mutants.covering import Covering, learn
from tests.mutants.subject import EQUIVALENT, files
from tests.mutants.trial import Copy, Verdict

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "mutants"
WANTED = 0.95
MOST_SECONDS = 300.0  # of tests for one mutant


def main() -> int:
    """Draw mutants, try them, list what survived; 1 if too many did."""
    given = _arguments()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(10**6)
    if given.learn or not (BUILD / "coverage").exists():
        learn(ROOT, BUILD, given.tests, given.marks)
    drawn = _drawn(seed, given.count, given.files)
    print(f"seed {seed}: {len(drawn)} mutants", flush=True)
    begun = time.monotonic()
    verdicts = _tried(drawn, given.jobs, given.budget)
    return _report(verdicts, minutes=(time.monotonic() - begun) / 60)


def _drawn(seed: int, count: int, wanted: list[str]) -> list[Mutant]:
    everything = [
        mutant
        for file in files(ROOT)
        if not wanted or str(file.relative_to(ROOT)).startswith(tuple(wanted))
        for mutant in mutants(file, ROOT)
    ]
    return random.Random(seed).sample(everything, min(count, len(everything)))


def _tried(drawn: list[Mutant], jobs: int, budget: float) -> list[Verdict]:
    """In as many processes of pytest as there are jobs; each thread has its own copy."""
    covering = Covering(ROOT, BUILD)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        shares = pool.map(lambda job: _share(job, drawn[job::jobs], covering, budget), range(jobs))
        return [verdict for share in shares for verdict in share]


def _share(job: int, drawn: list[Mutant], covering: Covering, budget: float) -> list[Verdict]:
    copy = Copy(ROOT, BUILD / f"tree-{job}")
    verdicts = []
    for mutant in drawn:
        verdict = _verdict(copy, mutant, covering, budget)
        verdicts.append(verdict)
        print(f"{verdict.word:12} {mutant.name} ({verdict.tests} tests)", flush=True)
    return verdicts


def _verdict(copy: Copy, mutant: Mutant, covering: Covering, budget: float) -> Verdict:
    """By the fast tests of its line; what they do not notice is left to all of them."""
    quick = covering.tests(mutant.file, mutant.line, budget)
    every = covering.tests(mutant.file, mutant.line, MOST_SECONDS)
    verdict = copy.try_out(mutant, quick, budget)
    if verdict.killed or len(every) == len(quick):
        return verdict
    return copy.try_out(mutant, every, MOST_SECONDS)


def _report(verdicts: list[Verdict], minutes: float) -> int:
    counted = Counter(verdict.word for verdict in verdicts)
    left = [v for v in verdicts if not v.killed]
    equal = [v for v in left if _is_equivalent(v.mutant)]
    killed = sum(verdict.killed for verdict in verdicts)
    share = killed / max(1, len(verdicts) - len(equal))
    print(", ".join(f"{count} {word}" for word, count in sorted(counted.items())))
    print(f"{len(equal)} of those left change nothing; {share:.1%} of the rest were noticed")
    print(f"{minutes:.1f} minutes")
    for verdict in left:
        if verdict not in equal:
            print(f"left: {verdict.mutant.name} ({verdict.word})")
    return 0 if share >= WANTED else 1


def _is_equivalent(mutant: Mutant) -> bool:
    line = (ROOT / mutant.file).read_text().splitlines()[mutant.line - 1].strip()
    return (mutant.file, line, mutant.old, mutant.new) in EQUIVALENT


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="how many mutants")
    parser.add_argument("--seed", type=int, help="which; printed when it is drawn")
    parser.add_argument("--files", nargs="*", default=[], help="only files that begin so")
    parser.add_argument("--learn", action="store_true", help="run the tests for coverage again")
    parser.add_argument("--tests", nargs="*", default=["tests"], help="which tests, with --learn")
    parser.add_argument("--marks", default="not envtest", help="of the tests, with --learn")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of tests a mutant")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
