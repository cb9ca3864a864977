"""Whoever meets a reason, an event or an alert finds a page that says what to do."""

import re

from controller.harness.reasons import Reason
from tests.support.docpages import DOCS, ROOT, pages, prose

PAGE = DOCS / "run" / "troubleshooting.md"
PATH = re.compile(r"`([\w./-]+/[\w.-]+\.(?:py|md|yaml|yml))`")
OF_THE_CODE = [ROOT / "CONTRIBUTING.md", DOCS / "architecture.md"]


def test_every_reason_has_its_heading_and_no_other_has_one() -> None:
    headings = re.findall(r"^### (.*)$", prose(PAGE), flags=re.MULTILINE)
    listed = [word for heading in headings for word in heading.split(", ")]
    assert sorted(listed) == sorted(Reason)


def test_pages_about_the_code_name_files_that_are_there() -> None:
    named = {path for page in OF_THE_CODE for path in PATH.findall(page.read_text())}
    assert len(named) > 80
    assert not [path for path in named if not (ROOT / path).is_file()]


NAMES = re.compile(
    r"\b(?:(?:LLDAP|RESYNC|LEADER|LEASE|METRICS|LOG|POD|WATCH)_[A-Z_]+|lldap_operator_\w+)\b"
)
LISTS = [DOCS / "reference" / name for name in ("configuration.md", "metrics.md")]
SUFFIX = re.compile(r"_(?:bucket|sum|count)$")


def test_pages_name_variables_and_metrics_that_there_are() -> None:
    known = {name for page in LISTS for name in NAMES.findall(page.read_text())}
    others = [page for page in pages() if page not in LISTS]
    named = {name for page in others for name in NAMES.findall(page.read_text())}
    assert len(named) > 25
    assert not {name for name in named if name not in known and SUFFIX.sub("", name) not in known}
