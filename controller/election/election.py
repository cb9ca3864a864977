"""Leader election on a Lease, by client-go's contract, with a fence in front of every write.

What one replica may believe of another rests on no clock but its own: a record counts as alive
while it changes, seen from here; the times in it are for people. Of a leader's lease the last
1/15 is not used, so that clocks may run at somewhat different rates, and a new leader that does
not know how the one before ended lets the longest possible call of it run out first.
"""

import datetime
import logging
import math
import random
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from controller.clock import Clock
from controller.election.leadership import Metrics, NotLeader, Term, Times
from controller.election.lease import RELEASED_SECONDS, Lease, LeaseLock, LeaseRecord, micro_time
from controller.loop import FOREVER
from informers.errors import ApiFailure, StatusError, StatusKind

_logger = logging.getLogger(__name__)

_JITTER: Final = 1.2  # candidates wait RETRY * [1, 2.2): they must not come all at once
_STANDSTILL: Final = datetime.timedelta(seconds=1)  # a clock set back by more is taken as it is
_CHANGED_BY_OTHERS: Final = {
    StatusKind.CONFLICT,
    StatusKind.ALREADY_EXISTS,
    StatusKind.NOT_FOUND,
}


def new_identity(host_name: str) -> str:
    """Who this process is in the Lease: never the same twice, also not in a restarted Pod."""
    return f"{host_name}_{uuid.uuid4()}"


@dataclass(frozen=True, slots=True)
class _Sighting:
    """The last record with a holder that was another's, and when it was first seen so."""

    record: LeaseRecord
    at: float


