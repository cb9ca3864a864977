"""All metrics of one process, and the page on which they are scraped."""

from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Final, NamedTuple

from prometheus_client import CollectorRegistry, Gauge, Metric, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from controller.clock import Clock
from controller.metrics import kubernetes as metrics_kubernetes
from controller.metrics import lldap as metrics_lldap
from controller.metrics import objects as metrics_objects
from controller.metrics import reconcile as metrics_reconcile
from controller.metrics import workqueue as metrics_workqueue
from controller.metrics.family import Family, Kind
from controller.serving.httpmessage import Request, Response
from controller.version import VERSION

_OPENMETRICS: Final = "application/openmetrics-text"
_PLAIN: Final = ("text/plain", "text/*", "*/*")

BUILD_INFO: Final = Family(
    "lldap_operator_build_info", Kind.GAUGE, ("version",), "Always 1; the version of the operator."
)


class Metrics:
    """The metrics of one process, in a registry of its own: one part for each who tells.

    `workqueue`, `rest`, `informers` and `lldap` are what those packages ask for as a metrics
    provider, `election` what the election asks for. Any thread.
    """

    def __init__(
        self, *, clock: Clock, kinds: Sequence[str], controllers: Sequence[str] | None = None
    ) -> None:
        """`controllers` are those with a queue and workers; by default one for each kind."""
        self.registry = CollectorRegistry()
        self.workqueue = metrics_workqueue.WorkqueueMetrics(self.registry)
        self.reconcile = metrics_reconcile.ReconcileMetrics(
            self.registry, controllers or kinds, clock
        )
        self.rest = metrics_kubernetes.RestMetrics(self.registry)
        self.informers = metrics_kubernetes.InformerMetrics(self.registry)
        self.election = metrics_kubernetes.ElectionMetrics(self.registry)
        self.lldap = metrics_lldap.LldapMetrics(self.registry)
        self.objects = metrics_objects.ObjectMetrics(self.registry, kinds)
        info = Gauge(BUILD_INFO.name, BUILD_INFO.meaning, BUILD_INFO.labels, registry=self.registry)
        info.labels(VERSION).set(1)
        ProcessCollector(registry=self.registry)

    def serve(self, request: Request) -> Response:
        """The handler of /metrics: OpenMetrics for who prefers it, else the plain text format."""
        accept = request.headers.get("accept", "")
        encode, content_type = choose_encoder(_OPENMETRICS if _prefers_openmetrics(accept) else "")
        return Response(HTTPStatus.OK, encode(_WithoutCreated(self.registry)), content_type)


class _WithoutCreated(Collector):
    """Leaves out the `_created` series, which double all others and which client-go has not.

    The library's own switch for that is one for the whole process.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for metric in self._registry.collect():
            created = metric.name + "_created"
            metric.samples = [sample for sample in metric.samples if sample.name != created]
            yield metric


def _prefers_openmetrics(accept: str) -> bool:
    weights = dict(_weights(accept))
    wanted = weights.get(_OPENMETRICS, 0.0)
    return wanted > 0 and wanted >= max((weights.get(kind, 0.0) for kind in _PLAIN), default=0.0)


def _weights(accept: str) -> Iterator[tuple[str, float]]:
    for item in reversed(accept.split(",")):  # of two with one name the first counts
        name, *parameters = (part.strip().lower() for part in item.split(";"))
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        try:
            yield name, float(quality)
        except ValueError:
            yield name, 0.0


class MetricsRow(NamedTuple):
    """One row of the reference table in the docs."""

    name: str
    type: str
    labels: str
    meaning: str


def families() -> tuple[Family, ...]:
    """Every metric that the operator exports, but for those of the process collector."""
    return (
        *metrics_objects.FAMILIES,
        *metrics_lldap.FAMILIES,
        BUILD_INFO,
        *metrics_reconcile.FAMILIES,
        *metrics_workqueue.FAMILIES,
        *metrics_kubernetes.FAMILIES,
    )


def metrics_table() -> tuple[MetricsRow, ...]:
    """All metrics, for the docs."""
    return tuple(
        MetricsRow(family.name, family.kind.value, ", ".join(family.labels), family.meaning)
        for family in families()
    )
