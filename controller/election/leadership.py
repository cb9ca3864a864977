"""Being the replica that works: since when, until when, and what is not allowed otherwise."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from controller.clock import Clock
from controller.configuration.config import Config
from controller.configuration.contradictions import LEASE_MARGIN
from controller.loop import FOREVER


class NotLeader(Exception):  # noqa: N818 -- a state, not a fault
    """Nothing may be written now by this process, or a write could end after its lease."""


@dataclass(frozen=True, slots=True)
class Times:
    """The four numbers of an election, in seconds; their rules are those of the configuration."""

    lease: int
    renew: float
    retry: float
    call: float

    @classmethod
    def of(cls, config: Config) -> "Times":
        """As configured."""
        return cls(
            config.lease_seconds, config.renew_seconds, config.retry_seconds, config.call_seconds
        )

    @property
    def usable(self) -> float:
        """How long after a renewal was sent the leader may still be at work."""
        return self.lease - self.lease / LEASE_MARGIN

    @property
    def request(self) -> float:
        """Timeout of a request of the election, so that one that hangs does not cost the lease."""
        return max(1.0, self.renew / 2)


@dataclass(frozen=True, slots=True)
class Term:
    """Being leader. All moments are of the monotonic clock.

    found_released: the holder before had given the Lease back, so nothing of its is under way.
    may_work_at: from when on the leader may write; before that it reads.
    renewed_at: when the last renewal that succeeded was SENT; the server saw it later.
    """

    acquired_at: float
    found_released: bool
    may_work_at: float
    renewed_at: float


class Metrics(Protocol):
    """Told what the election does. Any thread; must not block."""

    def leading(self, lease: str, *, leader: bool) -> None:
        """leader_election_master_status."""

    def slow_path(self, lease: str) -> None:
        """leader_election_slowpath_total: the leader had to read the Lease before renewing it."""


class Election(Protocol):
    """What the manager needs of an election."""

    @property
    def term(self) -> Term | None:
        """The term that goes on now, if this process believes to lead. Any thread."""

    def fence(self, timeout: float) -> None:
        """Raise NotLeader unless a write of up to `timeout` seconds may begin now. Any thread."""

    def check(self) -> str | None:
        """A liveness check."""

    def step(self) -> float:
        """One try to lead, or to go on leading."""

    def watch(self) -> float:
        """Notice that the term is over, whatever `step()` is doing."""

    def release(self) -> None:
        """Let the next one lead; after all work has ended."""


class NoElection:
    """LEADER_ELECT=false: this process leads from its first step on and nobody looks.

    Whoever switches the election off promises that there is one replica.
    """

    def __init__(self, *, clock: Clock, on_leading: Callable[[Term], None]) -> None:
        self._clock = clock
        self._on_leading = on_leading
        self.term: Term | None = None

    def fence(self, timeout: float) -> None:  # noqa: ARG002 -- of the protocol
        """Raise NotLeader before the first step."""
        if self.term is None:
            msg = "this process has not begun to work"
            raise NotLeader(msg)

    def check(self) -> str | None:
        """All is well."""
        return None

    def step(self) -> float:
        """Begin to lead."""
        if self.term is None:
            now = self._clock.monotonic()
            self.term = Term(now, found_released=True, may_work_at=now, renewed_at=now)
            self._on_leading(self.term)
        return FOREVER

    def watch(self) -> float:
        """Nothing to notice."""
        return FOREVER

    def release(self) -> None:
        """Nobody waits."""
