"""The plans: what they measure, and that the processes which they start do their work."""

import pytest

from benchmarks import contestants
from benchmarks.bed import LLDAP_URL, bed
from benchmarks.plan import PLANS, sized
from benchmarks.scenarios import throughput
from benchmarks.targets import CPU, PEAK, RATE


def test_each_plan_measures_growth_from_a_tenth_of_its_size() -> None:
    for plan in [*PLANS.values(), sized(PLANS["quick"], 100)]:
        small = {step.sizes for step in plan.steps[:5]}
        assert {step.sizes[0] for step in plan.steps[5:10]} == {10 * size for (size,) in small}


def test_a_count_replaces_the_sizes_and_stands_in_the_name() -> None:
    plan = sized(PLANS["quick"], 100)
    assert plan.repetitions == PLANS["quick"].repetitions
    assert plan.name == "quick, 100 objects"
    assert {size for step in plan.steps[:10] for size in step.sizes} == {10, 100}
    assert plan.steps[10].sizes == (20,)


@pytest.mark.slow
@pytest.mark.envtest
def test_the_operator_is_measured_on_real_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny: that it runs and counts, not how fast it is."""
    monkeypatch.delenv(LLDAP_URL, raising=False)
    monkeypatch.setattr(contestants, "METRICS_PORT", 20511)
    with bed() as servers:
        run = throughput.run(servers, throughput.MIXED, "operator", 20, 0)
        assert {RATE, CPU, PEAK} <= set(run.values)
        assert run.values["lldap calls an object"] < 2
        assert run.values["API calls an object"] < 8  # the lists and watches of a start are in it
