"""What can be changed in a source file so that it does something else: one small edit each."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_CALCULATED: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.BitOr: "&",
    ast.BitAnd: "|",
}


@dataclass(frozen=True, slots=True, order=True)
class Mutant:
    """One edit: the text from `begin` to `end` of the file becomes `new`."""

    file: str
    line: int
    begin: int
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}: {self.old} -> {self.new}"

    def applied(self, source: str) -> str:
        """The whole file with the edit."""
        assert source[self.begin : self.end] == self.old
        return source[: self.begin] + self.new + source[self.end :]


def mutants(file: Path, root: Path) -> list[Mutant]:
    """All edits of a file, in its order; each leaves it a program."""
    source = file.read_text()
    text = _Text(source)
    name = str(file.relative_to(root))
    tree = ast.parse(source)
    found = (
        Mutant(name, node.lineno, begin, end, source[begin:end], new)
        for node in _executed(tree)
        for begin, end, new in _edits(node, text)
    )
    return sorted(each for each in found if _compiles(each.applied(source)))


class _Text:
    """Positions of nodes in the whole text. Columns of `ast` count bytes; these lines are ASCII."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._ascii = [line.isascii() for line in source.splitlines()]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int] | None:
        """Begin and end; None for what is on more than one line."""
        if node.end_lineno != node.lineno or not self._ascii[node.lineno - 1]:
            return None
        start = self._starts[node.lineno - 1]
        assert node.end_col_offset is not None
        return start + node.col_offset, start + node.end_col_offset


def _executed(tree: ast.Module) -> Iterator[ast.expr | ast.stmt]:
    """Nodes within functions, without annotations and docstrings."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for statement in function.body:
            if isinstance(statement, ast.FunctionDef):
                continue  # comes by itself
            unread = {id(node) for each in _annotations(statement) for node in ast.walk(each)}
            for node in ast.walk(statement):
                if isinstance(node, ast.expr | ast.stmt) and id(node) not in unread:
                    yield node


def _annotations(statement: ast.stmt) -> Iterator[ast.expr]:
    """Of variables and attributes: within a function Python does not look at them."""
    for node in ast.walk(statement):
        if isinstance(node, ast.AnnAssign):
            yield node.annotation


Edit = tuple[int, int, str]


def _edits(node: ast.expr | ast.stmt, text: _Text) -> Iterator[Edit]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield from _between(left, right, text, _COMPARED.get(type(operator)))
        case ast.BinOp(left=left, op=operator, right=right):
            yield from _between(left, right, text, _CALCULATED.get(type(operator)))
        case ast.BoolOp(op=operator, values=[left, right]):
            new = "or" if isinstance(operator, ast.And) else "and"
            yield from _between(left, right, text, new)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _whole(node, text, _source(operand, text))
        case ast.Constant(value=value) if isinstance(value, bool | int | float):
            other = not value if isinstance(value, bool) else value + 1
            yield from _whole(node, text, repr(other))
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield from _whole(test, text, "True")
            yield from _whole(test, text, "False")
        case ast.Return(value=ast.expr() as value) if not _is_nothing(value):
            yield from _whole(value, text, "None")
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.AugAssign() | ast.Continue():
            yield from _whole(node, text, "pass")


def _between(left: ast.expr, right: ast.expr, text: _Text, new: str | None) -> Iterator[Edit]:
    """The operator between two operands, which may be in parentheses."""
    one, other = text.span(left), text.span(right)
    if new is None or one is None or other is None or left.lineno != right.lineno:
        return
    begin, end = one[1], other[0]
    middle = text.source[begin:end]
    old = middle.strip("() ")
    at = begin + middle.index(old)
    yield at, at + len(old), new


def _whole(node: ast.expr | ast.stmt, text: _Text, new: str | None) -> Iterator[Edit]:
    span = text.span(node)
    if span is not None and new is not None and text.source[slice(*span)] != new:
        yield (*span, new)


def _source(node: ast.expr, text: _Text) -> str | None:
    span = text.span(node)
    return None if span is None else f"({text.source[slice(*span)]})"


def _is_nothing(value: ast.expr) -> bool:
    """Whether None in its place says the same: a False is made True by another edit."""
    return isinstance(value, ast.Constant) and (value.value is None or value.value is False)


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True
