"""GraphQL documents, the requests made of them, and the answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from lldap.answers import WRONG_SHAPE
from lldap.classify import Asked, graphql_error, http_error
from lldap.errors import BadAnswer
from lldap.transport import Answer

PATH = "/api/graphql"

MAX_ANSWER_BYTES = 64 * 2**20
"""One user may have a photo of up to 12 MB in several attributes."""


@dataclass(frozen=True, slots=True)
class Document:
    """One GraphQL document and the limits of its answer. `name` is the field that it asks for."""

    name: str
    text: str
    read: Callable[[bytes], object] = orjson.loads
    max_bytes: int = MAX_ANSWER_BYTES
    min_seconds: float = 0.0
    _head: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        head = b'{"query":' + orjson.dumps(self.text) + b',"variables":'
        object.__setattr__(self, "_head", head)

    def body(self, variables: Mapping[str, Any]) -> bytes:
        """The request body: the text is encoded once, the variables each time."""
        return self._head + orjson.dumps(variables) + b"}"


@dataclass(frozen=True, slots=True)
class Request:
    """A document with its variables, and what it asks for."""

    document: Document
    variables: Mapping[str, Any]
    asked: Asked


def data_of(request: Request, answer: Answer) -> dict[str, Any]:
    """The `data` of `answer`; raises the error that it is if it is one.

    Whatever came along with an error is no answer: lldap makes `data` null if one field fails.
    """
    asked = request.asked
    if answer.status not in {200, 400}:
        raise http_error(asked, answer)
    document = json_object(asked, answer.body, request.document.read)
    errors = document.get("errors")
    if errors:
        raise graphql_error(asked, answer.status, _messages(asked, errors))
    data = document.get("data")
    if answer.status != 200 or not isinstance(data, dict):
        raise BadAnswer(f"{asked.operation}: an answer without data")
    return data


def json_object(
    asked: Asked, body: bytes, read: Callable[[bytes], object] = orjson.loads
) -> dict[str, Any]:
    """The JSON object that `body` is; BadAnswer if it is none."""
    try:
        document = read(body)
    except WRONG_SHAPE:
        document = None  # what was raised holds the whole body: it must not travel along
    if not isinstance(document, dict):
        raise BadAnswer(f"{asked.operation}: the answer is no JSON object of the right shape")
    return document


def _messages(asked: Asked, errors: object) -> list[str]:
    if isinstance(errors, list):
        texts = [error.get("message") for error in errors if isinstance(error, dict)]
        known = [text for text in texts if isinstance(text, str)]
        if len(known) == len(errors):
            return known
    raise BadAnswer(f"{asked.operation}: errors without messages")
