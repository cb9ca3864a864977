"""Answers of the GraphQL endpoint: only a whole one is an answer."""

import pytest

from lldap import Answer, BadAnswer, LldapError, NotFound, Unavailable, Unclassified, answers
from lldap.classify import Asked
from lldap.graphql import Document, Request, data_of

USERS = Request(Document("users", "{ users { id } }"), {}, Asked("users"))
JSON = "application/json"


def outcome(body: bytes, status: int = 200, content_type: str = JSON) -> LldapError | None:
    try:
        data_of(USERS, Answer(status, content_type, body))
    except LldapError as error:
        return error
    return None


@pytest.mark.parametrize(
    "body",
    [
        b'{"errors":[]}',
        b'{"data":null}',
        b'{"data":null,"errors":[]}',
        b'{"data":[]}',
        b'{"data":"x"}',
        b"{}",
        b"[]",
        b"null",
        b"",
        b'{"data":{"users":[{"id":"bo',
        b"<html><body>Please log in</body></html>",
        b'{"data":null,"errors":{"message":"Entity not found: `bob`"}}',
        b'{"data":null,"errors":["Entity not found: `bob`"]}',
        b'{"data":null,"errors":[{"text":"Entity not found: `bob`"}]}',
        b'{"data":null,"errors":[{"message":7}]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_C02_what_is_no_whole_answer_is_a_bad_answer(body: bytes) -> None:
    error = outcome(body)
    assert type(error) is BadAnswer
    assert isinstance(error, Unavailable)
    assert error.__context__ is None


def test_C02_data_next_to_errors_is_no_answer() -> None:
    assert type(outcome(b'{"data":{"users":[]},"errors":[{"message":"odd"}]}')) is Unclassified


def test_an_answer_with_a_status_for_errors_is_none() -> None:
    assert type(outcome(b'{"data":{"users":[]}}', status=400)) is BadAnswer
    assert type(outcome(b'{"data":{"users":[]}}', status=500)) is BadAnswer


def test_a_whole_answer_gives_its_data() -> None:
    answer = Answer(200, JSON, b'{"data":{"users":[]}}')
    assert data_of(USERS, answer) == {"users": []}


def test_the_body_of_a_request_is_its_text_and_its_variables() -> None:
    document = Document("user", 'query($u:String!){user(userId:$u){id}} # "x"\n')
    expected = (
        b'{"query":"query($u:String!){user(userId:$u){id}} # \\"x\\"\\n","variables":{"u":1}}'
    )
    assert document.body({"u": 1}) == expected


@pytest.mark.parametrize("read", [answers.read, answers.read_in_bulk])
def test_C02_an_error_is_one_for_answers_that_are_read_into_models_too(
    read: object,
) -> None:
    assert callable(read)
    request = Request(Document("user", "", read), {}, Asked("user", user="bob"))
    body = b'{"data":null,"errors":[{"message":"Entity not found: `bob`","path":["user"]}]}'
    with pytest.raises(NotFound):
        data_of(request, Answer(200, JSON, body))
    for broken in (b"[" * 100_000, b'{"data":{"user":{"name":1,"value":2}}}', b"\xff"):
        with pytest.raises(BadAnswer):
            data_of(request, Answer(200, JSON, broken))