class LeaderElector:
    """Takes the Lease, renews it, and says at every moment whether this process may write.

    `step()` tries or renews; `watch()` looks only at the clock, for a second thread: a request
    that hangs cannot keep the leader leading. `fence()` and the properties: any thread, without a
    lock. `step()` and `release()` must not run at once; nothing else restricts the order.

    `on_leading` is told once, when the Lease is ours, in the thread of `step()`. `on_lost` is told
    once and why, by the thread that found out: a leader that lost the Lease never leads again, its
    process ends and begins anew. Not a proof against a clock whose rate is wrong by half: see
    docs/adr/0001-leader-election.md.
    """

    def __init__(
        self,
        lock: LeaseLock,
        identity: str,
        times: Times,
        *,
        clock: Clock,
        rng: random.Random,
        metrics: Metrics,
        on_leading: Callable[[Term], None],
        on_lost: Callable[[str], None],
    ) -> None:
        self.identity = identity
        self._lease_lock = lock
        self._times = times
        self._clock = clock
        self._rng = rng
        self._metrics = metrics
        self._on_leading = on_leading
        self._on_lost = on_lost
        self._lock = threading.Lock()  # guards changes of _term and _over; they are read without it
        self._term: Term | None = None
        self._over = False  # lost or released: no request is sent any more
        self._lease: Lease | None = None  # of the last good answer; None: read it before renewing
        self._sighting: _Sighting | None = None
        self._may_be_ours = False  # a request was sent that took the Lease, unless it was refused
        self._written = datetime.datetime.min.replace(tzinfo=datetime.UTC)
        self._reported = ""
        metrics.leading(lock.name, leader=False)

    def __repr__(self) -> str:
        return f"<LeaderElector {self.identity} {'leads' if self._term else 'does not lead'}>"

    @property
    def term(self) -> Term | None:
        """The term that goes on now, if this process believes to lead."""
        return self._term

    def fence(self, timeout: float) -> None:
        """Raise NotLeader unless a write that takes up to `timeout` seconds may begin now.

        To be called right before each write, with the deadline of the call itself.
        """
        term = self._term
        if term is None:
            msg = f"this process does not hold the {self._lease_lock}"
            raise NotLeader(msg)
        now = self._clock.monotonic()
        if now < term.may_work_at:
            msg = "calls of the leader before this one may still be under way"
            raise NotLeader(msg)
        if now + timeout > term.renewed_at + self._times.usable:
            msg = f"the {self._lease_lock} may be over before this call is"
            raise NotLeader(msg)

    def check(self) -> str | None:
        """Liveness: a leader whose lease is over and who has not even noticed is broken."""
        term = self._term
        if term is None or self._clock.monotonic() <= term.renewed_at + self._times.lease:
            return None
        return f"the {self._lease_lock} is over and has not been renewed"

    def step(self) -> float:
        """One try to take or to renew the Lease; returns the seconds until the next."""
        if self._over:
            return FOREVER
        term = self._term
        if term is None:
            self._try_to_lead()
            return self._pause_of_leader() if self._term else self._pause_of_candidate()
        if self._clock.monotonic() < term.renewed_at + self._times.renew:
            self._try_to_renew(term)
        self.watch()
        return FOREVER if self._over else self._pause_of_leader()

    def watch(self) -> float:
        """Give up when the renew deadline is over; returns the seconds until the next look."""
        if self._over:
            return FOREVER
        term = self._term
        if term is None:
            return self._times.retry
        left = term.renewed_at + self._times.renew - self._clock.monotonic()
        if left > 0:
            return left
        self._lose(f"it could not be renewed for {self._times.renew:g} s")
        return FOREVER

    def release(self) -> None:
        """Give the Lease back, so that the next leader starts at once. Raises nothing.

        Only after ALL work has ended, and after the thread of `step()` has. Does nothing if this
        process does not have the Lease or lost it. From the first line on nobody passes the fence.
        """
        with self._lock:
            lost = self._over
            self._term, self._over = None, True
        if lost or not self._may_be_ours:
            return
        self._metrics.leading(self._lease_lock.name, leader=False)
        try:
            released = self._give_back()
        except ApiFailure as error:
            _logger.warning(
                "%s was not released, the next leader waits %s s: %s",
                self._lease_lock,
                self._times.lease,
                error,
            )
        else:
            said = "is given back" if released else "was not this process's any more"
            _logger.info("%s %s", self._lease_lock, said)

    # Taking it.

    def _try_to_lead(self) -> None:
        try:
            lease = self._lease_lock.get(self._times.request)
            if self._is_free(lease):
                self._take(lease)
        except ApiFailure as error:
            self._report(logging.WARNING, "%s cannot be had: %s", self._lease_lock, error)

    def _is_free(self, lease: Lease | None) -> bool:
        """Whether the Lease may be taken now; remembers since when it has not changed."""
        record = lease.record if lease else None
        now = self._clock.monotonic()
        if record is not None and record.holder == self.identity:
            return True  # a request of ours whose answer was lost
        if record is not None and record.released:
            self._sighting = None
            return True
        if record is not None and record.holder:
            if self._sighting is None or self._sighting.record != record:
                self._sighting = _Sighting(record, now)
            self._report(logging.INFO, "%s is held by %s", self._lease_lock, record.holder)
        # A Lease that was deleted or emptied says nothing about who was seen to hold it before.
        return now >= self._free_at

    def _take(self, lease: Lease | None) -> None:
        old = lease.record if lease else None
        if old is not None and old.holder == self.identity:
            record = self._renewed(old)
        else:
            record = self._first_record(old.transitions + 1 if old else 0)
        self._may_be_ours = True
        sent_at = self._clock.monotonic()
        try:
            self._lease = self._lease_lock.write(lease, record, self._times.request)
        except StatusError as error:
            self._may_be_ours = error.kind not in _CHANGED_BY_OTHERS
            raise
        self._begin(sent_at, found_released=old is not None and old.released)

    def _begin(self, sent_at: float, *, found_released: bool) -> None:
        now = self._clock.monotonic()
        wait = 0.0 if found_released else self._times.call
        term = Term(now, found_released, now + wait, sent_at)
        with self._lock:
            # The process may have been stopped between sending and here, for longer than a lease.
            late = now >= sent_at + self._times.renew
            if late or self._over:
                return
            self._term = term
        self._metrics.leading(self._lease_lock.name, leader=True)
        _logger.info("%s is ours (%s)", self._lease_lock, self.identity)
        self._on_leading(term)

    def _pause_of_candidate(self) -> float:
        """Jittered, but not past the moment from which the Lease may be taken.

        So a leader that is killed has a successor LEASE + 2.2 RETRY later at the latest: its last
        renewal is seen within 2.2 RETRY.
        """
        pause = self._times.retry * (1.0 + _JITTER * self._rng.random())
        left = self._free_at - self._clock.monotonic()
        return min(pause, left) if left > 0 else pause

    @property
    def _free_at(self) -> float:
        """When the record that was seen last is over, if it does not change."""
        if self._sighting is None:
            return -math.inf
        return self._sighting.at + (self._sighting.record.duration or self._times.lease)

    # Keeping it.

    def _try_to_renew(self, term: Term) -> None:
        lease, self._lease = self._lease, None
        try:
            if lease is None:
                self._renew_by_reading(term)
                return
            try:
                self._renew(term, lease)
            except StatusError as error:
                if error.kind not in _CHANGED_BY_OTHERS:
                    raise
                self._renew_by_reading(term)
        except ApiFailure as error:
            self._report(logging.WARNING, "%s is not renewed: %s", self._lease_lock, error)

    def _renew_by_reading(self, term: Term) -> None:
        """The slow path: the Lease is not as this process left it, or that is not known."""
        self._metrics.slow_path(self._lease_lock.name)
        lease = self._lease_lock.get(self._timeout(term))
        if lease is not None and lease.record.holder not in {"", self.identity}:
            self._lose(f"{lease.record.holder} holds it")
        elif not self._over:
            self._renew(term, lease)

    def _renew(self, term: Term, lease: Lease | None) -> None:
        old = lease.record if lease else None
        if old is not None and old.holder:
            record = self._renewed(old)
        else:  # deleted or emptied by somebody: still ours, for nobody took it
            record = self._first_record(old.transitions if old else 0)
        sent_at = self._clock.monotonic()
        self._lease = self._lease_lock.write(lease, record, self._timeout(term))
        with self._lock:
            if self._term is not None:
                self._term = replace(self._term, renewed_at=sent_at)
        self._reported = ""

    def _first_record(self, transitions: int) -> LeaseRecord:
        wall = self._wall()
        return LeaseRecord(self.identity, self._times.lease, wall, wall, transitions)

    def _renewed(self, record: LeaseRecord) -> LeaseRecord:
        return replace(record, renew_time=self._wall(), duration=self._times.lease)

    def _wall(self) -> str:
        """Now, for a record. Also of a wall clock that stands still no two are alike.

        Others look for a change and for nothing else: a record that stays the same looks dead.
        """
        now = self._clock.now()
        if datetime.timedelta(0) <= self._written - now < _STANDSTILL:
            now = self._written + datetime.timedelta(microseconds=1)
        self._written = now
        return micro_time(now)

    def _timeout(self, term: Term) -> float:
        """For one request; some time even at the deadline: the fence does not depend on it."""
        left = term.renewed_at + self._times.renew - self._clock.monotonic()
        return min(self._times.request, max(left, 0.1))

    def _pause_of_leader(self) -> float:
        return min(self._times.retry, self.watch())

    # Losing it and giving it back.

    def _lose(self, why: str) -> None:
        with self._lock:
            if self._term is None:
                return
            self._term, self._over = None, True
        self._metrics.leading(self._lease_lock.name, leader=False)
        _logger.error("%s is lost: %s", self._lease_lock, why)
        self._on_lost(why)

    def _give_back(self) -> bool:
        lease = self._lease
        for _ in range(2):
            if lease is None:
                lease = self._lease_lock.get(self._times.request)
            if lease is None or lease.record.holder != self.identity:
                return False
            try:
                self._lease_lock.write(lease, self._released(lease.record), self._times.request)
            except StatusError as error:
                # A renewal whose answer was lost; or another leader, whom the next look shows.
                if error.kind not in _CHANGED_BY_OTHERS:
                    raise
                lease = None
            else:
                return True
        return False

    def _released(self, record: LeaseRecord) -> LeaseRecord:
        wall = self._wall()
        return LeaseRecord("", RELEASED_SECONDS, wall, wall, record.transitions)

    def _report(self, level: int, text: str, *args: object) -> None:
        """Log what has changed since the last report, not each try."""
        said = text % args
        if said != self._reported:
            self._reported = said
            _logger.log(level, "%s", said)
