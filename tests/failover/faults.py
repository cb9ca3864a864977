"""What makes a leader lose its Lease, or give it back, and what puts things right again."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.failover.bed import LEASE, RETRY, FailoverBed
from tests.support.cluster import wait_until
from tests.support.proxy import Way

RENEWALS = b"PUT /apis/coordination.k8s.io/"
WORST_PAUSE = 2.2 * RETRY
STEP = 3600  # seconds that a wall clock jumps


class DisturbedError(Exception):
    """A replica lost the Lease that nobody had struck: this machine stood still for too long.

    With a lease of 3 s that may happen on a busy one. Such a round is not counted and made again;
    what it did counts all the same when writes are compared with terms.
    """


@dataclass(frozen=True)
class Fault:
    """`strike` a leader, and the time from which the other one's way to the Lease counts.

    `within`: seconds from then until the other one has it. `end`: what lets the old process end,
    whose exit code is to be `exit_code`.
    """

    name: str
    strike: Callable[[FailoverBed, str], float]
    within: float
    end: Callable[[FailoverBed, str], None]
    exit_code: int


def _kill(bed: FailoverBed, leader: str) -> float:
    bed.replicas[leader].send_signal(signal.SIGKILL)
    return time.monotonic()


def _stop(bed: FailoverBed, leader: str) -> float:
    bed.replicas[leader].send_signal(signal.SIGSTOP)
    return time.monotonic()


def _continue(bed: FailoverBed, leader: str) -> None:
    time.sleep(bed.rng.uniform(0.0, LEASE))  # longer than the lease, all in all
    bed.replicas[leader].send_signal(signal.SIGCONT)


def _cut(bed: FailoverBed, leader: str) -> float:
    bed.proxies[leader].turn(Way.CUT)
    return time.monotonic()


def _hang(bed: FailoverBed, leader: str) -> float:
    bed.proxies[leader].turn(Way.HANGS, only=RENEWALS)
    return time.monotonic()


def _open(bed: FailoverBed, leader: str) -> None:
    bed.proxies[leader].turn(Way.OPEN)


def _step_clocks_and_kill(bed: FailoverBed, leader: str) -> float:
    """Wall clocks that jump change nothing: the leader leads on, and nobody takes its place."""
    for name in bed.replicas:
        bed.step_clock(name, bed.rng.choice((-STEP, STEP)))
    time.sleep(bed.rng.uniform(LEASE, LEASE + 1.0))
    if not bed.replicas[leader].running:
        raise DisturbedError
    assert bed.holder == leader, "a jump of a wall clock moved the Lease"
    return _kill(bed, leader)


def _end_cleanly(bed: FailoverBed, leader: str) -> float:
    asked = time.monotonic()
    bed.replicas[leader].send_signal(signal.SIGTERM)
    replica = bed.replicas[leader]
    wait_until(lambda: bool(_releases(bed, asked)) or not replica.running, "an end")
    if not _releases(bed, asked):  # its calls took longer than its grace
        raise DisturbedError
    return _releases(bed, asked)[0]


def _releases(bed: FailoverBed, since: float) -> list[float]:
    return [each.at for each in bed.holders if each.at >= since and not each.replica]


def _nothing(_bed: FailoverBed, _leader: str) -> None:
    """The process has ended already."""


AFTER_LEASE = LEASE + WORST_PAUSE
KILLED = -signal.SIGKILL
FAULTS = [
    Fault("SIGKILL", _kill, AFTER_LEASE, _nothing, KILLED),
    Fault("SIGSTOP", _stop, AFTER_LEASE, _continue, 1),
    Fault("API server cut off", _cut, AFTER_LEASE, _open, 1),
    Fault("renewal hangs", _hang, AFTER_LEASE, _open, 1),
    Fault("clean stop", _end_cleanly, WORST_PAUSE, _nothing, 0),
]
CLOCK_STEPS = Fault("clock steps", _step_clocks_and_kill, AFTER_LEASE, _nothing, KILLED)
"""Only on a bed whose clocks are steppable."""
NO_FAKETIME = "needs libfaketime (make tools)"
