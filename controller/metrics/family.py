"""Metric families as data, and series of them with a bound on their number."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.metrics import MetricWrapperBase

MAX_SERIES: Final = 500
"""Of one family. Labels have few values; whatever else gets into one must not fill the memory."""

OTHER: Final = "other"
"""The value of every label beyond that bound."""

M = TypeVar("M", bound=MetricWrapperBase)


class Kind(StrEnum):
    """The types of Prometheus that are used."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """Name (as it is scraped), type, labels and meaning of one metric; buckets of a histogram."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    meaning: str
    buckets: tuple[float, ...] = ()


class Series(Generic[M]):
    """The series of a family, by the values of its labels in order. Any thread."""

    def __init__(self, metric: M, zero: Iterable[tuple[str, ...]]) -> None:
        self._metric = metric
        self._lock = threading.Lock()  # guards additions to _children; it is read without it
        self._children: dict[tuple[str, ...], M] = {}
        for values in zero:
            self.at(*values)

    def at(self, *values: str) -> M:
        """The one series; of a new one beyond MAX_SERIES, the one that stands for all others."""
        found = self._children.get(values)
        if found is not None:
            return found
        with self._lock:
            if len(self._children) >= MAX_SERIES:
                values = (OTHER,) * len(values)
            if values not in self._children:
                self._children[values] = self._metric.labels(*values)
            return self._children[values]


def counter(
    registry: CollectorRegistry, family: Family, zero: Iterable[tuple[str, ...]] = ()
) -> Series[Counter]:
    """The family in `registry`; `zero`: series that are there before anything happens."""
    assert family.kind is Kind.COUNTER, family.name
    metric = Counter(family.name, family.meaning, family.labels, registry=registry)
    return Series(metric, zero)


def gauge(
    registry: CollectorRegistry, family: Family, zero: Iterable[tuple[str, ...]] = ()
) -> Series[Gauge]:
    """The family in `registry`; `zero`: series that are there before anything happens."""
    assert family.kind is Kind.GAUGE, family.name
    return Series(Gauge(family.name, family.meaning, family.labels, registry=registry), zero)


def single_gauge(registry: CollectorRegistry, family: Family) -> Gauge:
    """A family without labels in `registry`."""
    assert family.kind is Kind.GAUGE, family.name
    assert not family.labels, family.name
    return Gauge(family.name, family.meaning, registry=registry)


def histogram(
    registry: CollectorRegistry, family: Family, zero: Iterable[tuple[str, ...]] = ()
) -> Series[Histogram]:
    """The family in `registry`; `zero`: series that are there before anything happens."""
    assert family.kind is Kind.HISTOGRAM, family.name
    metric = Histogram(
        family.name, family.meaning, family.labels, buckets=family.buckets, registry=registry
    )
    return Series(metric, zero)
