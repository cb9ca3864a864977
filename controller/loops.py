"""Loops that belong together."""

from collections.abc import Callable

from controller.clock import Clock
from controller.loop import Loop


class Loops:
    """Starts loops one by one, stops them together, the last one first. Any thread."""

    def __init__(self, clock: Clock, *, ended: Callable[[], None]) -> None:
        """`ended` is called whenever an error has ended one, in its thread."""
        self._clock = clock
        self._ended = ended
        self._loops: tuple[Loop, ...] = ()  # replaced as a whole: probes read it at any time

    def run(
        self,
        name: str,
        step: Callable[[], float],
        *,
        on_stop: Callable[[], None] | None = None,
        wake: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        """Start one more; see Loop."""
        loop = Loop(
            name,
            step,
            clock=self._clock,
            on_stop=on_stop,
            on_error=lambda _loop: self._ended(),
            wake=wake,
        )
        self._loops = (*self._loops, loop)
        loop.start()

    @property
    def running(self) -> list[str]:
        """Names of those that have not ended."""
        return [loop.name for loop in self._loops if loop.running]

    @property
    def failed(self) -> list[str]:
        """Names of those that an error has ended."""
        return [loop.name for loop in self._loops if loop.error is not None]

    def stop(self) -> None:
        """Let no further step begin. Does not wait; may be called again."""
        for loop in reversed(self._loops):
            loop.stop()

    def join(self, seconds: float) -> bool:
        """Wait up to `seconds` for all to end; whether they have."""
        deadline = self._clock.monotonic() + seconds
        for loop in self._loops:
            loop.join(deadline - self._clock.monotonic())
        return not self.running
