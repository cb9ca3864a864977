"""Tables: what kubectl prints of a kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from sandbox.apiserver.objects import Object, Value
from sandbox.apiserver.resources import Resource

FILTER = re.compile(r"(\w+)\[\?\(@\.(\w+)\s*==\s*['\"](.*)['\"]\)\]")
MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY
# Up to which age which units are shown.
AGES = (
    (2 * MINUTE, "s", 1, "", 0),
    (10 * MINUTE, "m", MINUTE, "s", 1),
    (3 * HOUR, "m", MINUTE, "", 0),
    (8 * HOUR, "h", HOUR, "m", MINUTE),
    (2 * DAY, "h", HOUR, "", 0),
    (8 * DAY, "d", DAY, "h", HOUR),
    (2 * YEAR, "d", DAY, "", 0),
    (8 * YEAR, "y", YEAR, "d", DAY),
)
STEP = re.compile(r"\.(\w+(?:\[[^\]]*\])?)")


def json_path(obj: Value, path: str) -> Value:
    """Follow a printer column's path: fields, indices and `[?(@.type=="Ready")]`."""
    for step in STEP.findall(path):
        if not isinstance(obj, dict):
            return None
        obj = _follow(obj, step)
    return obj


def _follow(obj: Value, step: str) -> Value:
    if found := FILTER.fullmatch(step):
        name, key, value = found.groups()
        return next((each for each in obj.get(name) or () if each.get(key) == value), None)
    name, _, index = step.partition("[")
    value = obj.get(name)
    if not index:
        return value
    at = int(index.rstrip("]"))
    return value[at] if isinstance(value, list) and at < len(value) else None


def human_duration(seconds: int) -> str:
    """An age as kubectl shows it: two units while the smaller one matters."""
    for limit, unit, size, small, small_size in AGES:
        if seconds < limit:
            large, rest = divmod(max(seconds, 0), size)
            below = rest // small_size if small_size else 0
            return f"{large}{unit}{below}{small}" if below else f"{large}{unit}"
    return f"{seconds // YEAR}y"


def age(text: str | None, now: datetime) -> str:
    """Return how long ago a time was."""
    if not text:
        return "<unknown>"
    return human_duration(int((now - datetime.fromisoformat(text)).total_seconds()))


def _first_seen(event: Object) -> str:
    first: str = event.get("deprecatedFirstTimestamp") or event.get("eventTime") or ""
    return first


def _last_seen(event: Object) -> str:
    series = event.get("series", {}).get("lastObservedTime")
    last: str = series or event.get("deprecatedLastTimestamp") or _first_seen(event)
    return last


def _event_object(event: Object) -> str:
    regarding = event["regarding"]
    return f"{regarding.get('kind', '').lower()}/{regarding.get('name', '')}"


def _event_source(event: Object) -> str:
    component = event.get("deprecatedSource", {}).get("component")
    reporter = (event.get("reportingController", ""), event.get("reportingInstance", ""))
    return component or ", ".join(filter(None, reporter))


Cell = Callable[[Object, datetime], Value]
COMPUTED: dict[str, Cell] = {
    "Data": lambda secret, _: len(secret.get("data", {})),
    "Last Seen": lambda event, now: age(_last_seen(event), now),
    "First Seen": lambda event, now: age(_first_seen(event), now),
    "Object": lambda event, _: _event_object(event),
    "Subobject": lambda event, _: event["regarding"].get("fieldPath", ""),
    "Source": lambda event, _: _event_source(event),
    "Count": lambda event, _: (
        event.get("series", {}).get("count") or event.get("deprecatedCount", 1)
    ),
}


def _cell(column: Mapping[str, Value], obj: Object, now: datetime) -> Value:
    path = column.get("jsonPath") or column.get("path")
    if path is None:
        return COMPUTED[column["name"]](obj, now)
    value = json_path(obj, path)
    if column["name"] == "Age" or (column["type"] == "date" and column.get("jsonPath")):
        return age(value, now)
    return value


def _definition(column: Mapping[str, Value]) -> Object:
    path = column.get("jsonPath")
    told = f"Custom resource definition column (in JSONPath format): {path}" if path else ""
    return {
        "name": column["name"],
        "type": column["type"],
        "format": column.get("format", ""),
        "description": column.get("description", told),
        "priority": column.get("priority", 0),
    }


def _columns(resource: Resource) -> list[Mapping[str, Value]]:
    name = {"name": "Name", "type": "string", "format": "name", "path": ".metadata.name"}
    if resource.storage == "events":
        return [*resource.columns, {**name, "priority": 1}]
    return [name, *resource.columns]


def partial(obj: Object) -> Object:
    """An object's metadata alone."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": obj["metadata"],
    }


def table(
    resource: Resource,
    objects: Sequence[Object],
    metadata: Mapping[str, Value],
    now: datetime,
    show: Callable[[Object], Object | None],
    *,
    columns: bool = True,
) -> Object:
    """The table of objects as they are stored; `show` gives what stands behind a row."""
    shown = _columns(resource)
    rows = [
        {"cells": [_cell(column, obj, now) for column in shown], "object": show(obj)}
        for obj in objects
    ]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {key: value for key, value in metadata.items() if value not in {"", None}},
        "columnDefinitions": [_definition(column) for column in shown] if columns else None,
        "rows": rows,
    }
