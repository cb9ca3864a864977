"""How long a reflector waits after a failure."""

import random
from typing import Final

from informers.clock import Clock

# The server of a whole cluster comes back to all its clients at once: so the numbers of client-go,
# by which it gives them a minute to spread over.
INITIAL_SECONDS: Final = 0.8
FACTOR: Final = 2.0
CAP_SECONDS: Final = 30.0
RESET_SECONDS: Final = 120.0


class Backoff:
    """0.8 s, twice as long with each failure up to 30 s, times a random factor in [1, 2).

    Starts over only when `RESET_SECONDS` have gone by since the end of the last wait: a single
    success between two failures (a list that works before a watch that is refused) is none. The
    rule is kube-rs's; client-go's starts over every two minutes in the middle of an outage.
    One thread.
    """

    def __init__(self, clock: Clock, rng: random.Random) -> None:
        self._clock = clock
        self._rng = rng
        self._seconds = INITIAL_SECONDS
        self._waited_until = -RESET_SECONDS

    def next(self) -> float:
        """Seconds to wait after a failure now."""
        now = self._clock.monotonic()
        if now - self._waited_until > RESET_SECONDS:
            self._seconds = INITIAL_SECONDS
        wait = self._seconds * (1.0 + self._rng.random())
        self._seconds = min(self._seconds * FACTOR, CAP_SECONDS)
        self._waited_until = now + wait
        return wait
