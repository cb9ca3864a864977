"""Label and field selectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sandbox.apiserver.errors import bad_request

Matcher = Callable[[Mapping[str, str]], bool]
TOKEN = re.compile(r"\s*(!=|==|=|!|>|<|\(|\)|,|[^\s!=<>(),]+)")


def parse_labels(text: str) -> Matcher | None:
    """Compile a label selector; None selects everything. Raises StatusError 400."""
    parser = _Parser(text)
    requirements = []
    while parser.peek():
        requirements.append(parser.requirement())
        if parser.peek():
            parser.expect(",")
    if not requirements:
        return None
    return lambda labels: all(matches(labels) for matches in requirements)


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = TOKEN.findall(text)

    def peek(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def take(self) -> str:
        return self._tokens.pop(0) if self._tokens else ""

    def expect(self, wanted: str) -> None:
        found = self.take()
        if found != wanted:
            raise bad_request(f"unable to parse requirement: found '{found}' expected: '{wanted}'")

    def requirement(self) -> Matcher:
        if self.peek() == "!":
            self.take()
            key = self.take()
            return lambda labels: key not in labels
        key, operator = self.take(), self.peek()
        if operator in {"", ","}:
            return lambda labels: key in labels
        self.take()
        if operator in {"in", "notin"}:
            values = self._values()
            wanted = operator == "in"
            return lambda labels: (labels.get(key) in values) == wanted
        value = self.take() if self.peek() not in {"", ","} else ""
        return _comparison(key, operator, value)

    def _values(self) -> set[str]:
        self.expect("(")
        values = set()
        while self.peek() not in {")", ""}:
            if self.peek() != ",":
                values.add(self.peek())
            self.take()
        self.expect(")")
        return values


def _comparison(key: str, operator: str, value: str) -> Matcher:
    if operator in {"=", "=="}:
        return lambda labels: labels.get(key) == value
    if operator == "!=":
        return lambda labels: labels.get(key) != value
    if operator in {">", "<"} and value.lstrip("-").isdigit():
        limit, sign = int(value), 1 if operator == ">" else -1
        return lambda labels: _is_beyond(labels.get(key, ""), limit, sign)
    raise bad_request(
        f"unable to parse requirement: found '{operator}', expected: in, notin, =, ==, !=, gt, lt"
    )


def _is_beyond(text: str, limit: int, sign: int) -> bool:
    return text.lstrip("-").isdigit() and int(text) * sign > limit * sign


def parse_fields(text: str, supported: set[str]) -> list[tuple[str, str, bool]]:
    """Return key, value and whether they shall be equal. Raises StatusError 400."""
    terms = []
    for term in filter(None, text.split(",")):
        key, operator, value = (part.strip() for part in _split_term(term))
        if not operator:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        if key not in supported:
            raise bad_request(f"field label not supported: {key}")
        terms.append((key, value, operator != "!="))
    return terms


def _split_term(term: str) -> tuple[str, str, str]:
    for operator in ("!=", "==", "="):
        if operator in term:
            key, _, value = term.partition(operator)
            return key, operator, value
    return term, "", ""
