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

CONTROL_PLANE = "control_plane"  # the fixture that is a real server in one of its variants
BEHAVIOUR = "tests/behaviour/"  # all of it runs on both
_PLUGINS = ("tests/support/*.py", "tests/**/conftest.py")

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class TestName:
    """A test function. `marks` are those of its module, class and own.

    `fixtures` are those that it asks for and, in turn, those that they ask for.
    """

    __test__ = False

    path: str
    parts: tuple[str, ...]
    marks: frozenset[str]
    fixtures: frozenset[str]

    @property
    def is_real(self) -> bool:
        """Whether it runs on a real API server (too, where it runs on the sandbox's as well)."""
        marked = "envtest" in self.marks or CONTROL_PLANE in self.fixtures
        return marked or self.path.startswith(BEHAVIOUR)

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


@functools.cache
def _shared_fixtures() -> dict[str, frozenset[str]]:
    """What each fixture of the plugins and conftests asks for."""
    paths = (path for pattern in _PLUGINS for path in sorted(ROOT.glob(pattern)))
    found: dict[str, frozenset[str]] = {}
    for path in paths:
        found |= _fixtures_of(ast.parse(path.read_text(encoding="utf-8")))
    return found


def _fixtures_of(module: ast.Module) -> dict[str, frozenset[str]]:
    return {
        each.name: _arguments(each)
        for each in module.body
        if isinstance(each, _Function)
        and any("fixture" in ast.unparse(decorator) for decorator in each.decorator_list)
    }


def _arguments(function: _Function) -> frozenset[str]:
    return frozenset(each.arg for each in function.args.args)


def _all_fixtures(asked: frozenset[str], known: dict[str, frozenset[str]]) -> frozenset[str]:
    found, new = asked, asked
    while new:
        new = frozenset[str]().union(*(known.get(name, ()) for name in new)) - found
        found |= new
    return found


def _names_in(path: Path) -> Iterator[TestName]:
    module = ast.parse(path.read_text(encoding="utf-8"))
    fixtures = _shared_fixtures() | _fixtures_of(module)
    marks = frozenset[str]()
    for statement in module.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark":
            marks = _marks(statement.value)
    where = path.relative_to(ROOT).as_posix()
    for statement in module.body:
        for parts, own, asked in _tests_of(statement, (), marks):
            yield TestName(where, parts, own, _all_fixtures(asked, fixtures))


def _tests_of(
    statement: ast.stmt,
    parts: tuple[str, ...],
    marks: frozenset[str],
    given: frozenset[str] = frozenset(),
) -> Iterator[tuple[tuple[str, ...], frozenset[str], frozenset[str]]]:
    """Name, marks and fixtures of each test function; `given` are parameters of its class."""
    if not isinstance(statement, _Defined):
        return
    inner = (*parts, statement.name)
    given = given.union(*(_parameters(each) for each in statement.decorator_list))
    whole = marks.union(*(_marks(each) for each in statement.decorator_list))
    if isinstance(statement, ast.ClassDef):
        if statement.name.startswith("Test"):
            for each in statement.body:
                yield from _tests_of(each, inner, whole, given)
    elif statement.name.startswith("test_"):
        yield inner, whole, _arguments(statement) - given


def _parameters(decorator: ast.expr) -> frozenset[str]:
    """The arguments that a `parametrize` gives: no fixtures, whatever they are called."""
    text = ast.unparse(decorator)
    if not (isinstance(decorator, ast.Call) and text.startswith("pytest.mark.parametrize")):
        return frozenset()
    named = ast.literal_eval(decorator.args[0])
    names = named.split(",") if isinstance(named, str) else named
    return frozenset(name.strip() for name in names)


def _marks(expression: ast.expr) -> frozenset[str]:
    return frozenset(re.findall(r"\bpytest\.mark\.(\w+)", ast.unparse(expression)))
