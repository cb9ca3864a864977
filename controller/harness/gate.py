"""One gate an instance: while lldap cannot be worked with, one probe asks, not every object."""

import logging
import random
import threading
from collections.abc import Callable, Collection

from controller.clock import Clock
from controller.harness.reasoned import UNTIL_WOKEN, ReasonedError, fail
from controller.harness.reasons import Reason

PROBE_SECONDS = (1.0, 5.0)  # between two probes: soon after a restart, yet no storm of logins
IDLE_SECONDS = 3600.0  # while open there is nothing to do; closing wakes the loop

_LOG = logging.getLogger("controller.harness.gate")

WorkKey = tuple[str, str]  # kind, namespace/name


class Gate:
    """Open or closed, and who waits. Any thread.

    It starts closed: the first good probe opens it. `probe` logs in, checks the operator's own
    rights and reads the mirror anew; `check` looks at the rights alone; both raise when work
    cannot go on. `opened` is told the keys that waited, outside the lock. `explain` makes the
    reason of a probe's error; one that it does not know is the cause of what it makes.
    """

    def __init__(
        self,
        probe: Callable[[], None],
        check: Callable[[], None],
        *,
        explain: Callable[[Exception], ReasonedError],
        opened: Callable[[Collection[WorkKey]], None],
        clock: Clock,
        random: random.Random,
    ) -> None:
        self._probe = probe
        self._check = check
        self._explain = explain
        self._opened = opened
        self._clock = clock
        self._random = random
        self._wake: Callable[[], None] = lambda: None
        self.probed = False  # whether the first probe has ended, well or not
        self._lock = threading.Lock()  # guards the next four
        self._closed: ReasonedError | None = fail(
            Reason.LLDAP_UNAVAILABLE, "lldap was not reached yet since the operator started"
        )
        self._waiting: set[WorkKey] = set()
        self._asked = False  # somebody wants the rights looked at
        # Until then the loop looks again by itself. Whoever wakes it before could make a probe
        # of every error, where a connection comes and goes.
        self._attentive_until = clock.monotonic()

    def wake_with(self, wake: Callable[[], None]) -> None:
        """Call `wake` when a step is due at once: for a Loop."""
        self._wake = wake

    @property
    def is_open(self) -> bool:
        """Whether lldap can be worked with."""
        return self._closed is None

    def check(self, key: WorkKey) -> None:
        """Pass, or raise the reason why the gate is closed; `key` is told when it opens."""
        with self._lock:
            closed = self._closed
            if closed is None:
                return
            self._waiting.add(key)
        raise ReasonedError(closed.reason, closed.message, after=UNTIL_WOKEN)

    def wait(self, key: WorkKey) -> bool:
        """Be told when it opens, without an error; False if it is open."""
        with self._lock:
            if self._closed is None:
                return False
            self._waiting.add(key)
            return True

    def forget(self, key: WorkKey) -> None:
        """The object is gone."""
        with self._lock:
            self._waiting.discard(key)

    def close(self, error: ReasonedError) -> None:
        """Stop work for lldap until a probe succeeds."""
        with self._lock:
            was_open = self._closed is None
            self._closed = error
            due = was_open and self._is_inattentive_locked()
        if was_open:
            _LOG.warning("work for lldap stops: %s: %s", error.reason, error.message)
        if due:
            self._wake()

    def look(self) -> None:
        """Check the operator's rights soon, and close if they are not what they must be.

        For an error that may be about one object alone: work goes on meanwhile.
        """
        with self._lock:
            due = not self._asked and self._closed is None and self._is_inattentive_locked()
            self._asked = True
        if due:
            self._wake()

    def step(self) -> float:
        """Probe if closed, check if asked to; seconds until the next step. One thread."""
        with self._lock:
            is_open, asked, self._asked = self._closed is None, self._asked, False
            if is_open and not asked:
                left = self._attentive_until - self._clock.monotonic()
                return left if left > 0 else IDLE_SECONDS
        try:
            if is_open:
                self._check()
            else:
                self._probe()
        except Exception as error:  # noqa: BLE001 - whatever it is, the gate is closed and says so
            self._stay_closed(self._explain(error))
        else:
            if not is_open:
                self._open()
        finally:
            self.probed = True
        return self._be_attentive()

    def _is_inattentive_locked(self) -> bool:
        return self._clock.monotonic() >= self._attentive_until

    def _be_attentive(self) -> float:
        seconds = self._random.uniform(*PROBE_SECONDS)
        with self._lock:
            self._attentive_until = self._clock.monotonic() + seconds
        return seconds

    def _stay_closed(self, error: ReasonedError) -> None:
        with self._lock:
            changed = self._closed is None or self._closed.message != error.message
            self._closed = error
        if changed:
            cause = error.__cause__
            _LOG.warning(
                "lldap cannot be worked with: %s: %s", error.reason, error.message, exc_info=cause
            )

    def _open(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, set()
            self._closed = None
        _LOG.info("lldap can be worked with; objects that waited: %d", len(waiting))
        self._opened(waiting)
