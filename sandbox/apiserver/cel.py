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


def _optional_field(holder: Value, key: str) -> cel.OptionalValue:
    """What `holder.?key` means; of an optional, of what it holds."""
    if isinstance(holder, cel.OptionalValue):
        if not holder.has_value():
            return holder
        holder = holder.value()
    if isinstance(holder, dict) and key in holder:
        return cel.OptionalValue.of(holder[key])
    return cel.OptionalValue.none()


# What the engine does not parse (outside of texts) and what it then gets instead. The engine also
# compares optionals in a map wrongly, so each of a policy's variables is one by itself.
SUGAR = re.compile(
    r"""(?P<text>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
    r"""|\.\?\s*(?P<field>\w+)|\[\?\s*(?P<key>'[^']*'|"[^"]*")\s*\]|\bvariables\.(?P<variable>\w+)"""
)
VARIABLE = "variables__"


def _desugar(found: re.Match[str]) -> str:
    if found["field"]:
        return f".optionalField('{found['field']}')"
    if found["key"]:
        return f".optionalField({found['key']})"
    return VARIABLE + found["variable"] if found["variable"] else found[0]


# Of the extension libraries of Kubernetes only what the engine lacks and our rules use.
FUNCTIONS: dict[str, Callable[..., Value]] = {
    "optionalField": _optional_field,
    "lowerAscii": _lower_ascii,
    "upperAscii": _upper_ascii,
    "trim": lambda text: text.strip(),
    "replace": lambda text, old, new: text.replace(old, new),
    "split": lambda text, by: text.split(by),
    "substring": lambda text, start, end=None: text[start:end],
}


class Scope:
    """What expressions see; converted once for all of them. One thread."""

    __slots__ = ("_context",)

    def __init__(
        self,
        variables: Mapping[str, Value],
        functions: Mapping[str, Callable[..., Value]] = FUNCTIONS,
    ) -> None:
        self._context = cel.Context(variables=dict(variables), functions=dict(functions))

    def add(self, name: str, value: Value) -> None:
        """Let the expressions that follow see one of a policy's variables."""
        self._context.add_variable(VARIABLE + name, value)

    def run(self, program: cel.Program) -> Value:
        """Raises EvaluationError."""
        try:
            return program.execute(self._context)
        except KeyError as error:
            raise EvaluationError(f"no such key: {error.args[0]}") from error
        except (TypeError, ValueError, RuntimeError) as error:
            raise EvaluationError(str(error)) from error


class Expression:
    """A compiled expression. Any thread may evaluate it.

    Of optional syntax it knows `.?field` and `[?'key']`, and what is called on the result.
    """

    __slots__ = ("_program", "text")

    def __init__(self, text: str) -> None:
        """Raises ValueError when the text is no expression."""
        self.text = text
        self._program = cel.compile(SUGAR.sub(_desugar, text))

    def evaluate(self, scope: Scope) -> Value:
        """Raises EvaluationError."""
        return scope.run(self._program)


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


def message_of(rule: Rule, scope: Scope) -> str:
    """What a failed rule says: its messageExpression if that works, else its message."""
    if rule.message_expression is not None:
        try:
            return str(rule.message_expression.evaluate(scope))
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
