import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.sequences.schemas import Schemas

SHORT = settings(
    max_examples=40,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[phase for phase in Phase if phase is not Phase.explain],  # it traces each line
)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_any_sequence_of_attributes_ends_with_one_true_holder_each() -> None:
    before = Schemas.steps
    run_state_machine_as_test(Schemas, settings=SHORT)
    assert Schemas.steps > before + 100
