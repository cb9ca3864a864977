"""The promises of docs/reliability.md on the deterministic bed: a chosen subset of all plans."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.campaign import KEPT
from tests.faults.plan import Fault, Plan
from tests.faults.run import run, undisturbed
from tests.faults.workloads import REGISTRY

ROOT = Path(__file__).parents[2]
EVERY = 97  # a prime, so that no kind of fault is left out by its place in the order


@pytest.mark.slow
@pytest.mark.parametrize("workload", sorted(REGISTRY))
def test_an_undisturbed_run_is_safe_and_comes_to_rest(workload: str) -> None:
    outcome = undisturbed(workload)
    assert outcome.good, outcome.report()
    assert outcome.points


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_plan_in_so_many_ends_as_if_nothing_had_happened() -> None:
    command = [sys.executable, "-m", "tests.faults", "--every", str(EVERY), "--jobs", "1"]
    ran = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=590
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_a_plan_that_once_found_a_defect_passes(path: Path) -> None:
    outcome = run(Plan.load(path))
    assert outcome.good, outcome.report()


def test_a_plan_is_one_small_file(tmp_path: Path) -> None:
    faults = (Fault("lldap user alice#1", "late", seconds=2.0), Fault("x#2", "stale", back=3))
    plan = Plan("user-created", faults, schedule=7, note="why")
    plan.save(tmp_path / "plan.json")
    loaded = Plan.load(tmp_path / "plan.json")
    assert loaded == plan
    assert loaded.note == "why"


def test_a_fault_whose_point_never_comes_is_not_a_passed_plan() -> None:
    outcome = run(Plan("group-created", (Fault("lldap createUser nobody#1", "refuse"),)))
    assert outcome.unreached == ["refuse at lldap createUser nobody#1"]
    assert not outcome.good
