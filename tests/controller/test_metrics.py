from typing import Any

import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families as plain

from controller.harness.outcome import Result
from controller.harness.reasons import Reason
from controller.metrics.metrics import Metrics, families, metrics_table
from controller.metrics.workqueue import EXCEEDED, MAX_PRIORITIES
from controller.serving.httpmessage import Request
from informers import InformerMetrics, RestMetrics
from lldap.metrics import Metrics as LldapMetrics
from tests.support.clock import FakeClock
from workqueue import MetricsProvider, QueueStats

KINDS = ("LldapUser", "LldapGroup")

WORKQUEUE = {
    "workqueue_depth": ("gauge", {"name", "controller", "priority"}),
    "workqueue_adds_total": ("counter", {"name", "controller"}),
    "workqueue_queue_duration_seconds": ("histogram", {"name", "controller"}),
    "workqueue_work_duration_seconds": ("histogram", {"name", "controller"}),
    "workqueue_unfinished_work_seconds": ("gauge", {"name", "controller"}),
    "workqueue_longest_running_processor_seconds": ("gauge", {"name", "controller"}),
    "workqueue_retries_total": ("counter", {"name", "controller"}),
}
RECONCILE = {
    "controller_runtime_reconcile_total": ("counter", {"controller", "result"}),
    "controller_runtime_reconcile_errors_total": ("counter", {"controller"}),
    "controller_runtime_terminal_reconcile_errors_total": ("counter", {"controller"}),
    "controller_runtime_reconcile_panics_total": ("counter", {"controller"}),
    "controller_runtime_reconcile_timeouts_total": ("counter", {"controller"}),
    "controller_runtime_reconcile_time_seconds": ("histogram", {"controller"}),
    "controller_runtime_max_concurrent_reconciles": ("gauge", {"controller"}),
    "controller_runtime_active_workers": ("gauge", {"controller"}),
}
KUBERNETES = {
    "rest_client_requests_total": ("counter", {"code", "method", "host"}),
    "rest_client_request_duration_seconds": ("histogram", {"verb", "host"}),
    "rest_client_request_size_bytes": ("histogram", {"verb", "host"}),
    "rest_client_response_size_bytes": ("histogram", {"verb", "host"}),
    "leader_election_master_status": ("gauge", {"name"}),
    "leader_election_slowpath_total": ("counter", {"name"}),
}
OURS = {
    "lldap_operator_objects": ("gauge", {"kind", "ready"}),
    "lldap_operator_conflicts": ("gauge", {"kind"}),
    "lldap_operator_drift_found_total": ("counter", {"kind"}),
    "lldap_operator_drift_repaired_total": ("counter", {"kind"}),
    "lldap_operator_deletions_waiting": ("gauge", set()),
    "lldap_operator_left_in_lldap_total": ("counter", {"kind", "reason"}),
    "lldap_operator_events_total": ("counter", {"outcome"}),
    "lldap_operator_lldap_calls_total": ("counter", {"operation", "outcome"}),
    "lldap_operator_lldap_call_duration_seconds": ("histogram", {"operation"}),
    "lldap_operator_lldap_logins_total": ("counter", {"outcome"}),
    "lldap_operator_password_registrations_total": ("counter", {"outcome"}),
    "lldap_operator_password_proofs_total": ("counter", {"result"}),
    "lldap_operator_gate_open": ("gauge", set()),
    "lldap_operator_mirror_age_seconds": ("gauge", set()),
    "lldap_operator_dead_marks": ("gauge", set()),
    "lldap_operator_build_info": ("gauge", {"version"}),
    "lldap_operator_informer_list_duration_seconds": ("histogram", {"informer"}),
    "lldap_operator_informer_listed_objects": ("gauge", {"informer"}),
    "lldap_operator_informer_events_total": ("counter", {"informer", "type"}),
    "lldap_operator_informer_failures_total": ("counter", {"informer", "error"}),
    "lldap_operator_informer_handler_failures_total": ("counter", {"informer"}),
}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def metrics(clock: FakeClock) -> Metrics:
    return Metrics(clock=clock, kinds=KINDS)


