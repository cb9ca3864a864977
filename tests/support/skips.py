"""Skips are counted and printed; LLDAP_OPERATOR_NO_SKIP=1 makes all but the listed ones fail.

A skip is known by its reason, which says what the test needs.
"""

import os
from collections import Counter
from collections.abc import Generator
from typing import TypeVar

import pytest

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)
NO_SKIP_VARIABLE = "LLDAP_OPERATOR_NO_SKIP"

ALLOWED = {
    "needs promtool (make tools)": "Debian's packages could not be fetched",
    "needs libfaketime (make tools)": "Debian's packages could not be fetched",
    "needs kubectl on PATH": "none of the locked packages brings it",
    "needs the right to mount in a namespace of its own (unshare)": "a container may forbid it",
    "no IPv6 here": "the kernel may have none",
}
"""What may be skipped everywhere, and why a machine may lack it. Nothing else may."""


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return said.removeprefix("Skipped: ")


def _judged(report: Report) -> Report:
    expected = hasattr(report, "wasxfail")
    if report.skipped and not expected and os.environ.get(NO_SKIP_VARIABLE):
        why = _reason(report)
        if why not in ALLOWED:
            report.outcome = "failed"
            report.longrepr = f"{NO_SKIP_VARIABLE} forbids this skip: {why}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _judged((yield))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = Counter(_reason(report) for report in terminalreporter.getreports("skipped"))
    if counts:
        terminalreporter.section("tests that were skipped")
    for why, count in counts.most_common():
        terminalreporter.line(f"{count} skipped: {why}{_note(why)}")


def _note(why: str) -> str:
    return f" (allowed everywhere: {ALLOWED[why]})" if why in ALLOWED else ""
