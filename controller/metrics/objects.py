"""What becomes of the objects: their state, drift, deletions, events."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from controller.harness.reasons import Reason
from controller.metrics.family import Family, Kind, counter, single_gauge

States = Mapping[tuple[str, str, str], int]
"""How many objects have this kind, this status of Ready and this reason."""

_KIND: Final = ("kind",)
_READY: Final = ("True", "False", "Unknown")
EVENT_OUTCOMES: Final = ("created", "updated", "failed", "dropped")

OBJECTS: Final = Family(
    "lldap_operator_objects",
    Kind.GAUGE,
    ("kind", "ready"),
    "Objects of this instance by the status of their Ready condition.",
)
CONFLICTS: Final = Family(
    "lldap_operator_conflicts",
    Kind.GAUGE,
    _KIND,
    "Objects whose target in lldap another object, instance or cluster holds.",
)
DRIFT_FOUND: Final = Family(
    "lldap_operator_drift_found_total",
    Kind.COUNTER,
    _KIND,
    "Objects whose target in lldap was found changed by somebody else.",
)
DRIFT_REPAIRED: Final = Family(
    "lldap_operator_drift_repaired_total",
    Kind.COUNTER,
    _KIND,
    "Objects whose target in lldap was put right after that.",
)
DELETIONS_WAITING: Final = Family(
    "lldap_operator_deletions_waiting",
    Kind.GAUGE,
    (),
    "Deletions in lldap that LLDAP_MAX_DELETIONS_PER_MINUTE holds back.",
)
LEFT_BEHIND: Final = Family(
    "lldap_operator_left_in_lldap_total",
    Kind.COUNTER,
    ("kind", "reason"),
    "Objects deleted whose target stayed in lldap because a rule forbade to touch it.",
)
EVENTS: Final = Family(
    "lldap_operator_events_total",
    Kind.COUNTER,
    ("outcome",),
    "Events of Kubernetes: " + ", ".join(f"`{outcome}`" for outcome in EVENT_OUTCOMES) + ".",
)
FAMILIES: Final = (
    OBJECTS,
    CONFLICTS,
    DRIFT_FOUND,
    DRIFT_REPAIRED,
    DELETIONS_WAITING,
    LEFT_BEHIND,
    EVENTS,
)


class ObjectMetrics(Collector):
    """Told by the reconcilers; asks for the states of all objects when scraped. Any thread."""

    def __init__(self, registry: CollectorRegistry, kinds: Sequence[str]) -> None:
        self._kinds = kinds
        self._states: Callable[[], States] = dict
        each = [(kind,) for kind in kinds]
        self._found = counter(registry, DRIFT_FOUND, each)
        self._repaired = counter(registry, DRIFT_REPAIRED, each)
        self._left = counter(registry, LEFT_BEHIND)
        self._events = counter(registry, EVENTS, [(outcome,) for outcome in EVENT_OUTCOMES])
        self._waiting = single_gauge(registry, DELETIONS_WAITING)
        registry.register(self)

    def follow(self, *, states: Callable[[], States], deletions_waiting: Callable[[], int]) -> None:
        """Ask these at each scrape: any thread, quick, and without raising."""
        self._states = states
        self._waiting.set_function(deletions_waiting)

    def drift_found(self, kind: str) -> None:
        """Somebody else changed an object's target."""
        self._found.at(kind).inc()

    def drift_repaired(self, kind: str) -> None:
        """It is as the object asks for again."""
        self._repaired.at(kind).inc()

    def left_behind(self, kind: str, reason: Reason) -> None:
        """An object went and its target stayed."""
        self._left.at(kind, reason.value).inc()

    def event(self, outcome: str) -> None:
        """An event was created, updated, or came to nothing."""
        self._events.at(outcome).inc()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The states of all objects now."""
        ready = {(kind, status): 0 for kind in self._kinds for status in _READY}
        conflicts = dict.fromkeys(self._kinds, 0)
        for (kind, status, reason), count in self._states().items():
            # A status is input: anybody may have written any word into it.
            ready[kind, status if status in _READY else _READY[-1]] += count
            conflicts[kind] += count if reason == Reason.CONFLICT else 0
        objects = GaugeMetricFamily(OBJECTS.name, OBJECTS.meaning, labels=OBJECTS.labels)
        for labels, count in ready.items():
            objects.add_metric(labels, count)
        conflicting = GaugeMetricFamily(CONFLICTS.name, CONFLICTS.meaning, labels=CONFLICTS.labels)
        for kind, count in conflicts.items():
            conflicting.add_metric((kind,), count)
        yield objects
        yield conflicting
