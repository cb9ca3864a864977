"""JSON bodies, and what lldap says of those it cannot read."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any

# What Python's JSON library expected, and how lldap's says that: at the end of the text, elsewhere.
_EXPECTED = {
    "Expecting property name enclosed in double quotes": ("an object", "key must be a string"),
    "Expecting ':' delimiter": ("an object", "expected `:`"),
    "Expecting ',' delimiter": ("an object", "expected `,` or `}`"),
    "Unterminated string starting at": ("a string", "EOF while parsing a string"),
    "Extra data": ("a value", "trailing characters"),
}
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/=]")


class BodyError(Exception):
    """A body that lldap cannot read; `line` is 0 if that has no place in the text."""

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        super().__init__(problem)
        self._problem, self._line, self._column = problem, line, column

    def __str__(self) -> str:
        where = f" at line {self._line} column {self._column}" if self._line else ""
        return f"Json deserialize error: {self._problem}{where}"

    def __repr__(self) -> str:
        problem = self._problem.replace('"', '\\"')
        return f'Deserialize(Error("{problem}", line: {self._line}, column: {self._column}))'


class Body:
    """A JSON object that came with a request."""

    def __init__(self, text: bytes) -> None:
        self._text = text.decode(errors="replace")
        try:
            found = json.loads(self._text)
        except json.JSONDecodeError as error:
            raise self._malformed(error) from None
        if not isinstance(found, dict):
            raise self.wrong("invalid type")
        self.fields: Mapping[str, Any] = found

    def text_of(self, name: str) -> str:
        """A field that must be a string."""
        value = self.fields.get(name)
        if not isinstance(value, str):
            missing = name not in self.fields
            raise self.wrong(f"missing field `{name}`" if missing else "invalid type")
        return value

    def bytes_of(self, name: str) -> bytes:
        """A field that must be base64."""
        try:
            return decoded(self.text_of(name))
        except ValueError as error:
            raise self.wrong(str(error)) from None

    def wrong(self, problem: str) -> BodyError:
        """A complaint about the content: lldap has then read up to the end."""
        return self._error(problem, len(self._text.rstrip()))

    def _malformed(self, error: json.JSONDecodeError) -> BodyError:
        ended, elsewhere = _EXPECTED.get(error.msg, ("a value", "expected value"))
        if error.pos < len(self._text.rstrip()) and ended != "a string":
            return self._error(elsewhere, error.pos + 1)
        if self._text.endswith(","):
            ended = "a value"
        return self._error(f"EOF while parsing {ended}", len(self._text))

    def _error(self, problem: str, end: int) -> BodyError:
        before = self._text[:end]
        return BodyError(problem, before.count("\n") + 1, end - (before.rfind("\n") + 1))


def decoded(text: str) -> bytes:
    """Decode base64. ValueError: in the words of lldap's library."""
    if found := _NOT_BASE64.search(text):
        raise ValueError(f"Invalid byte {found[0].encode()[0]}, offset {found.start()}.")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        raise ValueError("Encoded text cannot have a 6-bit remainder.") from None
