"""The table of what was asked for: complete in itself, every test of it there."""

import re

import pytest

from tests.conformance.names import every_test
from tests.conformance.page import DECISIONS, PAGE, documents, page

DATA = documents()
KNOWN = {name.id.removeprefix("tests/") for name in every_test()}


@pytest.mark.parametrize("row", DATA["rows"])
def test_a_row_is_shown_by_tests_that_are_there(row: str) -> None:
    named = DATA["rows"][row]["tests"]
    assert named or row.split("-")[1].startswith("X")
    assert set(named) <= KNOWN


def test_rows_are_numbered_without_gaps_in_sections_that_have_a_title() -> None:
    seen: dict[tuple[str, str], list[int]] = {}
    for row in DATA["rows"]:
        found = re.fullmatch(r"(\d{3})-([A-Z])(\d+)", row)
        assert found
        seen.setdefault((found[1], found[2]), []).append(int(found[3]))
    assert {number for number, _ in seen} == set(DATA["documents"])
    assert {letter for _, letter in seen} == set(DATA["sections"])
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in seen.values())


def test_each_decision_has_its_tests_and_each_test_its_decision() -> None:
    named = [f"{DECISIONS}::{test}" for row in DATA["decisions"] for test in row["tests"]]
    assert sorted(named) == sorted(name for name in KNOWN if name.startswith(DECISIONS))


def test_the_page_is_what_the_data_says() -> None:
    again = "run python -m tests.conformance.page"
    assert PAGE.read_text(encoding="utf-8") == page(), again
