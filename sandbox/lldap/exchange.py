"""One call to lldap and its answer, without HTTP."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import NamedTuple

import orjson

from sandbox.lldap.bodies import Body

Headers = Sequence[tuple[str, str]]
_FIRST_FIELD = re.compile(rb"""["']query["']\s*:\s*"[^{]*\{(?:\s|\\n)*(?:\w+\s*:\s*)?(\w+)""")
TEXT: Headers = [("content-type", "text/plain; charset=utf-8")]


class Response(NamedTuple):
    """Status, headers (some more than once) and body, and how slowly a socket sends it."""

    status: int
    headers: Headers = ()
    body: bytes = b""
    seconds_per_byte: float = 0.0

    @classmethod
    def of_json(cls, status: int, value: object, headers: Headers = ()) -> "Response":
        """An answer in JSON."""
        return cls(status, [*headers, ("content-type", "application/json")], orjson.dumps(value))

    @classmethod
    def of_text(cls, status: int, text: str, headers: Headers = TEXT) -> "Response":
        """An answer in words; lldap often leaves the content type out."""
        return cls(status, headers, text.encode())


class ContentTypeError(Exception):
    """The body is not declared as JSON."""

    def __str__(self) -> str:
        return "Content type error"

    def __repr__(self) -> str:
        return "ContentType"


@dataclass(frozen=True, slots=True)
class Call:
    """One call; `caller` says who makes it, `headers` have their names in lower-case."""

    caller: str
    method: str
    path: str
    headers: Mapping[str, str]
    data: bytes = field(repr=False)

    @property
    def operation(self) -> str:
        """The first field that GraphQL is asked for, or else the path."""
        found = _FIRST_FIELD.search(self.data) if self.path.endswith("/api/graphql") else None
        return found[1].decode() if found else self.path

    def body(self) -> Body:
        """The body; BodyError, ContentTypeError."""
        content_type = self.headers.get("content-type", "").partition(";")[0]
        if content_type.strip() != "application/json":
            raise ContentTypeError
        return Body(self.data)

    def bearer(self) -> str | None:
        """The JWT: a cookie's before the header's."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return self._cookie("token") or (token.strip() if scheme == "Bearer" else None) or None

    def refresh_token(self) -> str | None:
        """The refresh token: a cookie's before the header's."""
        return self._cookie("refresh_token") or self.headers.get("refresh-token")

    def _cookie(self, name: str) -> str | None:
        cookies = SimpleCookie(self.headers.get("cookie", ""))
        return cookies[name].value if name in cookies else None


@dataclass(slots=True)
class Entry:
    """One call in the log; `status` is None while there is no answer."""

    call: Call
    status: int | None = None
