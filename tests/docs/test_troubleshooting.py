"""Whoever meets a reason, an event or an alert finds a page that says what to do."""

import re

from controller.reasons import Reason
from tests.support.docpages import DOCS, ROOT, prose

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
