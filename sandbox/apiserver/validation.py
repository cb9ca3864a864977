"""Holds objects against their schema: what is wrong, in the server's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sandbox.apiserver import cel
from sandbox.apiserver.errors import (
    BLOCKED_RULES,
    Cause,
    invalid_value,
    quote,
    required,
    too_long,
    unsupported,
)
from sandbox.apiserver.objects import Value
from sandbox.apiserver.schema import Node, join

MISSING: Value = object()  # no former value to compare with
BLOCKING = {
    "FieldValueNotSupported",
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
}
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
INT_BITS = {"int32": 31, "int64": 63}
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


def type_name(value: Value) -> str:
    """The JSON type of a value, as the server calls it."""
    if value is None:
        return "null"
    if isinstance(value, float):
        return "float64"
    for name, types in TYPES.items():
        if type(value) in types:
            return name
    return "number"


class Validator:
    """Collects what is wrong with one value.

    `prefix` stands before every field but not in the texts: the server validates `status` by
    itself and its texts then begin below it. What did not change is not held against a schema
    that was tightened since (ratcheting).
    """

    def __init__(self, prefix: str, causes: Sequence[Cause]) -> None:
        self.causes = list(causes)
        self._prefix = prefix

    def run(self, root: Node, node: Node, value: Value, old: Value, path: str) -> None:
        """Hold `value` against `node`, a place in `root`: structure, lists, then rules."""
        self.check(node, value, old, path)
        for key in value.keys() - {"metadata"} if isinstance(value, dict) else ():
            if (below := node.child(key)) is not None:
                self.check_lists(below, value[key], join(path, key))
        if root.has_rules:
            self.check_rules(node, value, old, path)

    def _field(self, path: str) -> str:
        return join(self._prefix, path) if path else self._prefix

    def check(self, node: Node, value: Value, old: Value, path: str) -> None:
        """Structure: types, required fields, enums, patterns, limits."""
        if old is not MISSING and value == old:
            return
        if value is None and node.nullable:
            return
        if node.enum and value not in node.enum:
            self.causes.append(unsupported(self._field(path), value, node.enum))
        if node.type and not self._has_type(node, value, path):
            return
        if isinstance(value, dict):
            self._check_map(node, value, old, path)
        elif isinstance(value, list):
            self._check_list(node, value, old, path)
        else:
            self._check_scalar(node, value, path)

    def _has_type(self, node: Node, value: Value, path: str) -> bool:
        if isinstance(value, bool) == (node.type == "boolean") and isinstance(
            value, TYPES[node.type]
        ):
            return True
        found = type_name(value)
        wanted = node.format if found == "float64" and node.format else node.type
        message = f"{path} in body must be of type {wanted}: {quote(found)}"
        self._type_error(path, found, message)
        if found == "float64" and node.format in INT_BITS:
            self._format_error(node, path)
        return False

    def _type_error(self, path: str, shown: str, message: str) -> None:
        text = f"Invalid value: {quote(shown)}: {message}"
        self.causes.append(Cause("FieldValueTypeInvalid", text, self._field(path)))

    def _format_error(self, node: Node, path: str) -> None:
        message = f"Checked value must be of type integer with format {node.format} in {path}"
        self.causes.append(invalid_value(self._prefix, "", message))

    def _check_map(self, node: Node, value: dict[str, Value], old: Value, path: str) -> None:
        for name in node.required:
            if name not in value:
                self.causes.append(required(self._field(join(path, name))))
        before = old if isinstance(old, dict) else {}
        for key, each in value.items():
            below = node.child(key)
            if below is not None:
                self.check(below, each, before.get(key, MISSING), join(path, key))

    def _check_list(self, node: Node, value: list[Value], old: Value, path: str) -> None:
        limit = node.limits.get("maxItems")
        if limit is not None and len(value) > limit:
            text = f"Too many: {len(value)}: must have at most {limit} items"
            self.causes.append(Cause("FieldValueTooMany", text, self._field(path)))
        least = node.limits.get("minItems", 0)
        if len(value) < least:
            message = f"{path} in body should have at least {least} items"
            self.causes.append(invalid_value(self._field(path), len(value), message))
        if node.items is not None:
            before = correlate(node, old)
            for i, each in enumerate(value):
                former = before.get(node.key_of(each), MISSING) if before else MISSING
                self.check(node.items, each, former, f"{path}[{i}]")

    def _check_scalar(self, node: Node, value: Value, path: str) -> None:
        if isinstance(value, str):
            self._check_text(node, value, path)
        elif not isinstance(value, bool):
            self._check_number(node, value, path)

    def _check_text(self, node: Node, value: str, path: str) -> None:
        field = self._field(path)
        limits = node.limits
        if len(value) > limits.get("maxLength", len(value)):
            self.causes.append(too_long(field, limits["maxLength"]))
        if len(value) < limits.get("minLength", 0):
            message = f"{path} in body should be at least {limits['minLength']} chars long"
            self.causes.append(invalid_value(field, value, message))
        if node.matcher is not None and not node.matcher.search(value):
            message = f"{path} in body should match '{node.pattern}'"
            self.causes.append(invalid_value(field, value, message))
        if node.format == "date-time" and not is_date_time(value):
            message = f"{path} in body must be of type date-time: {quote(value)}"
            self._type_error(path, value, message)

    def _check_number(self, node: Node, value: float, path: str) -> None:
        bits = INT_BITS.get(node.format)
        if bits is not None and not -(2**bits) <= value < 2**bits:
            self._format_error(node, path)
        limits = node.limits
        if value < limits.get("minimum", value):
            message = f"{path} in body should be greater than or equal to {limits['minimum']}"
            self.causes.append(invalid_value(self._field(path), value, message))
        if value > limits.get("maximum", value):
            message = f"{path} in body should be less than or equal to {limits['maximum']}"
            self.causes.append(invalid_value(self._field(path), value, message))

    def check_lists(self, node: Node, value: Value, path: str) -> None:
        """No key of a list-map and no item of a set comes twice."""
        if isinstance(value, dict):
            for key, each in value.items():
                below = node.child(key)
                if below is not None:
                    self.check_lists(below, each, join(path, key))
        elif isinstance(value, list) and node.items is not None:
            self._check_keys(node, value, path)
            for i, each in enumerate(value):
                self.check_lists(node.items, each, f"{path}[{i}]")

    def _check_keys(self, node: Node, value: list[Value], path: str) -> None:
        seen = set()
        for i, shown in enumerate(_identities(node, value)):
            if shown in seen:
                field = self._field(f"{path}[{i}]")
                self.causes.append(Cause("FieldValueDuplicate", f"Duplicate value: {shown}", field))
            seen.add(shown)

    def check_rules(self, node: Node, value: Value, old: Value, path: str) -> None:
        """CEL, after the structure: errors that block say that the rules were not run."""
        if any(cause.reason in BLOCKING for cause in self.causes):
            self.causes.append(Cause("FieldValueInvalid", BLOCKED_RULES, "<nil>"))
            return
        self._run_rules(node, cel.without_nulls(value), cel.without_nulls(old), path)

    def _run_rules(self, node: Node, value: Value, old: Value, path: str) -> None:
        if node.rules:
            self._run_rules_here(node, value, old, path)
        if isinstance(value, dict):
            before = old if isinstance(old, dict) else {}
            for key, each in value.items():
                below = node.child(key)
                if below is not None and below.has_rules:
                    self._run_rules(below, each, before.get(key, MISSING), join(path, key))
        elif isinstance(value, list) and node.items is not None and node.items.has_rules:
            former = correlate(node, old)
            for i, each in enumerate(value):
                was = former.get(node.key_of(each), MISSING) if former else MISSING
                self._run_rules(node.items, each, was, f"{path}[{i}]")

    def _run_rules_here(self, node: Node, value: Value, old: Value, path: str) -> None:
        """What did not change is not held against a rule; transitions need a former value."""
        changed = old is MISSING or old != value
        variables = {"self": value} if old is MISSING else {"self": value, "oldSelf": old}
        scope = cel.Scope(variables)
        for rule in node.rules:
            if (old is not MISSING) if rule.is_transition else changed:
                self._run_rule(rule, scope, value, path)

    def _run_rule(self, rule: cel.Rule, scope: cel.Scope, value: Value, path: str) -> None:
        try:
            if rule.expression.evaluate(scope) is True:
                return
            message = cel.message_of(rule, scope)
        except cel.EvaluationError as error:
            message = f"rule evaluation error: {error}: {rule.expression.text}"
        field = self._field(path) + rule.field_path
        self.causes.append(_rule_cause(rule.reason, field, value, message))


def _rule_cause(reason: str, field: str, value: Value, message: str) -> Cause:
    if reason == "FieldValueForbidden":
        return Cause(reason, f"Forbidden: {message}", field)
    if reason == "FieldValueRequired":
        return Cause(reason, f"Required value: {message}", field)
    word = "Duplicate value" if reason == "FieldValueDuplicate" else "Invalid value"
    shown = "" if isinstance(value, (dict, list)) else f"{quote(value)}: "
    return Cause(reason, f"{word}: {shown}{message}", field)


def _identities(node: Node, value: list[Value]) -> Iterator[str]:
    """What tells the items of a set or list-map apart, as a message shows it."""
    if node.list_type == "set":
        yield from (quote(each) for each in value)
    elif node.list_type == "map":
        for each in value:
            key = node.key_of(each) or ()
            yield quote(dict(zip(node.list_keys, key, strict=False)))


def correlate(node: Node, old: Value) -> dict[Value, Value]:
    """The former items of a list-map by key; other lists have no former items."""
    if node.list_type != "map" or not isinstance(old, list):
        return {}
    return {node.key_of(each): each for each in old}


def is_date_time(text: str) -> bool:
    """RFC 3339: a T, a zone, fractions as you like."""
    if DATE_TIME.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text[:19])
    except ValueError:
        return False
    return True


def validate(
    root: Node, obj: Mapping[str, Value], old: Mapping[str, Value] | None, causes: Sequence[Cause]
) -> list[Cause]:
    """All that is wrong with an object, which was `old` before (None: it is created).

    `causes` is what was found already; it too can block the rules.
    """
    validator = Validator("", causes)
    validator.run(root, root, obj, MISSING if old is None else old, "")
    return validator.causes


def validate_status(root: Node, obj: Mapping[str, Value], old: Mapping[str, Value]) -> list[Cause]:
    """What is wrong with the status of an object."""
    validator = Validator("status", ())
    if "status" in obj and "status" in root.properties:
        former = old.get("status", MISSING)
        validator.run(root, root.properties["status"], obj["status"], former, "")
    return validator.causes
