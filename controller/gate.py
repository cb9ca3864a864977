"""One gate an instance: while lldap cannot be worked with, one probe asks, not every object."""

import logging
import random
import threading
from collections.abc import Callable, Collection

from controller.reasoned import ReasonedError, fail
from controller.reasons import Reason

PROBE_SECONDS = (1.0, 5.0)  # between two probes: soon after a restart, yet no storm of logins
IDLE_SECONDS = 3600.0  # while open there is nothing to do; closing wakes the loop

_LOG = logging.getLogger("controller.gate")

WorkKey = tuple[str, str]  # kind, namespace/name


class Gate:
    """Open or closed, and who waits. Any thread.

    It starts closed: the first good probe opens it. `probe` logs in, checks the operator's own
    rights and reads the mirror anew; it raises when work cannot go on. `opened` is told the
    keys that waited, outside the lock. `explain` makes the reason of a probe's error.
    """

    def __init__(
        self,
        probe: Callable[[], None],
        *,
        explain: Callable[[Exception], ReasonedError],
        opened: Callable[[Collection[WorkKey]], None],
        random: random.Random,
    ) -> None:
        self._probe = probe
        self._explain = explain
        self._opened = opened
        self._random = random
        self._wake: Callable[[], None] = lambda: None
        self.probed = False  # whether the first probe has ended, well or not
        self._lock = threading.Lock()  # guards _closed and _waiting
        self._closed: ReasonedError | None = fail(
            Reason.LLDAP_UNAVAILABLE, "lldap was not reached yet since the operator started"
        )
        self._waiting: set[WorkKey] = set()

    def wake_with(self, wake: Callable[[], None]) -> None:
        """Call `wake` when a step is due at once: for a Loop."""
        self._wake = wake

    @property
    def is_open(self) -> bool:
        """Whether lldap can be worked with."""
        return self._closed is None

    @property
    def closed_by(self) -> ReasonedError | None:
        """Why it is closed."""
        return self._closed

    def check(self, key: WorkKey) -> None:
        """Pass, or raise the reason why the gate is closed; `key` is told when it opens."""
        with self._lock:
            closed = self._closed
            if closed is None:
                return
            self._waiting.add(key)
        raise ReasonedError(closed.reason, closed.message)

    def wait(self, key: WorkKey) -> None:
        """Be told when it opens, without an error: for an object that has nothing to do."""
        with self._lock:
            if self._closed is not None:
                self._waiting.add(key)

    def forget(self, key: WorkKey) -> None:
        """The object is gone."""
        with self._lock:
            self._waiting.discard(key)

    def close(self, error: ReasonedError) -> None:
        """Stop work for lldap until a probe succeeds."""
        with self._lock:
            was_open = self._closed is None
            self._closed = error
        if was_open:
            _LOG.warning("work for lldap stops: %s: %s", error.reason, error.message)
            self._wake()

    def step(self) -> float:
        """Probe if closed; seconds until the next step. One thread."""
        if self.is_open:
            return IDLE_SECONDS
        try:
            self._probe()
        except Exception as error:  # noqa: BLE001 - whatever it is, the gate stays closed and says so
            self._stay_closed(self._explain(error))
            return self._random.uniform(*PROBE_SECONDS)
        else:
            self._open()
            return IDLE_SECONDS
        finally:
            self.probed = True

    def _stay_closed(self, error: ReasonedError) -> None:
        with self._lock:
            changed = self._closed is None or self._closed.message != error.message
            self._closed = error
        if changed:
            _LOG.warning("lldap cannot be worked with: %s: %s", error.reason, error.message)

    def _open(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, set()
            self._closed = None
        _LOG.info("lldap can be worked with; %d objects waited", len(waiting))
        self._opened(waiting)
