"""The drift resync: one bulk read of lldap, then every object is compared with it."""

import random
from collections.abc import Callable

from controller.clock import Clock
from controller.harness.explain import explain_probe
from controller.harness.gate import Gate
from controller.loop import FOREVER

JITTER = 0.1  # of the period, so that several operators do not read at once
WAIT_SECONDS = 1.0  # while the gate is closed: its own probe reads everything anew


class Resync:
    """Reads the mirror anew every `period` seconds (0: never) and has all objects compared.

    `refresh` reads, `compare` enqueues. `step()`: one thread.
    """

    def __init__(
        self,
        refresh: Callable[[], None],
        compare: Callable[[], None],
        gate: Gate,
        *,
        period: float,
        clock: Clock,
        random: random.Random,
    ) -> None:
        self._refresh = refresh
        self._compare = compare
        self._gate = gate
        self._period = period
        self._clock = clock
        self._random = random
        self._due = self._next()

    def step(self) -> float:
        """Do one resync if it is due; seconds until the next step."""
        if self._period == 0:
            return FOREVER
        left = self._due - self._clock.monotonic()
        if left > 0:
            return left
        if not self._gate.is_open:
            return WAIT_SECONDS
        try:
            self._refresh()
        except Exception as error:  # noqa: BLE001 - whatever it is, the gate's probe meets it too
            self._gate.close(explain_probe(error))
            return WAIT_SECONDS
        self._compare()
        self._due = self._next()
        return max(0.0, self._due - self._clock.monotonic())

    def _next(self) -> float:
        factor = self._random.uniform(1 - JITTER, 1 + JITTER)
        return self._clock.monotonic() + self._period * factor
