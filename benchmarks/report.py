"""docs/performance.md, made of the results."""

import datetime
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.results import Row
from benchmarks.targets import TARGETS, Found

BEGIN = "<!-- results: begin (written by make bench) -->"
END = "<!-- results: end -->"
_PACKAGES = ("kubernetes", "urllib3", "requests", "orjson", "kopf")


def machine() -> dict[str, Any]:
    """Where and when."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = Path("/proc/meminfo").read_text(encoding="ascii").split()[1]
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": models[0] if models else platform.machine(),
        "cores": len(models),
        "memory GiB": round(int(memory) / 2**20),
        "Python": platform.python_version(),
        "load before": round(
            float(Path("/proc/loadavg").read_text(encoding="ascii").split()[0]), 1
        ),
        **{name: version(name) for name in _PACKAGES},
    }


def write(
    path: Path, about: Sequence[dict[str, Any]], rows: Sequence[Row], plots: Sequence[str]
) -> None:
    """Put the results between the two marks of the page; the words around them stay."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    results = "\n".join(_results(about, rows, plots))
    path.write_text(f"{before}{BEGIN}\n\n{results}\n{END}{after}", encoding="utf-8")


def _results(
    about: Sequence[dict[str, Any]], rows: Sequence[Row], plots: Sequence[str]
) -> Iterator[str]:
    for number, each in enumerate(about):
        yield from _about(each, about[0] if number else {})
    yield "\n### Targets\n"
    yield "| measure | size | target | measured | |"
    yield "|---|---:|---:|---:|---|"
    yield from _target_lines(Found(rows))
    for scenario in dict.fromkeys(row.scenario for row in rows):
        yield from _table(scenario, [row for row in rows if row.scenario == scenario])
    for plot in plots:
        yield f"\n![{Path(plot).stem.replace('-', ' ')}]({plot})"


def _about(about: dict[str, Any], said: dict[str, Any]) -> Iterator[str]:
    """What, where and when; of a further measurement what is not `said` already."""
    facts = {name: value for name, value in about.items() if value != said.get(name)}
    failed = facts.pop("failed", None)
    yield "\n" * bool(said) + ", ".join(f"{name} {value}" for name, value in facts.items()) + "."
    if failed:
        yield f"\n**Failed and not in the figures: {'; '.join(failed)}.**"
    if not about["for ratios"]:
        yield "\n**The sandbox's lldap served: not for ratios.**"


def _target_lines(found: Found) -> Iterator[str]:
    for target in TARGETS:
        for size in target.sizes:
            value = target.of(found, size)
            if value is not None:
                verdict = "met" if target.met(value) else "**not met**"
                yield (
                    f"| {target.measure} | {size:,} | {target.wanted} | {_number(value)} "
                    f"| {verdict} |"
                )


def _table(scenario: str, rows: Sequence[Row]) -> Iterator[str]:
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    yield f"\n### {scenario[0].upper()}{scenario[1:]}\n"
    yield f"| | size | {' | '.join(names)} |"
    yield f"|---|---:|{'---:|' * len(names)}"
    for row in rows:
        values = [_number(row.values[name]) if name in row.values else "" for name in names]
        yield f"| {row.contestant} | {row.size:,} | {' | '.join(values)} |"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
