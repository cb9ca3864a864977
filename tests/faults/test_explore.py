import pytest

from tests.faults.explore import draw, explore
from tests.faults.plan import Plan

SEEDS = range(100, 130)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_any_interleaving_is_safe_and_comes_to_rest(seed: int) -> None:
    explored = explore(draw(seed))
    assert not explored.report, explored.report
    assert len(explored.states) > 3


@pytest.mark.slow
def test_a_seed_is_one_run() -> None:
    assert draw(7) == draw(7)
    assert explore(draw(7)).states == explore(draw(7)).states
    assert isinstance(draw(8), Plan)
