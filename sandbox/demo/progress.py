"""What the person who looks on reads: a line for each step, with the seconds since the start."""

import time
from collections.abc import Sequence
from typing import Any, TextIO

_GAP = 3  # blanks between columns, as kubectl has them


class Progress:
    """Writes lines. One thread."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._began = time.monotonic()

    def say(self, text: str) -> None:
        """One step."""
        self._write(f"{time.monotonic() - self._began:5.1f} s  {text}")

    def plain(self, text: str = "") -> None:
        """Lines without a time."""
        self._write(text)

    def fail(self, text: str) -> None:
        """The demo did not work."""
        self.say(f"FAILED: {text}")

    def _write(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()


def table(answer: dict[str, Any]) -> str:
    """A Table of the API server as kubectl prints it, with the namespace in front."""
    columns = [
        (number, column["name"].upper())
        for number, column in enumerate(answer["columnDefinitions"])
        if column.get("priority", 0) == 0
    ]
    head = ["NAMESPACE", *(name for _, name in columns)]
    rows = [
        [row["object"]["metadata"]["namespace"], *(_text(row["cells"][n]) for n, _ in columns)]
        for row in answer["rows"]
    ]
    return _aligned([head, *rows])


def _text(cell: object) -> str:
    return "" if cell is None else str(cell)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[n]) for row in rows) + _GAP for n in range(len(rows[0]))]
    padded = ("".join(map(str.ljust, row, widths)) for row in rows)
    return "\n".join(line.rstrip() for line in padded)
