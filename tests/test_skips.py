"""Skips are counted and printed, and where they are forbidden they fail."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from sandbox.controlplane import ASSETS_VARIABLE
from tests.support.envtest import NO_SERVER, ROOT
from tests.support.kustomize import NO_KUBECTL
from tests.support.skips import ALLOWED, NO_SKIP_VARIABLE

SUITE = f"""
    import pytest

    @pytest.mark.envtest
    @pytest.mark.parametrize("n", range(3))
    def test_real(n, control_plane):
        assert control_plane.url

    def test_other():
        pass

    def test_kubectl():
        pytest.skip({NO_KUBECTL!r})

    @pytest.mark.skip(reason="later")
    def test_later():
        raise AssertionError

    @pytest.mark.xfail(strict=True)
    def test_that_is_known_to_fail():
        raise AssertionError
"""


def run_suite(folder: Path, text: str = SUITE, **variables: str) -> list[str]:
    """Run tests in a process of their own, without a real API server; the lines that it says."""
    (folder / "test_suite.py").write_text(textwrap.dedent(text))
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    envtest: real\n    slow: slow\n")
    environment = {k: v for k, v in os.environ.items() if k != ASSETS_VARIABLE} | variables
    plugins = ("-p", "tests.support.skips", "-p", "tests.support.envtest")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rE", "-rf", *plugins, "--rootdir", folder],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout.splitlines()


@pytest.mark.slow
def test_skips_are_counted_and_printed_by_what_they_need(tmp_path: Path) -> None:
    lines = run_suite(tmp_path, **{NO_SKIP_VARIABLE: ""})
    assert "1 passed, 5 skipped, 1 xfailed" in lines[-1]
    assert f"3 skipped: {NO_SERVER}" in lines
    assert f"1 skipped: {NO_KUBECTL} (allowed everywhere: {ALLOWED[NO_KUBECTL]})" in lines
    assert "1 skipped: later" in lines


@pytest.mark.slow
def test_where_skips_are_forbidden_each_that_is_not_listed_fails(tmp_path: Path) -> None:
    lines = run_suite(tmp_path, **{NO_SKIP_VARIABLE: "1"})
    assert "1 passed, 1 skipped, 1 xfailed, 4 errors" in lines[-1]
    assert lines.count(f"{NO_SKIP_VARIABLE} forbids this skip: {NO_SERVER}") == 3
    assert f"{NO_SKIP_VARIABLE} forbids this skip: later" in lines


@pytest.mark.slow
def test_a_module_that_skips_itself_fails_too(tmp_path: Path) -> None:
    text = 'import pytest\npytest.importorskip("nosuchmodule")\n'
    assert "1 skipped" in run_suite(tmp_path, text, **{NO_SKIP_VARIABLE: ""})[-1]
    assert "1 error" in run_suite(tmp_path, text, **{NO_SKIP_VARIABLE: "1"})[-1]


def test_what_is_allowed_is_what_some_test_needs() -> None:
    sources = [file for file in (ROOT / "tests").rglob("*.py") if file.stem != "skips"]
    texts = "".join(file.read_text() for file in sources)
    assert [reason for reason in ALLOWED if f'"{reason}"' not in texts] == []
