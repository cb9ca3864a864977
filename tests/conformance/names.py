"""What tests there are, read from their source: nothing is imported, nothing is run."""

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_CASES_OF_A_FUNCTION = re.compile(r"test_((?:[A-Z]\d\d_)+)")
_CASES_OF_A_CLASS = re.compile(r"Test((?:[A-Z]\d\d)+)")
_CASE = re.compile(r"[A-Z]\d\d")

_Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class TestName:
    """A test function. `marks` are those of its module, class and own."""

    __test__ = False

    path: str
    parts: tuple[str, ...]
    marks: frozenset[str]

    @property
    def function(self) -> str:
        """Its name without parameters."""
        return self.parts[-1]

    @property
    def id(self) -> str:
        """As pytest says it, without parameters."""
        return "::".join((self.path, *self.parts))

    @property
    def cases(self) -> frozenset[str]:
        """The ids of cases that its name, or that of its class, begins with."""
        found = _CASES_OF_A_FUNCTION.match(self.function)
        words = found[1] if found else ""
        for part in self.parts[:-1]:
            of_class = _CASES_OF_A_CLASS.match(part)
            words += of_class[1] if of_class else ""
        return frozenset(_CASE.findall(words))


@functools.cache
def every_test() -> tuple[TestName, ...]:
    """All tests of the project."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return tuple(name for path in paths for name in _names_in(path))


def _names_in(path: Path) -> Iterator[TestName]:
    module = ast.parse(path.read_text(encoding="utf-8"))
    marks = frozenset[str]()
    for statement in module.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark":
            marks = _marks(statement.value)
    where = path.relative_to(ROOT).as_posix()
    for statement in module.body:
        yield from _tests_of(statement, where, (), marks)


def _tests_of(
    statement: ast.stmt, path: str, parts: tuple[str, ...], marks: frozenset[str]
) -> Iterator[TestName]:
    if not isinstance(statement, _Defined):
        return
    inner = (*parts, statement.name)
    whole = marks.union(*(_marks(each) for each in statement.decorator_list))
    if isinstance(statement, ast.ClassDef):
        if statement.name.startswith("Test"):
            for each in statement.body:
                yield from _tests_of(each, path, inner, whole)
    elif statement.name.startswith("test_"):
        yield TestName(path, inner, whole)


def _marks(expression: ast.expr) -> frozenset[str]:
    return frozenset(re.findall(r"\bpytest\.mark\.(\w+)", ast.unparse(expression)))
