"""workqueue_*: names, labels and buckets as controller-runtime has them."""

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from controller.metrics.family import Family, Kind, histogram
from workqueue import QueueObserver, QueueStats

_LABELS: Final = ("name", "controller")
_BUCKETS: Final = tuple(float(f"1e{exponent}") for exponent in range(-8, 4))

MAX_PRIORITIES: Final = 25
EXCEEDED: Final = "exceeded_cardinality_limit"

DEPTH: Final = Family(
    "workqueue_depth",
    Kind.GAUGE,
    (*_LABELS, "priority"),
    "Keys that wait for a worker.",
)
ADDS: Final = Family(
    "workqueue_adds_total", Kind.COUNTER, _LABELS, "Adds that were not merged with an earlier one."
)
QUEUE_DURATION: Final = Family(
    "workqueue_queue_duration_seconds",
    Kind.HISTOGRAM,
    _LABELS,
    "How long keys waited for a worker.",
    _BUCKETS,
)
WORK_DURATION: Final = Family(
    "workqueue_work_duration_seconds",
    Kind.HISTOGRAM,
    _LABELS,
    "How long workers had keys.",
    _BUCKETS,
)
UNFINISHED: Final = Family(
    "workqueue_unfinished_work_seconds",
    Kind.GAUGE,
    _LABELS,
    "How long workers have had the keys that they have now, summed; grows if a worker is stuck.",
)
LONGEST_RUNNING: Final = Family(
    "workqueue_longest_running_processor_seconds",
    Kind.GAUGE,
    _LABELS,
    "How long the slowest worker has had its key.",
)
RETRIES: Final = Family(
    "workqueue_retries_total", Kind.COUNTER, _LABELS, "Adds with a delay or a back-off."
)
FAMILIES: Final = (
    DEPTH,
    ADDS,
    QUEUE_DURATION,
    WORK_DURATION,
    UNFINISHED,
    LONGEST_RUNNING,
    RETRIES,
)


class _Observer:
    """The two histograms of one queue. Any thread."""

    __slots__ = ("_queued", "_worked")

    def __init__(self, queued: Histogram, worked: Histogram) -> None:
        self._queued = queued
        self._worked = worked

    def queue_duration(self, seconds: float) -> None:
        self._queued.observe(seconds)

    def work_duration(self, seconds: float) -> None:
        self._worked.observe(seconds)


class _Queue:
    """One queue as it was last seen: a priority that has been there stays, at 0."""

    def __init__(self, name: str, stats: Callable[[], QueueStats]) -> None:
        self.labels = (name, name)
        self.stats = stats
        self._lock = threading.Lock()  # guards _priorities
        self._priorities: dict[int, None] = {0: None}

    def depth(self, depth: Mapping[int, int]) -> dict[str, int]:
        """Keys by the value of the priority label, which is bounded."""
        with self._lock:
            for priority in depth:
                if len(self._priorities) < MAX_PRIORITIES:
                    self._priorities.setdefault(priority)
            counted = {str(priority): depth.get(priority, 0) for priority in self._priorities}
            rest = [count for priority, count in depth.items() if priority not in self._priorities]
        return {**counted, EXCEEDED: sum(rest)} if rest else counted


class WorkqueueMetrics(Collector):
    """The MetricsProvider of the queues: asks each of them when it is scraped. Any thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._queued = histogram(registry, QUEUE_DURATION)
        self._worked = histogram(registry, WORK_DURATION)
        self._queues: tuple[_Queue, ...] = ()
        registry.register(self)

    def register(self, name: str, stats: Callable[[], QueueStats]) -> QueueObserver:
        """Export the queue `name` from now on."""
        self._queues = (*self._queues, _Queue(name, stats))
        return _Observer(self._queued.at(name, name), self._worked.at(name, name))

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """One look at each queue."""
        depth, unfinished, longest = map(_gauge, (DEPTH, UNFINISHED, LONGEST_RUNNING))
        adds, retries = map(_counter, (ADDS, RETRIES))
        for queue in self._queues:
            stats = queue.stats()
            for priority, count in queue.depth(stats.depth).items():
                depth.add_metric((*queue.labels, priority), count)
            unfinished.add_metric(queue.labels, stats.unfinished_seconds)
            longest.add_metric(queue.labels, stats.longest_running_seconds)
            adds.add_metric(queue.labels, stats.adds)
            retries.add_metric(queue.labels, stats.retries)
        yield from (depth, unfinished, longest)
        yield from (adds, retries)


def _gauge(family: Family) -> GaugeMetricFamily:
    return GaugeMetricFamily(family.name, family.meaning, labels=family.labels)


def _counter(family: Family) -> CounterMetricFamily:
    return CounterMetricFamily(family.name, family.meaning, labels=family.labels)
