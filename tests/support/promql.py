"""The expressions of alerts and dashboard, as far as a test needs to read them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from tests.support.kustomize import DEPLOY, build, one

KEYWORDS = {"and", "or", "unless", "by", "without", "on", "ignoring", "bool"}
GROUPING = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")
SELECTOR = re.compile(r"([a-z_][a-z0-9_]*)\s*\{([^}]*)\}")
MATCHER = re.compile(r'([a-z_]+)\s*(?:=~|!~|!=|=)\s*"[^"]*"')
NAME = re.compile(r"\b[a-z_][a-z0-9_]*\b(?!\s*\()")


@dataclass(frozen=True)
class Uses:
    """What an expression asks of the scrape: names of series, and labels of theirs."""

    series: frozenset[str]
    labels: frozenset[str]


def uses(expression: str) -> Uses:
    """Read one expression."""
    labels: set[str] = set()
    for grouping in GROUPING.finditer(expression):
        labels.update(part.strip() for part in grouping[1].split(",") if part.strip())
    for selector in SELECTOR.finditer(expression):
        labels.update(MATCHER.findall(selector[2]))
    bare = GROUPING.sub("", re.sub(r"\{[^}]*\}|\[[^\]]*\]|\boffset \w+", "", expression))
    names = frozenset(NAME.findall(bare)) - KEYWORDS
    return Uses(names, frozenset(labels))


def alerts() -> list[dict[str, Any]]:
    """The alerting rules as we ship them."""
    rule = one(build("monitoring/rules"), "PrometheusRule")
    return [each for group in rule["spec"]["groups"] for each in group["rules"]]


def rule_file() -> str:
    """The rules as Prometheus itself reads them."""
    return yaml.safe_dump(
        {"groups": one(build("monitoring/rules"), "PrometheusRule")["spec"]["groups"]}
    )


def panels() -> Iterator[tuple[str, str]]:
    """Title and expression of what the dashboard shows."""
    board = json.loads((DEPLOY / "monitoring" / "dashboard" / "dashboard.json").read_text())
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]
