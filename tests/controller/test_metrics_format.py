"""Labels that hold anything, and the two formats."""

import re
from collections.abc import Callable, Iterable, Iterator

import pytest
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.openmetrics import parser as openmetrics_parser
from prometheus_client.parser import text_string_to_metric_families as plain

from controller.metrics.family import MAX_SERIES, OTHER, Family, Kind, counter
from controller.metrics.metrics import Metrics, families
from controller.serving.httpmessage import Request
from tests.controller.test_metrics import KINDS, feed, scrape, value
from tests.support.clock import FakeClock

# The strict one; it has no types.
openmetrics: Callable[[str], Iterable[Metric]] = openmetrics_parser.text_string_to_metric_families


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(clock=FakeClock(), kinds=KINDS)


def test_M01_the_number_of_series_is_bounded_whatever_the_labels_hold(metrics: Metrics) -> None:
    feed(metrics)
    before = len(scrape(metrics).splitlines())
    for i in range(5000):
        metrics.lldap.observe_call("createUser", f"an error about user {i}", 0.1)

    lines = scrape(metrics).splitlines()

    assert len(lines) - before <= MAX_SERIES
    name = "lldap_operator_lldap_calls_total"
    others = value(metrics, name, operation=OTHER, outcome=OTHER)
    assert others is not None
    assert others >= 5000 - MAX_SERIES
    assert "user 4999" not in "\n".join(lines)


def test_M01_no_metric_has_a_label_for_names_or_texts() -> None:
    labels = {label for family in families() for label in family.labels}

    assert not labels & {"namespace", "uid", "user", "message", "url", "path", "key"}


ODD = 'a "quoted" \\ back\nslash'
ACCEPT = {
    "openmetrics": (
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
        "application/openmetrics-text;version=0.0.1;q=0.5,"
        "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
        "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
    ),
    "plain": "text/plain;version=0.0.4",
}


def _samples(parsed: Iterable[Metric]) -> dict[str, float]:
    return {
        f"{s.name}{sorted(s.labels.items())}": s.value for family in parsed for s in family.samples
    }


def test_M03_both_formats_are_parsed_and_say_the_same(metrics: Metrics) -> None:
    feed(metrics)
    metrics.lldap.observe_call("createUser", ODD, 0.1)

    open_text, plain_text = scrape(metrics, ACCEPT["openmetrics"]), scrape(metrics)
    from_open, from_plain = _samples(openmetrics(open_text)), _samples(plain(plain_text))

    def steady(samples: dict[str, float]) -> dict[str, float]:
        return {k: v for k, v in samples.items() if not k.startswith("process_")}

    assert steady(from_open) == steady(from_plain)
    assert any(ODD in family for family in (str(s) for s in _labels(openmetrics(open_text))))
    assert open_text.endswith("# EOF\n")
    assert "# EOF" not in plain_text


def _labels(parsed: Iterable[Metric]) -> Iterator[str]:
    for family in parsed:
        for sample in family.samples:
            yield from sample.labels.values()


def test_M03_no_series_tells_when_others_were_created(metrics: Metrics) -> None:
    feed(metrics)

    assert "_created" not in scrape(metrics)
    assert "_created" not in scrape(metrics, ACCEPT["openmetrics"])


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", "text/plain"),
        ("*/*", "text/plain"),
        ("text/html", "text/plain"),
        (ACCEPT["plain"], "text/plain"),
        (ACCEPT["openmetrics"], "application/openmetrics-text"),
        ("application/openmetrics-text", "application/openmetrics-text"),
        ("application/openmetrics-text;version=99;q=1", "application/openmetrics-text"),
        ("application/openmetrics-text;q=0", "text/plain"),
        ("text/plain;q=0.9,application/openmetrics-text;q=0.1", "text/plain"),
        ("application/openmetrics-text;q=abc", "text/plain"),
    ],
)
def test_M03_the_format_is_the_one_that_is_asked_for(
    metrics: Metrics, accept: str, content_type: str
) -> None:
    response = metrics.serve(Request("GET", "/metrics", "", {"accept": accept}))

    assert response.content_type.startswith(content_type)


def test_M03_counters_end_in_total_and_nothing_else_does() -> None:
    for family in families():
        assert family.name.endswith("_total") == (family.kind is Kind.COUNTER), family.name
        assert re.fullmatch(r"[a-z][a-z0-9_]*", family.name)


def test_a_series_is_found_again() -> None:
    registry = CollectorRegistry()
    series = counter(registry, Family("x_total", Kind.COUNTER, ("a",), "X."), [("zero",)])

    assert series.at("1") is series.at("1")
    series.at("1").inc()
    assert registry.get_sample_value("x_total", {"a": "1"}) == 1
    assert registry.get_sample_value("x_total", {"a": "zero"}) == 0
