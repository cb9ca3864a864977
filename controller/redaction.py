"""The last line of defence: secret values that must not get out, whatever a message says."""

import base64
import json
import re
import threading
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, quote_plus

REDACTED: Final = "[redacted]"
SHORTEST: Final = 4
"""Characters. A shorter value would be cut out of half of all words, and so be given away."""

KEPT: Final = 3
"""Values kept under one name: an answer on its way may still hold the one before a rotation."""


class Redactor:
    """Replaces registered secret values in text, in the forms in which they turn up in messages.

    As they are, as Python and JSON quote them, URL-encoded, in base64 (also in the middle of
    something longer, as in a Basic header). It cannot see values that it was not told, nor a part
    of one: messages must be made without secrets; this is for the one that was not. Any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _values; _pattern is replaced as a whole under it
        self._values: dict[str, list[str]] = {}
        self._pattern: re.Pattern[str] | None = None

    def __repr__(self) -> str:
        return f"<Redactor of {len(self._values)} secrets>"

    def register(self, name: str, value: str) -> None:
        """From now on, keep `value` out, and the two that had this `name` before it."""
        with self._lock:
            values = self._values.setdefault(name, [])
            if value in values or len(value) < SHORTEST:
                return
            values.append(value)
            del values[:-KEPT]
            known = [value for values in self._values.values() for value in values]
            self._pattern = _pattern_of(known)

    def redact(self, text: str) -> str:
        """`text` without any registered value."""
        pattern = self._pattern
        return text if pattern is None else pattern.sub(REDACTED, text)


def _pattern_of(values: list[str]) -> re.Pattern[str]:
    forms = {form for value in values for form in _forms(value) if len(form) >= SHORTEST}
    longest_first = sorted(forms, key=len, reverse=True)  # "a%40b" before the "a" in it
    return re.compile("|".join(re.escape(form) for form in longest_first))


def _forms(value: str) -> Iterator[str]:
    raw = value.encode("utf-8", "surrogateescape")
    yield value
    yield repr(value)[1:-1]
    yield repr(raw)[2:-1]
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    for safe in ("", "/", "/:@!$&'()*+,;=~"):
        yield quote(raw, safe=safe)
        yield quote(raw, safe=safe).lower()
    yield quote_plus(raw)
    yield from _base64_forms(raw)


def _base64_forms(raw: bytes) -> Iterator[str]:
    """The characters of base64 that `raw` alone decides, for each of the places it can begin at."""
    for shift in range(3):
        encoded = base64.b64encode(bytes(shift) + raw).decode().rstrip("=")
        begin = (0, 2, 3)[shift]
        end = len(encoded) if (shift + len(raw)) % 3 == 0 else len(encoded) - 1
        yield encoded[begin:end]
        yield encoded[begin:end].replace("+", "-").replace("/", "_")
