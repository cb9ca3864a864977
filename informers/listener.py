"""The way of notifications to one handler."""

import logging
import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from informers.events import Handler, Notification
from informers.metrics import InformerMetrics
from informers.objects import key_of

BATCH: Final = 1000
"""Notifications told in one step."""


class Registration:
    """One handler of an informer, with the queue of what it has not been told yet.

    Promises: the handler is told everything once, in order; a handler that raises misses nothing
    else, and neither it nor a slow one holds up any other. The queue is not bounded.

    `step`: one thread; `*_locked`: under the informer's lock; the rest: any thread.
    """

    def __init__(
        self, handler: Handler, name: str, metrics: InformerMetrics, logger: logging.Logger
    ) -> None:
        self.name = name
        self._handler = handler
        self._metrics = metrics
        self._logger = logger
        self._pending: deque[Notification] = deque()  # its own operations are atomic
        self._wake: Callable[[], None] | None = None
        self._stopped = False
        self._enqueued = 0  # guarded by the informer's lock
        self._delivered = 0  # written by the thread of step()
        self._synced_after: int | None = None  # written once, under the informer's lock

    def __repr__(self) -> str:
        return f"<Registration {self.name}, {self.pending} pending>"

    @property
    def pending(self) -> int:
        """How many notifications wait for the handler."""
        return len(self._pending)

    def has_synced(self) -> bool:
        """Whether the handler has been told all of the first list."""
        return self._synced_after is not None and self._delivered >= self._synced_after

    def on_pending(self, wake: Callable[[], None]) -> None:
        """Call `wake` whenever there is something to tell after there was nothing.

        It is called in the reflector's thread and must not block.
        """
        self._wake = wake
        if self._pending:
            wake()

    def step(self) -> float:
        """Tell the handler what waits; 0 if there may be more, else inf (see `on_pending`)."""
        for _ in range(BATCH):
            if self._stopped:
                return math.inf
            try:
                notification = self._pending.popleft()
            except IndexError:
                return math.inf
            self._tell(notification)
            self._delivered += 1
        return 0.0

    def stop(self) -> None:
        """Tell nothing more; what waits is dropped."""
        self._stopped = True
        self._pending.clear()

    def wake(self) -> None:
        """Say that something waits. The caller holds no lock."""
        if self._wake is not None:
            self._wake()

    def enqueue_locked(self, found: Sequence[Notification]) -> bool:
        """Queue `found`; whether `wake` is due."""
        if self._stopped or not found:
            return False
        was_empty = not self._pending
        self._pending.extend(found)
        self._enqueued += len(found)
        return was_empty

    def synced_locked(self) -> None:
        """What has been queued by now is the first list."""
        if self._synced_after is None:
            self._synced_after = self._enqueued

    def _tell(self, notification: Notification) -> None:
        try:
            notification.tell(self._handler)
        except Exception as error:  # noqa: BLE001 - whatever a handler raises, the next call comes
            # Neither the text nor the traceback: they may quote the object.
            self._logger.error(  # noqa: TRY400
                "%s: handler raised %s for %s",
                self.name,
                type(error).__name__,
                key_of(notification.obj),
            )
            self._metrics.handler_failed(self.name)
