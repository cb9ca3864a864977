"""The package shows what it means to show, and keeps its hands off time and threads."""

import ast
import importlib
import pkgutil
from pathlib import Path
from typing import TypeVar

import pytest

import workqueue

MODULES = [module.name for module in pkgutil.iter_modules(workqueue.__path__)]


def defined_in(name: str) -> set[str]:
    """The public names that module `name` defines itself."""
    module = importlib.import_module(f"workqueue.{name}")
    tree = ast.parse(Path(str(module.__file__)).read_text())
    names = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {n for n in names if n[0] != "_" and not isinstance(getattr(module, n), TypeVar)}


def test_all_lists_exactly_the_public_names() -> None:
    public = set().union(*(defined_in(name) for name in MODULES if name[0] != "_"))
    assert sorted(workqueue.__all__) == sorted(public)
    assert all(hasattr(workqueue, name) for name in workqueue.__all__)


def test_every_public_name_says_what_it_promises() -> None:
    assert (workqueue.__doc__ or "").count("\n- ") in range(5, 11)
    for name in set(workqueue.__all__) - {"NOOP"}:
        thing = getattr(workqueue, name)
        assert thing.__doc__, name
        for method, value in vars(thing).items():
            if method[0] != "_" and callable(value):
                assert value.__doc__, f"{name}.{method}"


@pytest.mark.parametrize("name", MODULES)
def test_no_module_reads_the_clock_of_the_system_or_starts_a_thread(name: str) -> None:
    source = Path(str(importlib.import_module(f"workqueue.{name}").__file__)).read_text()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names}.isdisjoint({"time", "datetime"})
        elif isinstance(node, ast.ImportFrom):
            assert node.module not in {"time", "datetime", "threading"}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert (node.value.id, node.attr) not in {
                ("threading", "Thread"),
                ("threading", "Timer"),
            }
