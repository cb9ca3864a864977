"""The plans: what they measure, and that the processes which they start do their work."""

from collections.abc import Iterator
from typing import cast

import pytest

from benchmarks import contestants
from benchmarks.bed import LLDAP_URL, Bed, bed
from benchmarks.plan import PLANS, Plan, Step, only, sized
from benchmarks.results import Run
from benchmarks.running import once
from benchmarks.scenarios import throughput
from benchmarks.targets import CPU, GROWING, PEAK, RATE


def sizes(plan: Plan, name: str) -> list[int]:
    return [step.size for step in plan.steps if step.name == name]


def test_each_plan_measures_growth_from_a_tenth_of_its_size() -> None:
    for plan in [*PLANS.values(), sized(PLANS["quick"], 100)]:
        for scenario in GROWING:
            small, large, *_ = sizes(plan, f"{scenario}: operator")
            assert large == 10 * small


def test_contestants_take_turns_at_each_size() -> None:
    steps = [step for step in PLANS["full"].steps if step.name.startswith("new users: ")]
    names = [step.name.removeprefix("new users: ") for step in steps]
    assert names == ["operator", *["operator", "floor", "kopf", "go floor"] * 3]


def test_a_count_replaces_the_sizes_and_stands_in_the_name() -> None:
    plan = sized(PLANS["quick"], 100)
    assert plan.repetitions == PLANS["quick"].repetitions
    assert plan.name == "quick, 100 objects"
    assert sizes(plan, "mixed kinds: kopf") == [100]
    assert sizes(plan, "new users with passwords: operator") == [20]


def test_some_steps_can_be_chosen_by_words_in_their_names() -> None:
    plan = only(PLANS["quick"], ["one group: operator", "work queue"])
    assert {step.name for step in plan.steps} == {"memberships, one group: operator", "work queue"}
    assert plan.name == "quick, only one group: operator and work queue"
    with pytest.raises(SystemExit, match="no step is called that"):
        only(PLANS["quick"], ["nothing of the kind"])


def test_a_step_that_fails_is_named_and_the_others_go_on() -> None:
    def fails(*_: object) -> Iterator[Run]:
        yield Run("a", "operator", 7, 0)
        raise TimeoutError

    def works(*_: object) -> Iterator[Run]:
        yield Run("b", "operator", 8, 0)

    plan = Plan("p", 1, 1.0, (Step("a", fails, 7), Step("b", works, 8)))
    failed: list[str] = []
    found = list(once(cast("Bed", None), plan, 0, failed))
    assert [run.scenario for run in found] == ["a", "b"]
    assert failed == ["a with 7"]


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
