"""controller_runtime_*: what the workers do, in the names of controller-runtime."""

from collections.abc import Callable, Iterable
from typing import Final

from prometheus_client import CollectorRegistry

from controller.clock import Clock
from controller.harness.outcome import Result
from controller.metrics.family import Family, Kind, counter, gauge, histogram

# fmt: off
_BUCKETS: Final = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0,
    25.0, 30.0, 40.0, 50.0, 60.0,
)
# fmt: on

_CONTROLLER: Final = ("controller",)
_RESULTS: Final = ("success", "error", "requeue", "requeue_after")

TOTAL: Final = Family(
    "controller_runtime_reconcile_total",
    Kind.COUNTER,
    ("controller", "result"),
    "Reconciles, by result: " + ", ".join(_RESULTS) + ".",
)
ERRORS: Final = Family(
    "controller_runtime_reconcile_errors_total",
    Kind.COUNTER,
    _CONTROLLER,
    "Reconciles that failed.",
)
TERMINAL: Final = Family(
    "controller_runtime_terminal_reconcile_errors_total",
    Kind.COUNTER,
    _CONTROLLER,
    "Reconciles that failed in a way that trying again cannot mend.",
)
PANICS: Final = Family(
    "controller_runtime_reconcile_panics_total",
    Kind.COUNTER,
    _CONTROLLER,
    "Reconciles that ended by an error that nobody foresaw.",
)
TIMEOUTS: Final = Family(
    "controller_runtime_reconcile_timeouts_total",
    Kind.COUNTER,
    _CONTROLLER,
    "Always 0: calls have a deadline here, a reconcile as a whole has none.",
)
TIME: Final = Family(
    "controller_runtime_reconcile_time_seconds",
    Kind.HISTOGRAM,
    _CONTROLLER,
    "How long a reconcile takes.",
    _BUCKETS,
)
MAX_CONCURRENT: Final = Family(
    "controller_runtime_max_concurrent_reconciles",
    Kind.GAUGE,
    _CONTROLLER,
    "Worker threads.",
)
ACTIVE: Final = Family(
    "controller_runtime_active_workers",
    Kind.GAUGE,
    _CONTROLLER,
    "Worker threads that have a key now.",
)
FAMILIES: Final = (TOTAL, ERRORS, TERMINAL, PANICS, TIMEOUTS, TIME, MAX_CONCURRENT, ACTIVE)


Reconcile = Callable[[str], Result]
"""One pass over the object with this key."""


class ReconcileMetrics:
    """The families, at 0 for each controller from the start. Any thread."""

    def __init__(
        self, registry: CollectorRegistry, controllers: Iterable[str], clock: Clock
    ) -> None:
        self._clock = clock
        each = [(name,) for name in controllers]
        results = [(name, result) for (name,) in each for result in _RESULTS]
        self._total = counter(registry, TOTAL, results)
        self._errors = counter(registry, ERRORS, each)
        self._terminal = counter(registry, TERMINAL, each)
        self._panics = counter(registry, PANICS, each)
        self._time = histogram(registry, TIME, each)
        self._active = gauge(registry, ACTIVE, each)
        self._max_concurrent = gauge(registry, MAX_CONCURRENT, each)
        counter(registry, TIMEOUTS, each)

    def workers(self, controller: str, count: int) -> None:
        """So many threads may work for `controller` at once."""
        self._max_concurrent.at(controller).set(count)

    def measured(self, controller: str, reconcile: Reconcile) -> Reconcile:
        """`reconcile`, counted and timed. What it raises nobody foresaw: it passes through."""
        active = self._active.at(controller)
        time = self._time.at(controller)

        def run(key: str) -> Result:
            active.inc()
            started = self._clock.monotonic()
            try:
                result = reconcile(key)
            except Exception as error:
                self._panics.at(controller).inc()
                self._count(controller, Result(error=error))
                raise
            else:
                self._count(controller, result)
                return result
            finally:
                time.observe(self._clock.monotonic() - started)
                active.dec()

        return run

    def _count(self, controller: str, result: Result) -> None:
        label = _label_of(result)
        self._total.at(controller, label).inc()
        if label == "error":
            self._errors.at(controller).inc()
        if result.terminal:
            self._terminal.at(controller).inc()


def _label_of(result: Result) -> str:
    if result.error is not None or result.terminal:
        return "error"
    if result.rate_limited:
        return "requeue"
    return "success" if result.requeue_after is None else "requeue_after"
