"""What goes on between the operator and the API server: requests, informers, the election."""

from typing import Final

from prometheus_client import CollectorRegistry

from controller.metrics.family import Family, Kind, counter, gauge, histogram

_SECONDS: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
# fmt: off
_BYTES: Final = (
    64.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0,
    16777216.0,
)
# fmt: on

# client-go has three more: rate limiter (there is none here), DNS (urllib3 does not tell it apart
# from connecting) and retries (nothing is retried below the work queue).
REQUESTS: Final = Family(
    "rest_client_requests_total",
    Kind.COUNTER,
    ("code", "method", "host"),
    "Requests to the API server; code `<error>`: no answer came.",
)
REQUEST_DURATION: Final = Family(
    "rest_client_request_duration_seconds",
    Kind.HISTOGRAM,
    ("verb", "host"),
    "How long a request to the API server takes; of a watch, until it begins.",
    _SECONDS,
)
REQUEST_SIZE: Final = Family(
    "rest_client_request_size_bytes",
    Kind.HISTOGRAM,
    ("verb", "host"),
    "Size of the body of a request to the API server.",
    _BYTES,
)
RESPONSE_SIZE: Final = Family(
    "rest_client_response_size_bytes",
    Kind.HISTOGRAM,
    ("verb", "host"),
    "Size of the body of an answer of the API server.",
    _BYTES,
)
LISTS: Final = Family(
    "lldap_operator_informer_list_duration_seconds",
    Kind.HISTOGRAM,
    ("informer",),
    "How long listing all objects of a kind takes.",
    _SECONDS,
)
LISTED_OBJECTS: Final = Family(
    "lldap_operator_informer_listed_objects",
    Kind.GAUGE,
    ("informer",),
    "How many objects the last list had.",
)
WATCH_EVENTS: Final = Family(
    "lldap_operator_informer_events_total",
    Kind.COUNTER,
    ("informer", "type"),
    "Events of watches.",
)
WATCH_FAILURES: Final = Family(
    "lldap_operator_informer_failures_total",
    Kind.COUNTER,
    ("informer", "error"),
    "Lists and watches that failed.",
)
HANDLER_FAILURES: Final = Family(
    "lldap_operator_informer_handler_failures_total",
    Kind.COUNTER,
    ("informer",),
    "Event handlers that raised: a bug.",
)
MASTER: Final = Family(
    "leader_election_master_status",
    Kind.GAUGE,
    ("name",),
    "1 while this replica believes to hold the Lease, else 0.",
)
SLOW_PATH: Final = Family(
    "leader_election_slowpath_total",
    Kind.COUNTER,
    ("name",),
    "Renewals for which the Lease had to be read first.",
)
FAMILIES: Final = (
    REQUESTS,
    REQUEST_DURATION,
    REQUEST_SIZE,
    RESPONSE_SIZE,
    LISTS,
    LISTED_OBJECTS,
    WATCH_EVENTS,
    WATCH_FAILURES,
    HANDLER_FAILURES,
    MASTER,
    SLOW_PATH,
)


class RestMetrics:
    """The RestMetrics of the informers. Any thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = counter(registry, REQUESTS)
        self._duration = histogram(registry, REQUEST_DURATION)
        self._sent = histogram(registry, REQUEST_SIZE)
        self._received = histogram(registry, RESPONSE_SIZE)

    def request(
        self,
        *,
        method: str,
        host: str,
        code: str,
        seconds: float,
        request_bytes: int,
        response_bytes: int,
    ) -> None:
        """A request was sent, and answered or not."""
        self._requests.at(code, method, host).inc()
        self._duration.at(method, host).observe(seconds)
        self._sent.at(method, host).observe(request_bytes)
        self._received.at(method, host).observe(response_bytes)


class InformerMetrics:
    """The InformerMetrics of the informers. Any thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._lists = histogram(registry, LISTS)
        self._objects = gauge(registry, LISTED_OBJECTS)
        self._events = counter(registry, WATCH_EVENTS)
        self._failures = counter(registry, WATCH_FAILURES)
        self._handler_failures = counter(registry, HANDLER_FAILURES)

    def listed(self, name: str, seconds: float, objects: int) -> None:
        """A whole list replaced the cache."""
        self._lists.at(name).observe(seconds)
        self._objects.at(name).set(objects)
        self._handler_failures.at(name)  # 0 from the start: an increase from nothing is not seen

    def event(self, name: str, event_type: str) -> None:
        """A watch event came."""
        self._events.at(name, event_type).inc()

    def failed(self, name: str, error: str) -> None:
        """A list or a watch failed."""
        self._failures.at(name, error).inc()

    def handler_failed(self, name: str) -> None:
        """A handler raised."""
        self._handler_failures.at(name).inc()


class ElectionMetrics:
    """The Metrics of the election. Any thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._master = gauge(registry, MASTER)
        self._slow_path = counter(registry, SLOW_PATH)

    def leading(self, lease: str, *, leader: bool) -> None:
        """The election began, was won or is over."""
        self._master.at(lease).set(int(leader))
        self._slow_path.at(lease)

    def slow_path(self, lease: str) -> None:
        """A renewal had to read first."""
        self._slow_path.at(lease).inc()
