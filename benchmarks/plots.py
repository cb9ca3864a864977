"""Plots of the results; matplotlib is in the benchmarks' own lock only."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "benchmarks"  # the same data, the same file

from matplotlib import pyplot as plt  # noqa: E402 - after the choice of what draws

from benchmarks.results import Row  # noqa: E402
from benchmarks.targets import GROWING, RATE  # noqa: E402


def draw(folder: Path, rows: Sequence[Row]) -> list[str]:
    """Write the plots; their paths beside docs/performance.md."""
    folder.mkdir(parents=True, exist_ok=True)
    rated = [row for row in rows if RATE in row.values]
    made = [_bars(folder / "objects-a-second.svg", rated)]
    if len({row.size for row in rated if row.scenario in GROWING}) > 1:
        made.append(_growth(folder / "growth.svg", rated))
    late = [row for row in rows if "p99 ms" in row.values]
    if late:
        made.append(_latency(folder / "latency.svg", late))
    return [f"{folder.name}/{path.name}" for path in made]


def _bars(path: Path, rows: Sequence[Row]) -> Path:
    largest = {row.scenario: row.size for row in rows}
    shown = [row for row in rows if row.size == largest[row.scenario]]
    figure, axes = plt.subplots(figsize=(8, 0.3 * len(shown) + 1))
    labels = [f"{row.scenario} ({row.size:,}): {row.contestant}" for row in shown]
    colours = ["C0" if row.contestant == "operator" else "0.7" for row in shown]
    axes.barh(labels, [row.values[RATE] for row in shown], color=colours)
    axes.invert_yaxis()
    axes.set_xlabel(RATE)
    return _saved(figure, path)


def _growth(path: Path, rows: Sequence[Row]) -> Path:
    figure, axes = plt.subplots(figsize=(8, 4.5))
    for scenario in dict.fromkeys(row.scenario for row in rows):
        line = [row for row in rows if row.scenario == scenario and row.contestant == "operator"]
        if len(line) > 1:
            sizes = [row.size for row in line]
            axes.loglog(sizes, [row.size / row.values[RATE] for row in line], "o-", label=scenario)
    axes.set_xlabel("objects")
    axes.set_ylabel("seconds")
    axes.legend()
    return _saved(figure, path)


def _latency(path: Path, rows: Sequence[Row]) -> Path:
    figure, axes = plt.subplots(figsize=(8, 0.5 * len(rows) + 1))
    labels = [f"{row.scenario} ({row.size:,}): {row.contestant}" for row in rows]
    axes.barh(labels, [row.values["p99 ms"] for row in rows], color="0.7", label="p99")
    axes.barh(labels, [row.values["p50 ms"] for row in rows], color="C0", label="p50")
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("milliseconds from the change to the status")
    axes.legend()
    return _saved(figure, path)


def _saved(figure: plt.Figure, path: Path) -> Path:
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return path
