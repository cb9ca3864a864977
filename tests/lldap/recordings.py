"""The exchanges with a real lldap on three databases."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from lldap import Answer
from lldap.classify import Asked

DATA = Path(__file__).parent.parent / "data"
DATABASES = ("sqlite", "postgresql", "mariadb")

_FIRST_FIELD = re.compile(r"\{\s*(?:\w+:)?(\w+)")


@dataclass(frozen=True)
class Exchange:
    """One recorded request and its answer."""

    case: str
    path: str
    body: Any
    status: int
    content_type: str | None
    answered: Any

    @property
    def answer(self) -> Answer:
        if isinstance(self.answered, str):
            return Answer(self.status, self.content_type or "", self.answered.encode())
        return Answer(self.status, self.content_type or "", orjson.dumps(self.answered))

    @property
    def asked(self) -> Asked:
        """What the request asked for, as `Client` would say it."""
        if self.path != "/api/graphql":
            body = self.body if isinstance(self.body, dict) else {}
            return Asked(self.path, user=body.get("username"))
        if not isinstance(self.body, dict):
            return Asked("")
        found = _FIRST_FIELD.search(self.body["query"])
        operation = found[1] if found else ""
        variables = self.body.get("variables") or {}
        return Asked(operation, **dict(_things(operation, variables)))


def exchanges(database: str) -> list[Exchange]:
    recorded = orjson.loads((DATA / "lldap" / f"lldap-0.6.3-{database}.json").read_bytes())
    return [
        Exchange(
            one["case"],
            one["request"]["path"],
            one["request"]["body"],
            one["status"],
            one["content_type"],
            one["body"],
        )
        for one in recorded
    ]


def exchange(case: str, database: str = "sqlite") -> Exchange:
    return next(one for one in exchanges(database) if one.case == case)


def _things(operation: str, variables: dict[str, Any]) -> list[tuple[str, Any]]:
    of_group = "roup" in operation and "User" not in operation
    found: list[tuple[str, Any]] = []
    for name, value in variables.items():
        plain = value.get("id") if isinstance(value, dict) else value
        if name == "n":
            found.append(("attribute", plain))
        elif name == "g" or (name == "i" and of_group):
            found.append(("group", plain))
        elif name in {"i", "u"}:
            found.append(("user", plain))
    return found
