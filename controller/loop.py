"""A thread around `step()`: all that runs by itself in the operator runs in one of these."""

import logging
import math
import threading
from collections.abc import Callable
from typing import Final

from controller.clock import Clock

_logger = logging.getLogger(__name__)

FOREVER: Final = math.inf
"""What a step returns that has nothing to do until somebody calls `wake()`."""


class Loop:
    """Calls `step()` again and again in a thread of its own; `step()` says when it is next due.

    Promises: no step begins after `stop()` has returned, but one that runs then is not cut short;
    `on_stop` is there to end what it waits for (it closes a stream, shuts a queue down). `wake()`
    during a step is not lost: the next step follows at once. An exception that leaves `step()` ends
    the thread, and never silently: it is logged, kept in `error` and reported to `on_error`, in
    the dying thread.

    The thread is a daemon, so that one that hangs in a call cannot hold the process beyond the
    grace period; whoever starts a loop also joins it. All methods: any thread.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], float],
        *,
        clock: Clock,
        on_stop: Callable[[], None] | None = None,
        on_error: Callable[["Loop"], None] | None = None,
        wake: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        """`step` returns the seconds until the next one: 0 is at once, FOREVER is never by itself.

        `wake`, if given, is handed this loop's `wake()` once, for whoever makes work for `step`.
        """
        self.name = name
        self.error: BaseException | None = None
        self._step = step
        self._clock = clock
        self._on_stop = on_stop
        self._on_error = on_error
        self._condition = threading.Condition()  # guards _woken and _stopping
        self._woken = False
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        if wake is not None:
            wake(self.wake)

    def __repr__(self) -> str:
        state = "running" if self.running else "failed" if self.error else "not running"
        return f"<Loop {self.name} {state}>"

    @property
    def running(self) -> bool:
        """Whether the thread has been started and has not ended."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread. Once only."""
        self._thread.start()

    def wake(self) -> None:
        """Make the next step due now."""
        with self._condition:
            self._woken = True
            self._condition.notify_all()

    def stop(self) -> None:
        """Let no further step begin, then call `on_stop`. Does not wait; may be called again."""
        with self._condition:
            self._stopping = True
            self._condition.notify_all()
        if self._on_stop is None:
            return
        try:
            self._on_stop()
        except Exception:  # the other loops must still be stopped
            _logger.exception("stopping %s failed", self.name)

    def join(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for the thread to end; whether it has (or never began)."""
        if self._thread.ident is not None:
            self._thread.join(max(0.0, timeout))
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            delay = 0.0
            while self._pause(delay):
                delay = self._step()
        except BaseException as error:  # a SystemExit would end the thread without a word
            self.error = error
            _logger.exception("%s ended by an error", self.name)
            if self._on_error is not None:
                self._on_error(self)

    def _pause(self, seconds: float) -> bool:
        """Wait until the next step is due; False if there is to be none."""
        due = self._clock.monotonic() + seconds
        with self._condition:
            while not (self._woken or self._stopping):
                left = due - self._clock.monotonic()
                if left <= 0:
                    break
                self._clock.wait(self._condition, None if left == math.inf else left)
            self._woken = False
            return not self._stopping
