"""How many workers may have keys that nobody waits for."""

from controller.clock import Clock
from controller.watching.watching import PRIORITY_CHANGED

RESERVE = 8  # one worker of so many takes only urgent keys
FEW = 8  # one worker of so many takes background keys while urgent ones are worked on
CALM_SECONDS = 0.25  # so long after the last urgent key background work has few workers still


class BackgroundLimit:
    """Keeps background work from making urgent work slow. The pool's lock guards it.

    A key is urgent from PRIORITY_CHANGED on. Calls take the longer the more of them are under way,
    so an urgent key that only overtook in the queue would still wait at the servers. Therefore:

    | urgent keys in work | workers that may have background keys |
    |---|---|
    | none for CALM_SECONDS | all but one of RESERVE |
    | some, or a moment ago | one of FEW, at least one |

    What a worker has is never interrupted. Without `workers` there is no limit.
    """

    def __init__(self, clock: Clock) -> None:
        self.workers = 0
        self._clock = clock
        self._urgent = 0
        self._background = 0
        self._calm_at = clock.monotonic()

    def admits(self, priority: int) -> bool:
        """Whether a worker may take a key of that priority now."""
        if is_urgent(priority) or not self.workers:
            return True
        return self._background < self._most()

    def begin(self, priority: int) -> None:
        """A worker takes one."""
        if is_urgent(priority):
            self._urgent += 1
        else:
            self._background += 1

    def end(self, priority: int) -> None:
        """It has it no more."""
        if is_urgent(priority):
            self._urgent -= 1
            self._calm_at = self._clock.monotonic() + CALM_SECONDS
        else:
            self._background -= 1

    def more_in(self) -> float | None:
        """Seconds until it is worth asking again; None: only the end of a key admits another."""
        if self._urgent:
            return CALM_SECONDS
        left = self._calm_at - self._clock.monotonic()
        return left if left > 0 else None

    def _most(self) -> int:
        if self._urgent or self._clock.monotonic() < self._calm_at:
            return max(1, self.workers // FEW)
        return self.workers - (self.workers + RESERVE // 2) // RESERVE


def is_urgent(priority: int) -> bool:
    """Whether somebody waits for keys of that priority."""
    return priority >= PRIORITY_CHANGED
