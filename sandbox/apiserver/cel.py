"""CEL: the validation rules of schemas and the expressions of admission policies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import cel

from sandbox.apiserver.objects import Value


class EvaluationError(Exception):
    """An expression that failed at run time; the text is the server's."""


def _lower_ascii(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def _upper_ascii(text: str) -> str:
    return "".join(char.upper() if char.isascii() else char for char in text)


# Of the extension libraries of Kubernetes only what the engine lacks and our rules use.
FUNCTIONS: dict[str, Callable[..., Value]] = {
    "lowerAscii": _lower_ascii,
    "upperAscii": _upper_ascii,
    "trim": lambda text: text.strip(),
    "replace": lambda text, old, new: text.replace(old, new),
    "split": lambda text, by: text.split(by),
    "substring": lambda text, start, end=None: text[start:end],
}


class Expression:
    """A compiled expression. Value thread may evaluate it. Optional syntax (`.?`) is not known."""

    __slots__ = ("_program", "text")

    def __init__(self, text: str) -> None:
        """Raises ValueError when the text is no expression."""
        self.text = text
        self._program = cel.compile(text)

    def evaluate(
        self,
        variables: Mapping[str, Value],
        functions: Mapping[str, Callable[..., Value]] = FUNCTIONS,
    ) -> Value:
        """Raises EvaluationError."""
        context = cel.Context(variables=dict(variables), functions=dict(functions))
        try:
            return self._program.execute(context)
        except KeyError as error:
            raise EvaluationError(f"no such key: {error.args[0]}") from error
        except (TypeError, ValueError, RuntimeError) as error:
            raise EvaluationError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Rule:
    """One of `x-kubernetes-validations`."""

    expression: Expression
    message: str
    message_expression: Expression | None
    reason: str
    field_path: str
    is_transition: bool


def compile_rule(source: Mapping[str, Value]) -> Rule:
    """Raises ValueError."""
    text = source["rule"]
    told = source.get("messageExpression")
    return Rule(
        expression=Expression(text),
        message=source.get("message", f"failed rule: {text}"),
        message_expression=Expression(told) if told else None,
        reason=source.get("reason", "FieldValueInvalid"),
        field_path=source.get("fieldPath", ""),
        is_transition=re.search(r"\boldSelf\b", text) is not None,
    )


def message_of(rule: Rule, variables: Mapping[str, Value]) -> str:
    """What a failed rule says: its messageExpression if that works, else its message."""
    if rule.message_expression is not None:
        try:
            return str(rule.message_expression.evaluate(variables))
        except EvaluationError:
            pass
    return rule.message


def without_nulls(value: Value) -> Value:
    """Return `value` as rules see it: `has()` is false for a stored null."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [without_nulls(each) for each in value]
    return value
