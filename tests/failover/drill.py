"""One failover after the other, and what is to hold in each."""

from dataclasses import dataclass

from tests.failover.bed import NAMES, FailoverBed
from tests.failover.faults import Fault
from tests.failover.history import violations
from tests.support.cluster import wait_until

# Beside what the election itself may take: the requests, and a machine with two cores.
REQUESTS = 0.5
SECONDS = 30.0


@dataclass(frozen=True)
class Outcome:
    """One failover. `taken` is after how many seconds the other replica had the Lease."""

    fault: str
    taken: float
    within: float
    worked: float
    """After how many seconds it wrote."""

    def __str__(self) -> str:
        return (
            f"{self.fault:20} taken after {self.taken:.2f} s of {self.within:.2f} s, "
            f"first write after {self.worked:.2f} s"
        )


class Drill:
    """One thread."""

    def __init__(self, bed: FailoverBed) -> None:
        self._bed = bed

    def run(self, fault: Fault) -> Outcome:
        """Strike the leader; AssertionError if something does not hold."""
        bed = self._bed
        leader = self._ready()
        other = next(name for name in NAMES if name != leader)
        struck = fault.strike(bed, leader)
        wait_until(lambda: bed.holder == other, f"{other} takes over from {leader}", SECONDS)
        taken = next(each.at for each in bed.holders if each.at > struck and each.replica == other)
        wait_until(lambda: self._has_written(other, taken), f"a write of {other}", SECONDS)
        worked = next(w.at for w in bed.writes if w.replica == other and w.at >= taken)
        fault.end(bed, leader)
        self._comes_back(leader, fault)
        assert violations(bed.holders, bed.writes) == []
        outcome = Outcome(fault.name, taken - struck, fault.within, worked - struck)
        assert outcome.taken <= fault.within + REQUESTS, outcome
        return outcome

    def _ready(self) -> str:
        """Until there is a leader that has written, and another replica that waits."""
        bed = self._bed
        wait_until(lambda: bed.holder in NAMES, "a leader", SECONDS)
        leader = bed.holder
        since = next(
            each.at for each in reversed(bed.holders) if each.replica == leader
        )  # a write after the last renewal: it works now
        wait_until(lambda: self._has_written(leader, since), f"a write of {leader}", SECONDS)
        for replica in bed.replicas.values():
            replica.wait_ready(SECONDS)
        return leader

    def _has_written(self, replica: str, since: float) -> bool:
        return any(w.replica == replica and w.at >= since for w in reversed(self._bed.writes))

    def _comes_back(self, leader: str, fault: Fault) -> None:
        """The old process ends by itself; a kubelet starts a new one."""
        replica = self._bed.replicas[leader]
        code = replica.wait(SECONDS)
        assert code == fault.exit_code, f"{leader} ended with {code}: {replica.text()[-2000:]}"
        self._bed.step_clock(leader, 0)
        replica.start()
