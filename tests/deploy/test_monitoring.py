"""Alerts and dashboard: of metrics that exist, with a page each, and firing when they should."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from controller.metrics.metrics import metrics_table
from tests.support.envtest import ROOT
from tests.support.kustomize import DEPLOY, build, one
from tests.support.promql import alerts, panels, rule_file, uses
from tests.tools.cache import promtool

RUNBOOKS = ROOT / "docs" / "operations" / "runbooks"
CASES = ROOT / "tests" / "data" / "promtool" / "alerts.yaml"
PROMTOOL = promtool()
NO_PROMTOOL = "needs promtool (make tools)"
# Of the scrape itself, and of the process collector.
OF_PROMETHEUS = {"namespace", "pod", "job", "instance", "le"}
OF_THE_PROCESS = {"process_resident_memory_bytes"}
SECONDS = 60.0

EXPRESSIONS = [(rule["alert"], rule["expr"]) for rule in alerts()] + list(panels())


def _families() -> dict[str, set[str]]:
    """Labels by every name of series that a scrape can hold."""
    found: dict[str, set[str]] = {}
    for row in metrics_table():
        labels = {label for label in row.labels.split(", ") if label}
        suffixes = ("_bucket", "_sum", "_count") if row.type == "histogram" else ("",)
        found.update({row.name + suffix: labels for suffix in suffixes})
    return found


@pytest.mark.parametrize(("name", "expression"), EXPRESSIONS)
def test_an_expression_asks_for_series_and_labels_that_exist(name: str, expression: str) -> None:
    families = _families()
    asked = uses(expression)
    assert asked.series
    assert asked.series <= families.keys() | OF_THE_PROCESS
    known = set[str]().union(*(families.get(series, set()) for series in asked.series))
    assert asked.labels <= known | OF_PROMETHEUS


def test_what_is_read_of_an_expression() -> None:
    found = uses('sum by (kind, pod) (rate(a_total{x=~"b|c", y!="d"}[5m])) / max(e) > 0 and f_x')
    assert found.series == {"a_total", "e", "f_x"}
    assert found.labels == {"kind", "pod", "x", "y"}


def test_each_alert_has_a_page_and_each_page_an_alert() -> None:
    names = {rule["alert"] for rule in alerts()}
    assert names == {page.stem for page in RUNBOOKS.glob("*.md")} - {"README"}
    for rule in alerts():
        assert rule["annotations"]["runbook"] == f"docs/operations/runbooks/{rule['alert']}.md"
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}
        page = (RUNBOOKS / f"{rule['alert']}.md").read_text()
        assert page.startswith(f"# {rule['alert']}\n")
        assert f"Severity: {rule['labels']['severity']}." in page
        for part in ("What it means", "Where to look", "What to do"):
            assert f"\n## {part}\n" in page
    listed = re.findall(r"\| \[(\w+)\]", (RUNBOOKS / "README.md").read_text())
    assert set(listed) == names


def test_the_dashboard_in_the_config_map_is_the_one_to_import() -> None:
    data = one(build("monitoring/dashboard"), "ConfigMap")["data"]
    board = json.loads(data["lldap-operator.json"])
    assert board == json.loads((DEPLOY / "monitoring" / "dashboard" / "dashboard.json").read_text())
    places = [panel["gridPos"] for panel in board["panels"]]
    cells = [
        (x, y)
        for place in places
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells), "panels lie over each other"
    assert max(x for x, _ in cells) < 24
    identities = [panel["id"] for panel in board["panels"]]
    assert len(set(identities)) == len(identities)


# --- promtool ------------------------------------------------------------------------------------


def test_M04_each_alert_has_a_case_where_it_fires_and_one_where_it_does_not() -> None:
    steady, *faults = yaml.safe_load(CASES.read_text())["tests"]
    assert not [look for look in steady["promql_expr_test"] if look["exp_samples"]]
    fires: set[str] = set()
    for case in faults:
        before, after = case["promql_expr_test"]
        (alert,) = re.findall(r'alertname="(\w+)"', after["expr"])
        assert before["expr"] == after["expr"]
        assert not before["exp_samples"]
        assert after["exp_samples"]
        fires.add(alert)
    assert fires == {rule["alert"] for rule in alerts()}


def _promtool(*arguments: str, folder: Path) -> str:
    if not PROMTOOL:
        pytest.skip(NO_PROMTOOL)
    ran = subprocess.run(
        [PROMTOOL, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_prometheus_takes_the_rules(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(rule_file())
    said = _promtool("check", "rules", "--lint-fatal", "rules.yaml", folder=tmp_path)
    assert f"{len(alerts())} rules found" in said


def test_M04_the_alerts_fire_when_they_should_and_else_not(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(rule_file())
    shutil.copy(CASES, tmp_path / "alerts.yaml")
    assert "SUCCESS" in _promtool("test", "rules", "alerts.yaml", folder=tmp_path)
