"""Runs a plan, and says what came of it."""

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

from informers import StatusError
from sandbox.lldap.errors import DomainError
from tests.faults.acts import ACTS
from tests.faults.bed import QUIET_PACE, FaultBed
from tests.faults.endstate import EndState, differences, end_state
from tests.faults.plan import Fault, Plan
from tests.faults.points import Point
from tests.faults.safety import Complaints
from tests.faults.tolerated import not_tolerated
from tests.faults.workloads import REGISTRY

BETWEEN_SECONDS = 6.0  # between two things that people do
HORIZON_SECONDS = 1500.0  # two resyncs and more: what has not converged by then never does
SETTLE_SECONDS = 60.0  # answers to faults that are still due
UNSEEN_SECONDS = 700.0  # a resync, after which nothing may be unknown any more
UNSEEN = frozenset({"drop", "hold", "stale"})
QUIET_SECONDS = 700.0  # a resync and more: what has converged stays


@dataclass(slots=True)
class Outcome:
    """What came of one run."""

    plan: Plan
    state: EndState
    points: list[Point]
    reached: int  # points until the end was there
    seconds: float  # from the last that people did to the expected end
    violations: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not (self.violations or self.different or self.unreached)

    def report(self) -> str:
        """All that is wrong, in lines."""
        lines = [str(self.plan)]
        lines += [f"  not safe: {line}" for line in self.violations]
        lines += [f"  not equal: {line}" for line in self.different]
        lines += [f"  not reached: {line}" for line in self.unreached]
        return "\n".join(lines)


class Prepared:
    """A bed on which a workload has done what comes before the faults."""

    def __init__(self, name: str) -> None:
        self.workload = REGISTRY[name]
        self.bed = FaultBed(acts=ACTS, **self.workload.options)
        self._steps = self.workload.play(self.bed)
        next(self._steps)
        self.bed.work(30.0)

    def play(self, plan: Plan, expected: EndState | None) -> Outcome:
        """Do the rest of the workload under the plan's faults; once for each Prepared."""
        bed, complaints = self.bed, Complaints()
        with complaints.listening():
            bed.arm(plan.faults, plan.schedule)
            reached, seconds = self._work(expected)
            points = list(bed.injector.points.passed)
            state = end_state(bed)
            different = [] if expected is None else differences(expected, state)
            different = not_tolerated(plan, different)
            violations = bed.safety.violations
            outcome = Outcome(plan, state, points, reached, seconds, violations, different)
            if outcome.good and self.workload.rests:
                outcome.different += _unrest(bed, plan.faults)
        outcome.violations += [f"in the log: {line}" for line in complaints.seen]
        outcome.unreached += [str(fault) for fault in bed.injector.left]
        return outcome

    def _work(self, expected: EndState | None) -> tuple[int, float]:
        """How many points and seconds it took to the end."""
        try:
            for _ in self._steps:
                self.bed.work(BETWEEN_SECONDS)
        except (StatusError, DomainError):
            if not self.bed.acted:
                raise  # else somebody was there first, and the workload ends here
        watcher = _End(self.bed, expected)
        seconds = self.bed.work(HORIZON_SECONDS, until=watcher.is_there)
        return watcher.reached, seconds


@functools.cache
def undisturbed(name: str) -> Outcome:
    """The run of a workload without faults, from which its expected end is known."""
    return Prepared(name).play(Plan(name), expected=None)


def run(plan: Plan, prepared: Prepared | None = None) -> Outcome:
    """Run a plan and compare its end with that of the undisturbed run."""
    expected = undisturbed(plan.workload).state
    return (prepared or Prepared(plan.workload)).play(plan, expected)


class _End:
    """Notices when the end is there; without an expected one it is what lasts."""

    def __init__(self, bed: FaultBed, expected: EndState | None) -> None:
        self._bed = bed
        self._expected = expected
        self._last: EndState = {}
        self.reached = 0

    def is_there(self) -> bool:
        state = end_state(self._bed)
        if state != self._last:
            self._last, self.reached = state, len(self._bed.injector.points.passed)
        waiting = self._bed.landings_left or self._bed.injector.left
        return not waiting and state == self._expected


def _unrest(bed: FaultBed, faults: Iterable[Fault]) -> list[str]:
    """What is not as it must be once all is well: nothing is written any more."""
    before = end_state(bed)
    bed.injector.points.armed = False
    unseen = any(fault.do in UNSEEN for fault in faults)
    bed.work(UNSEEN_SECONDS if unseen else SETTLE_SECONDS, pace=QUIET_PACE)
    bed.clear_logs()
    bed.work(QUIET_SECONDS, pace=QUIET_PACE)
    writes = [*bed.mutations(), *(f"{m} {p}" for m, p in bed.api_writes())]
    unrest = [f"written for no reason: {write}" for write in writes]
    return unrest + differences(before, end_state(bed))
