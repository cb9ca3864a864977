"""Five of the failovers of `make failover`, and the history that they are judged by."""

import random
from pathlib import Path

import pytest

from tests.failover.bed import FAKETIME, failover_bed
from tests.failover.drill import Drill
from tests.failover.faults import CLOCK_STEPS, FAULTS, NO_FAKETIME
from tests.failover.history import Holder, Write, idle_leaders, terms, violations

SEED = 7


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_five_failovers_and_no_write_begins_in_anothers_term(tmp_path: Path) -> None:
    with failover_bed(tmp_path, random.Random(SEED)) as bed:
        drill = Drill(bed)
        outcomes = [drill.run(fault) for fault in FAULTS]
        assert [outcome.fault for outcome in outcomes] == [fault.name for fault in FAULTS]
        assert violations(bed.holders, bed.writes) == []
        assert idle_leaders(bed.holders, bed.writes) == []
        assert len(terms(bed.holders)) >= 5
        changes = {write.what for write in bed.writes}
        assert "updateUser" in changes
        assert any(what.startswith("PATCH ") for what in changes)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_wall_clocks_that_jump_move_no_lease(tmp_path: Path) -> None:
    if FAKETIME is None:
        pytest.skip(NO_FAKETIME)
    with failover_bed(tmp_path, random.Random(SEED), steppable=True) as bed:
        assert Drill(bed).run(CLOCK_STEPS).fault == CLOCK_STEPS.name
        assert violations(bed.holders, bed.writes) == []


HOLDERS = [Holder(1.0, "a"), Holder(2.0, "a"), Holder(5.0, "b"), Holder(7.0, ""), Holder(8.0, "a")]


def test_renewals_are_no_terms_of_their_own() -> None:
    assert terms(HOLDERS) == [HOLDERS[0], *HOLDERS[2:]]


@pytest.mark.parametrize(
    ("at", "replica"), [(1.0, "a"), (4.9, "a"), (5.0, "b"), (6.9, "b"), (8.0, "a"), (99.0, "a")]
)
def test_a_write_in_ones_own_term_is_no_violation(at: float, replica: str) -> None:
    assert violations(HOLDERS, [Write(at, replica, "w")]) == []


@pytest.mark.parametrize(
    ("at", "replica", "says"),
    [
        (0.5, "a", "a w, 0.000 s into the term of nobody"),
        (5.0, "a", "a w, 0.000 s into the term of b"),
        (4.5, "b", "b w, 3.500 s into the term of a"),
        (7.5, "b", "b w, 0.500 s into the term of nobody"),
        (8.5, "b", "b w, 0.500 s into the term of a"),
    ],
)
def test_a_write_in_anothers_term_is_one(at: float, replica: str, says: str) -> None:
    assert violations(HOLDERS, [Write(at, replica, "w")]) == [says]


def test_a_leader_that_never_wrote_is_named() -> None:
    assert idle_leaders(HOLDERS, [Write(1.5, "a", "w")]) == ["b"]
    assert idle_leaders(HOLDERS, [Write(1.5, "a", "w"), Write(5.5, "b", "w")]) == []
