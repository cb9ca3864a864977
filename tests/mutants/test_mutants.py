import subprocess
from pathlib import Path

import pytest

from tests.mutants.candidates import Mutant, mutants
from tests.mutants.subject import EQUIVALENT, files
from tests.mutants.trial import Copy

ROOT = Path(__file__).parents[2]
SOURCE = '''"""A module."""

LIMIT = 5


def clamp(value: int, *, strict: bool = False) -> int:
    """Never more than the limit."""
    if value > LIMIT and not strict:
        return LIMIT
    note(value + 1)
    clamp.last: int | None = value
    if not value:
        return False
    return value
'''


def _file(folder: Path, source: str) -> Path:
    file = folder / "module.py"
    file.write_text(source)
    return file


def test_each_edit_is_small_and_within_a_function(tmp_path: Path) -> None:
    found = {(m.line, m.old, m.new) for m in mutants(_file(tmp_path, SOURCE), tmp_path)}
    assert found == {
        (8, ">", ">="),
        (8, "and", "or"),
        (8, "not strict", "(strict)"),
        (8, "value > LIMIT and not strict", "True"),
        (8, "value > LIMIT and not strict", "False"),
        (9, "LIMIT", "None"),
        (10, "note(value + 1)", "pass"),
        (10, "+", "-"),
        (10, "1", "2"),
        (12, "not value", "(value)"),
        (12, "not value", "True"),
        (12, "not value", "False"),
        (13, "False", "True"),
        (14, "value", "None"),
    }


def test_an_edit_changes_its_own_place_alone(tmp_path: Path) -> None:
    for mutant in mutants(_file(tmp_path, SOURCE), tmp_path):
        changed = mutant.applied(SOURCE).splitlines()
        different = [n for n, line in enumerate(SOURCE.splitlines(), 1) if changed[n - 1] != line]
        assert different == [mutant.line]


@pytest.mark.slow
def test_there_are_enough_to_draw_from_and_the_files_are_there() -> None:
    assert all(file.exists() for file in files(ROOT))
    assert sum(len(mutants(file, ROOT)) for file in files(ROOT)) > 1000


@pytest.mark.slow
def test_what_is_called_equivalent_can_still_be_drawn() -> None:
    known = set()
    for file in files(ROOT):
        lines = file.read_text().splitlines()
        known |= {(m.file, lines[m.line - 1].strip(), m.old, m.new) for m in mutants(file, ROOT)}
    assert set(EQUIVALENT) <= known


@pytest.mark.slow
def test_a_mutant_lives_or_dies_by_the_tests_and_the_tree_stays_as_it_is(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "module.py").write_text("def two() -> int:\n    return 1 + 1\n")
    (tree / "test_module.py").write_text(
        "from module import two\n\n\ndef test_two():\n    assert two() == 2\n\n\n"
        "def test_any():\n    assert two() is not None\n"
    )
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    subprocess.run(["git", "add", "."], cwd=tree, check=True)
    copy = Copy(tree, tmp_path / "copy")
    mutant = next(m for m in mutants(tree / "module.py", tree) if m.old == "+")
    assert mutant == Mutant("module.py", 2, 31, 32, "+", "-")
    words = [
        copy.try_out(mutant, tests, 1.0).word
        for tests in (["test_module.py::test_two"], ["test_module.py::test_any"], [])
    ]
    assert words == ["killed", "survived", "not covered"]
    assert (tree / "module.py").read_text() == "def two() -> int:\n    return 1 + 1\n"
    assert (tmp_path / "copy" / "module.py").read_text() == (tree / "module.py").read_text()
