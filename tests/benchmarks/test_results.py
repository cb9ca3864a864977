"""From runs to medians, targets and the page."""

from pathlib import Path

from benchmarks import report, watch
from benchmarks.results import Kept, Row, Run, medians, percentile
from benchmarks.targets import TARGETS, Found

ABOUT = {"plan": "quick", "for ratios": False}


def test_runs_of_one_contestant_become_the_median_of_each_value() -> None:
    runs = [Run("s", "operator", 10, n, {"a": value}) for n, value in enumerate((3.0, 1.0, 2.0))]
    other = Run("s", "floor", 10, 0, {"a": 9.0, "b": 1.0})
    assert medians([*runs, other]) == [
        Row("s", "operator", 10, {"a": 2.0}),
        Row("s", "floor", 10, {"a": 9.0, "b": 1.0}),
    ]


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert percentile(values, 0.5) == 51.0
    assert percentile(values, 0.99) == 100.0
    assert percentile([7.0], 0.99) == 7.0


def rows(operator: float) -> list[Row]:
    return [
        Row("new users", "operator", 1000, {"objects a second": operator, "CPU ms an object": 2.0}),
        Row("new users", "floor", 1000, {"objects a second": 100.0}),
    ]


def test_the_page_says_which_targets_are_met_and_leaves_its_words_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    for rate, verdict in ((79.0, "**not met**"), (80.0, "met")):
        report.write(page, [ABOUT], rows(rate), ["plots/x.svg"])
        text = page.read_text()
        line = next(line for line in text.splitlines() if "bare Python threads" in line)
        assert line.endswith(f"| {verdict} |")
        assert text.startswith(f"before\n{report.BEGIN}")
        assert text.endswith(f"{report.END}\nafter\n")
    assert "old" not in text
    assert "not for ratios" in text
    assert "![x](plots/x.svg)" in text


def test_a_page_of_two_measurements_says_of_the_second_what_is_other(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{report.BEGIN}\n{report.END}\n")
    first = {"plan": "quick", "for ratios": True, "cores": 2}
    kept = Kept({**first, "plan": "full", "failed": ["x with 9"]}, [Run("s", "a", 1, 0, {"b": 2})])
    kept.write(tmp_path / "kept.json")
    assert Kept.read(tmp_path / "kept.json") == kept
    report.write(page, [first, kept.about], rows(90.0), [])
    text = page.read_text()
    assert "plan quick, for ratios True, cores 2.\n" in text
    assert "\n\nplan full.\n\n**Failed and not in the figures: x with 9.**\n" in text


def test_a_target_says_nothing_of_what_was_not_measured() -> None:
    found = Found(rows(90.0))
    told = {t.measure for t in TARGETS if any(t.of(found, s) is not None for s in t.sizes)}
    assert told == {
        "new users: ratio to bare Python threads",
        "new users: operator CPU an object, ms",
    }


def test_one_change_is_compared_whatever_the_number_of_changes() -> None:
    found = Found(
        [
            *rows(90.0),
            Row("one change, quiet", "operator", 200, {"p99 ms": 30.0}),
            Row("one change, quiet", "its bare calls", 200, {"p99 ms": 12.0}),
            Row("one change, under 1,000 others", "operator", 1000, {"p99 ms": 60.0}),
        ]
    )
    told = {target.measure: target.of(found, 1000) for target in TARGETS}
    assert told["one change, quiet: p99 by its bare calls"] == 2.5
    assert told["one change, under others: p99 by its bare calls"] == 5.0


def test_ready_counts_for_the_generation_that_the_object_has() -> None:
    condition = {"type": "Ready", "status": "True", "observedGeneration": 2}
    obj = {"metadata": {"generation": 2}, "status": {"conditions": [condition]}}
    assert watch.ready("MODIFIED", obj)
    assert not watch.ready("DELETED", obj)
    assert not watch.ready("MODIFIED", {**obj, "metadata": {"generation": 3}})
    assert not watch.ready("ADDED", {"metadata": {"generation": 1}})
