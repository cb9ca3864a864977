"""One failover after the other, and what is to hold in each."""

import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from tests.failover.bed import NAMES, FailoverBed
from tests.failover.faults import KILLED, DisturbedError, Fault
from tests.failover.history import violations
from tests.support.cluster import wait_until
from tests.support.proxy import Way

# Beside what the election itself may take: the requests, and a machine with two cores.
REQUESTS = 0.5
SECONDS = 30.0
MOST_DISTURBED = 20


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
    """One thread. `disturbed` counts rounds that were made again."""

    def __init__(self, bed: FailoverBed) -> None:
        self._bed = bed
        self.disturbed = 0

    def run(self, fault: Fault) -> Outcome:
        """Strike the leader; AssertionError if something does not hold."""
        while True:
            try:
                outcome = self._round(fault)
            except DisturbedError:
                self.disturbed += 1
                assert self.disturbed <= MOST_DISTURBED, "this machine is too busy for a 3 s lease"
                self._put_right()
            else:
                return outcome
            finally:
                found = violations(self._bed.holders, self._bed.writes)
                assert found == [], found

    def _round(self, fault: Fault) -> Outcome:
        bed = self._bed
        leader = self._ready()
        other = next(name for name in NAMES if name != leader)
        struck = fault.strike(bed, leader)
        self._until(lambda: bed.holder == other, f"{other} takes over from {leader}", other)
        taken = next(each.at for each in bed.holders if each.at > struck and each.replica == other)
        self._until(lambda: self._has_written(other, taken), f"a write of {other}", other)
        worked = next(w.at for w in bed.writes if w.replica == other and w.at >= taken)
        fault.end(bed, leader)
        self._comes_back(leader, fault)
        outcome = Outcome(fault.name, taken - struck, fault.within, worked - struck)
        assert outcome.taken <= fault.within + REQUESTS, outcome
        return outcome

    def _ready(self) -> str:
        """Until there is a leader that has written, and another replica that waits."""
        bed = self._bed
        self._until(lambda: self._works(bed.holder), "a leader that works", *NAMES)
        leader = bed.holder
        ready = bed.replicas.values()
        self._until(lambda: all(each.probe("/readyz") == 200 for each in ready), "two", *NAMES)
        if bed.holder != leader:
            raise DisturbedError
        return leader

    def _works(self, holder: str) -> bool:
        """Whether this very process took or renewed the Lease, and has written since.

        The Lease names a process for a while that has ended, and its replica may run again.
        """
        if holder not in NAMES:
            return False
        started = self._bed.replicas[holder].started_at
        since = max(each.at for each in self._bed.holders if each.replica == holder)
        return since > started and self._has_written(holder, since)

    def _until(self, condition: Callable[[], bool], what: str, *alive: str) -> None:
        """Wait for a condition, in which these replicas are to stay alive."""

        def decided() -> bool:
            if not all(self._bed.replicas[name].running for name in alive):
                raise DisturbedError
            return condition()

        try:
            wait_until(decided, what, SECONDS)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self._last_words()}") from None

    def _last_words(self) -> str:
        """What the replicas logged last, and what each of their threads does."""
        words = []
        for name, replica in self._bed.replicas.items():
            if replica.running:
                replica.send_signal(signal.SIGCONT)
                replica.send_signal(signal.SIGABRT)  # faulthandler writes what every thread does
                replica.wait(SECONDS)
            words.append(f"--- {name}:\n{replica.text()[-20_000:]}")
        return "\n".join(words)

    def _has_written(self, replica: str, since: float) -> bool:
        return any(w.replica == replica and w.at >= since for w in reversed(self._bed.writes))

    def _comes_back(self, leader: str, fault: Fault) -> None:
        """The old process ends by itself; a kubelet starts a new one."""
        replica = self._bed.replicas[leader]
        try:
            code = replica.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{leader} does not end:\n{self._last_words()}") from None
        assert code == fault.exit_code, f"{leader} ended with {code}: {replica.text()[-2000:]}"
        self._bed.step_clock(leader, 0)
        replica.start()

    def _put_right(self) -> None:
        """All faults end, and what lost its Lease is started anew."""
        for name, replica in self._bed.replicas.items():
            self._bed.proxies[name].turn(Way.OPEN)
            if replica.running:
                replica.send_signal(signal.SIGCONT)
            else:
                assert replica.wait() in {1, KILLED}, replica.text()[-2000:]
                replica.start()
