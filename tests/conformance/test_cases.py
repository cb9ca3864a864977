"""Every case from the field has its tests, and they can be found by its id."""

from pathlib import Path

import pytest

from tests.conformance.names import every_test
from tests.conformance.page import cases, named_after

CASES = cases()


@pytest.mark.parametrize("case", CASES)
def test_a_case_has_tests_of_its_name(case: str) -> None:
    assert [name.id for name in named_after(case)]


@pytest.mark.parametrize("case", [case for case, row in CASES.items() if row.get("real")])
def test_a_case_of_the_api_server_runs_on_a_real_one(case: str) -> None:
    assert [name.id for name in named_after(case) if name.is_real]


def test_no_test_names_a_case_that_there_is_not() -> None:
    unknown = {name.id: sorted(name.cases - CASES.keys()) for name in every_test()}
    assert {name: cases for name, cases in unknown.items() if cases} == {}


def test_a_name_is_read_with_its_classes_and_marks(tmp_path: Path) -> None:
    names = {name.id: name for name in every_test()}
    here = "tests/conformance/test_cases.py"
    assert names[f"{here}::test_a_case_has_tests_of_its_name"].marks == {"parametrize"}
    in_class = [name for name in every_test() if name.parts[0] == "TestG04ShutdownDeadlocks"]
    assert in_class
    assert all(name.cases == {"G04"} for name in in_class)
    assert all({"slow"} <= name.marks for name in in_class)
