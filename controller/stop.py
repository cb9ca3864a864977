"""Why a process ends."""


class Stop:
    """Asked to end, or has lost its Lease. Any thread; `request` also from a signal handler.

    A signal handler runs between any two steps of the main thread, which may hold any lock: so
    nothing here takes one, and whoever waits for the end looks from time to time.
    """

    def __init__(self) -> None:
        self._requested = False
        self.lease_lost: str | None = None
        """Why; None while that has not happened."""

    def request(self) -> None:
        """Finish the work in hand, then end."""
        self._requested = True

    def lose(self, why: str) -> None:
        """Another replica may be at work: end at once."""
        self.lease_lost = why

    @property
    def wanted(self) -> bool:
        """Whether the process is to end."""
        return self._requested or self.lease_lost is not None
