"""The import rules of docs/architecture.md hold, and the check can fail."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LINT = [
    sys.executable,
    "-c",
    "from importlinter.cli import lint_imports_command as c; c()",
    "--no-cache",
]


def lint(config: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*LINT, str(config)], cwd=cwd, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.slow
def test_the_packages_import_one_way_only() -> None:
    done = lint(ROOT / "setup.cfg", ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("workqueue", "informers"),
        ("informers", "lldap"),
        ("lldap", "kubernetes"),
        ("workqueue", "controller"),
        ("controller", "sandbox"),
        ("informers", "requests"),
    ],
)
def test_a_forbidden_import_is_found(tmp_path: Path, importer: str, imported: str) -> None:
    for package in ("controller", "informers", "workqueue", "lldap", "sandbox"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("")
    (tmp_path / importer / "wrong.py").write_text(f"import {imported}\n")
    config = tmp_path / "setup.cfg"
    config.write_text((ROOT / "setup.cfg").read_text())
    done = lint(config, tmp_path)
    assert done.returncode != 0
    assert f"{importer}.wrong -> {imported}" in done.stdout
