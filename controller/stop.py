"""Why a process ends."""

import contextlib
import queue


class Stop:
    """Asked to end, or has lost its Lease. Any thread; `request` also from a signal handler.

    A signal handler runs between any two steps of the main thread, which may hold any lock: so
    nothing here takes one but a SimpleQueue, which allows for that.
    """

    def __init__(self) -> None:
        self._requested = False
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.lease_lost: str | None = None
        """Why; None while that has not happened."""

    def request(self) -> None:
        """Finish the work in hand, then end."""
        self._requested = True
        self.tell()

    def lose(self, why: str) -> None:
        """Another replica may be at work: end at once."""
        self.lease_lost = why
        self.tell()

    def tell(self) -> None:
        """Have whoever waits look again."""
        self._news.put(None)

    def wait(self, seconds: float) -> None:
        """Until the end is wanted, or `tell`, but not longer than so."""
        with contextlib.suppress(queue.Empty):
            self._news.get(timeout=seconds)

    @property
    def wanted(self) -> bool:
        """Whether the process is to end."""
        return self._requested or self.lease_lost is not None
