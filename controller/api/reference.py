"""The reference pages of the API, in Markdown."""

from collections.abc import Iterator, Sequence

from controller.api.fields import Array, Boolean, Field, Integer, Object, String, Type
from controller.api.kinds import Kind
from controller.api.names import API_VERSION, CATEGORY, METADATA


def kind_page(kind: Kind) -> str:
    """Return the page of one kind: its names, fields, rules, status and columns."""
    parts = [
        f"# {kind.kind}",
        kind.description,
        _names(kind),
        "## spec",
        _table(
            ("field", "type", "required", "default", "limits", "meaning"),
            [_spec_row(path, field) for path, field in _walk(kind.spec)],
        ),
        *_rules(kind.spec),
        "## status",
        _table(
            ("field", "type", "meaning"),
            [
                (f"`{path}`", _type(field.type), field.description)
                for path, field in _walk(kind.status)
            ],
        ),
        "## Columns of `kubectl get`",
        _table(
            ("column", "shows"),
            [(_column_name(c.name, c.priority), f"`{c.path}`") for c in kind.columns],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def metadata_page() -> str:
    """Return the page of the labels and annotations that mean something to the operator."""
    rows = [(f"`{name}`", meaning) for name, meaning in METADATA.items()]
    return f"# Labels and annotations\n\n{_table(('name', 'meaning'), rows)}\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _names(kind: Kind) -> str:
    rows = [
        ("apiVersion", f"`{API_VERSION}`"),
        ("kind", f"`{kind.kind}`"),
        ("names for kubectl", f"`{kind.plural}`, `{kind.singular}`, `{kind.short}`, `{CATEGORY}`"),
        ("finalizer", f"`{kind.finalizer}`"),
        ("labels and annotations", "[metadata](metadata.md)"),
    ]
    return _table(("", ""), rows)


def _walk(kind: Type, path: str = "") -> Iterator[tuple[str, Field]]:
    """Go through all fields, those inside others too, with their paths."""
    if isinstance(kind, Array):
        yield from _walk(kind.items, f"{path}[]")
    if isinstance(kind, Object):
        for field in kind.fields:
            inner = f"{path}.{field.name}" if path else field.name
            yield inner, field
            yield from _walk(field.type, inner)


def _spec_row(path: str, field: Field) -> tuple[str, ...]:
    default = "" if field.default is None else f"`{_word(field.default)}`"
    required = "yes" if field.required else ""
    return f"`{path}`", _type(field.type), required, default, _limits(field), field.description


def _word(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else value


def _type(kind: Type) -> str:
    match kind:
        case String():
            return kind.format or "string"
        case Boolean():
            return "boolean"
        case Integer():
            return kind.format
        case Array():
            return f"list of {_type(kind.items)}"
        case Object():
            return "object"


def _limits(field: Field) -> str:
    limits = list(_type_limits(field.type))
    if field.immutable:
        limits.append("cannot be changed")
    return "; ".join(limits)


def _type_limits(kind: Type) -> Iterator[str]:
    if isinstance(kind, String):
        if kind.enum:
            yield ", ".join(f"`{word}`" for word in kind.enum)
        if kind.max_length is not None:
            yield f"{kind.min_length} to {kind.max_length} characters"
        if kind.pattern:
            yield f"`{kind.pattern}`"
    if isinstance(kind, Array) and kind.max_items is not None:
        yield f"at most {kind.max_items} entries, one a `{kind.key}`"


def _rules(kind: Object) -> list[str]:
    nested = [(f"{path}[].", f.type.items) for path, f in _walk(kind) if isinstance(f.type, Array)]
    lines = [
        f"- `{path}{rule.field}`: {rule.message}."
        for path, inner in [("", kind), *nested]
        if isinstance(inner, Object)
        for rule in inner.rules
    ]
    return ["Refused, with what the answer says:", "\n".join(lines)] if lines else []


def _column_name(name: str, priority: int) -> str:
    return f"{name} (with `-o wide`)" if priority else name
