"""The generated pages have every reason, variable, metric and event that the code has."""

import re
from pathlib import Path

from controller.configuration.config import configuration_table
from controller.events.events import EVENTS, EventReason
from controller.harness.reasons import TABLE, Reason
from controller.metrics.metrics import metrics_table
from workqueue import ItemExponential

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


def rows(page: str) -> list[list[str]]:
    """The cells of a page's tables, heads left out."""
    lines = (REFERENCE / f"{page}.md").read_text().splitlines()
    cells = [re.split(r" (?<!\\)\| ", line[2:-2]) for line in lines if line.startswith("| ")]
    return [row for row in cells[1:] if set("".join(row)) - set("- ")]


def test_every_reason_says_what_to_do_and_when_it_is_looked_at_again() -> None:
    found = {row[0].strip("`"): row for row in rows("reasons")}
    assert set(found) == set(Reason) == {entry.reason for entry in TABLE}
    assert all(len(row) == 6 and all(row) for row in found.values())
    assert found["Conflict"][5] == "after 10 min"
    assert found["Pending"][5] == "after 10 s"
    assert found["Progressing"][5] == "after 5 s"
    assert found["Verified"][5] == "by the resync"
    assert found["Refused"][5] == "ever more rarely, at last every 5 min"


def test_the_queue_waits_at_last_as_long_as_the_page_says() -> None:
    limiter = ItemExponential[str]()
    assert [limiter.when("x") for _ in range(100)][-1] == 300.0


def test_every_variable_has_its_flag_and_default() -> None:
    found = {row[0].strip("`"): row for row in rows("configuration")}
    assert list(found) == [row.variable for row in configuration_table()]
    assert found["LLDAP_URL"][1:3] == ["`--lldap-url`", "required"]
    assert found["LLDAP_ADMIN_PASSWORD"][1] == "none"


def test_every_metric_is_there() -> None:
    assert [row[0].strip("`") for row in rows("metrics")] == [m.name for m in metrics_table()]


def test_every_event_is_there_and_told_by_somebody() -> None:
    assert [row[0].strip("`") for row in rows("events")] == [event.reason for event in EVENTS]
    assert {event.reason for event in EVENTS} == set(EventReason)
    sources = [path.read_text() for path in (ROOT / "controller").rglob("*.py")]
    for reason in EventReason:
        name = f"EventReason.{reason.name}"
        assert any(name in source for source in sources if "class EventReason" not in source), name