def scrape(metrics: Metrics, accept: str = "") -> str:
    response = metrics.serve(Request("GET", "/metrics", "", {"accept": accept}))
    assert response.status == 200
    return response.body.decode()


def value(metrics: Metrics, series: str, /, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(series, labels)


def stats(**changes: object) -> QueueStats:
    given: dict[str, Any] = {
        "depth": {},
        "adds": 0,
        "retries": 0,
        "unfinished_seconds": 0.0,
        "longest_running_seconds": 0.0,
    }
    return QueueStats(**{**given, **changes})


def feed(metrics: Metrics) -> None:
    """Something happens everywhere once."""
    observer = metrics.workqueue.register("LldapUser", lambda: stats(depth={0: 1, 10: 2}))
    observer.queue_duration(0.2)
    observer.work_duration(0.3)
    metrics.reconcile.measured("LldapUser", lambda key: Result())("a/b")
    metrics.rest.request(
        method="GET", host="api", code="200", seconds=0.1, request_bytes=0, response_bytes=99
    )
    metrics.informers.listed("LldapUser", 0.5, 3)
    metrics.informers.event("LldapUser", "ADDED")
    metrics.informers.failed("LldapUser", "EXPIRED")
    metrics.informers.handler_failed("LldapUser")
    metrics.election.leading("lldap-operator-default", leader=True)
    metrics.election.slow_path("lldap-operator-default")
    metrics.lldap.observe_call("createUser", "ok", 0.01)
    metrics.lldap.observe_login("ok")
    metrics.lldap.registered("ok")
    metrics.lldap.proved(holds=True)
    metrics.objects.drift_found("LldapUser")
    metrics.objects.drift_repaired("LldapUser")
    metrics.objects.left_behind("LldapUser", Reason.PROTECTED_ACCOUNT)
    metrics.objects.event("created")


def test_every_exported_series_has_its_name_type_and_labels(metrics: Metrics) -> None:
    feed(metrics)
    found: dict[str, tuple[str, set[str]]] = {}
    for family in plain(scrape(metrics)):
        suffix = "_total" if family.type == "counter" else ""
        for sample in family.samples:
            labels = set(sample.labels) - {"le"}
            found[family.name + suffix] = (family.type, labels)
    process = {name for name in found if name.startswith("process_")}

    assert {name: found[name] for name in found.keys() - process} == {
        **WORKQUEUE,
        **RECONCILE,
        **KUBERNETES,
        **OURS,
    }
    assert "process_resident_memory_bytes" in process


def test_the_docs_table_is_what_is_exported(metrics: Metrics) -> None:
    described = {**WORKQUEUE, **RECONCILE, **KUBERNETES, **OURS}
    table = metrics_table()

    assert {
        row.name: (row.type, set(filter(None, row.labels.split(", ")))) for row in table
    } == described
    assert len(table) == len(described)
    assert all(row.meaning.endswith(".") for row in table)


def test_the_buckets_are_those_of_controller_runtime(metrics: Metrics) -> None:
    feed(metrics)
    buckets: dict[str, list[str]] = {}
    for family in plain(scrape(metrics)):
        bounds = [s.labels["le"] for s in family.samples if s.name.endswith("_bucket")]
        buckets[family.name] = list(dict.fromkeys(bounds))

    for name in ("workqueue_queue_duration_seconds", "workqueue_work_duration_seconds"):
        assert [float(b) for b in buckets[name]] == pytest.approx(
            [10.0**n for n in range(-8, 4)] + [float("inf")]
        )
    assert len(buckets["controller_runtime_reconcile_time_seconds"]) == 41
    assert buckets["rest_client_request_duration_seconds"][:3] == ["0.005", "0.025", "0.1"]
    assert buckets["rest_client_response_size_bytes"][-2] == "1.6777216e+07"


def test_series_are_there_before_the_first_event(metrics: Metrics) -> None:
    for kind in KINDS:
        for result in ("success", "error", "requeue", "requeue_after"):
            labels = {"controller": kind, "result": result}
            assert value(metrics, "controller_runtime_reconcile_total", **labels) == 0
        for what in ("errors", "panics", "timeouts"):
            name = f"controller_runtime_reconcile_{what}_total"
            assert value(metrics, name, controller=kind) == 0
        assert value(metrics, "lldap_operator_drift_found_total", kind=kind) == 0
        assert value(metrics, "lldap_operator_conflicts", kind=kind) == 0
        for ready in ("True", "False", "Unknown"):
            assert value(metrics, "lldap_operator_objects", kind=kind, ready=ready) == 0
    for outcome in ("created", "updated", "failed", "dropped"):
        assert value(metrics, "lldap_operator_events_total", outcome=outcome) == 0
    for result in ("holds", "fails", "error"):
        assert value(metrics, "lldap_operator_password_proofs_total", result=result) == 0
    metrics.election.leading("x", leader=False)
    assert value(metrics, "leader_election_master_status", name="x") == 0
    assert value(metrics, "leader_election_slowpath_total", name="x") == 0
    observer = metrics.workqueue.register("LldapUser", stats)
    assert observer is not None
    labels = {"name": "LldapUser", "controller": "LldapUser"}
    assert value(metrics, "workqueue_depth", **labels, priority="0") == 0
    assert value(metrics, "workqueue_work_duration_seconds_count", **labels) == 0


def test_nothing_is_in_the_registry_of_the_whole_process(metrics: Metrics) -> None:
    names = {metric.name for metric in REGISTRY.collect()}

    assert not names & {family.name.removesuffix("_total") for family in families()}
    Metrics(clock=FakeClock(), kinds=KINDS)  # and so a second one is no conflict


def test_the_parts_are_what_the_packages_ask_for(metrics: Metrics) -> None:
    workqueue: MetricsProvider = metrics.workqueue
    rest: RestMetrics = metrics.rest
    informers: InformerMetrics = metrics.informers
    lldap: LldapMetrics = metrics.lldap

    assert all((workqueue, rest, informers, lldap))


# Queues.


def test_a_queue_is_asked_when_it_is_scraped(metrics: Metrics) -> None:
    now = stats(depth={0: 3}, adds=5, retries=2, unfinished_seconds=1.5, longest_running_seconds=1)
    metrics.workqueue.register("LldapUser", lambda: now)
    labels = {"name": "LldapUser", "controller": "LldapUser"}

    assert value(metrics, "workqueue_depth", **labels, priority="0") == 3
    assert value(metrics, "workqueue_adds_total", **labels) == 5
    assert value(metrics, "workqueue_retries_total", **labels) == 2
    assert value(metrics, "workqueue_unfinished_work_seconds", **labels) == 1.5
    assert value(metrics, "workqueue_longest_running_processor_seconds", **labels) == 1

    now = stats(depth={10: 1})
    assert value(metrics, "workqueue_depth", **labels, priority="10") == 1
    now = stats()
    assert value(metrics, "workqueue_depth", **labels, priority="10") == 0, "it stays, at 0"


def test_priorities_beyond_the_bound_are_one_series(metrics: Metrics) -> None:
    metrics.workqueue.register("LldapUser", lambda: stats(depth=dict.fromkeys(range(100), 1)))
    labels = {"name": "LldapUser", "controller": "LldapUser"}

    assert value(metrics, "workqueue_depth", **labels, priority=EXCEEDED) == 100 - MAX_PRIORITIES
    assert scrape(metrics).count("workqueue_depth{") == MAX_PRIORITIES + 1


# Reconciles.


@pytest.mark.parametrize(
    ("result", "label", "errors"),
    [
        (Result(), "success", (0, 0)),
        (Result(requeue_after=5.0), "requeue_after", (0, 0)),
        (Result(rate_limited=True), "requeue", (0, 0)),
        (Result(rate_limited=True, error=OSError()), "error", (1, 0)),
        (Result(requeue_after=600.0, terminal=True, error=OSError()), "error", (1, 1)),
        (Result(terminal=True), "error", (1, 1)),
    ],
)
def test_a_reconcile_is_counted_by_its_result(
    metrics: Metrics, clock: FakeClock, result: Result, label: str, errors: tuple[int, int]
) -> None:
    active: list[float | None] = []

    def reconcile(key: str) -> Result:
        assert key == "team-a/alice"
        active.append(value(metrics, "controller_runtime_active_workers", controller="LldapUser"))
        clock.advance(0.3)
        return result

    assert metrics.reconcile.measured("LldapUser", reconcile)("team-a/alice") is result

    def count(name: str) -> float | None:
        return value(metrics, f"controller_runtime_{name}", controller="LldapUser")

    total = "controller_runtime_reconcile_total"
    assert value(metrics, total, controller="LldapUser", result=label) == 1
    failed = [count("reconcile_errors_total"), count("terminal_reconcile_errors_total")]
    assert failed == list(errors)
    assert count("reconcile_panics_total") == 0
    assert count("reconcile_time_seconds_sum") == pytest.approx(0.3)
    assert active == [1]
    assert count("active_workers") == 0


def test_an_error_that_nobody_foresaw_counts_as_a_panic_and_goes_on(metrics: Metrics) -> None:
    def reconcile(key: str) -> Result:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        metrics.reconcile.measured("LldapGroup", reconcile)("a/b")

    for what in ("panics", "errors"):
        name = f"controller_runtime_reconcile_{what}_total"
        assert value(metrics, name, controller="LldapGroup") == 1
    assert value(metrics, "controller_runtime_active_workers", controller="LldapGroup") == 0


def test_the_number_of_workers_is_told(metrics: Metrics) -> None:
    metrics.reconcile.workers("LldapUser", 16)

    name = "controller_runtime_max_concurrent_reconciles"
    assert value(metrics, name, controller="LldapUser") == 16


# Objects and lldap.


def test_objects_are_counted_by_kind_and_ready(metrics: Metrics) -> None:
    metrics.objects.follow(
        states=lambda: {
            ("LldapUser", "True", "Verified"): 7,
            ("LldapUser", "False", "Conflict"): 2,
            ("LldapUser", "False", "Pending"): 1,
            ("LldapGroup", "what somebody wrote", "Conflict"): 1,
        },
        deletions_waiting=lambda: 4,
    )

    def objects(kind: str, ready: str) -> float | None:
        return value(metrics, "lldap_operator_objects", kind=kind, ready=ready)

    assert objects("LldapUser", "True") == 7
    assert objects("LldapUser", "False") == 3
    assert objects("LldapGroup", "Unknown") == 1
    assert value(metrics, "lldap_operator_conflicts", kind="LldapUser") == 2
    assert value(metrics, "lldap_operator_conflicts", kind="LldapGroup") == 1
    assert value(metrics, "lldap_operator_deletions_waiting") == 4


def test_what_is_known_of_lldap_is_asked_when_scraped(metrics: Metrics) -> None:
    age = 3.5
    metrics.lldap.follow(gate_open=lambda: True, mirror_age=lambda: age, dead_marks=lambda: 2)

    assert value(metrics, "lldap_operator_gate_open") == 1
    assert value(metrics, "lldap_operator_mirror_age_seconds") == 3.5
    assert value(metrics, "lldap_operator_dead_marks") == 2


def test_passwords_are_counted(metrics: Metrics) -> None:
    metrics.lldap.registered("Unavailable")
    metrics.lldap.proved(holds=False)
    metrics.lldap.proved(holds=None)

    name = "lldap_operator_password_registrations_total"
    assert value(metrics, name, outcome="Unavailable") == 1
    for result, count in {"holds": 0, "fails": 1, "error": 1}.items():
        assert value(metrics, "lldap_operator_password_proofs_total", result=result) == count
