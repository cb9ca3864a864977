"""Whatever a server sends: a model or a typed error, and nothing else."""

from collections.abc import Callable
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from lldap import Answer, Client, Directory, LldapError, NotFound, User
from tests.lldap.answer_bodies import recorded_directory, user_json
from tests.lldap.scripted_transport import ScriptedTransport
from tests.lldap.session_bed import session_of

LOGIN_START = "/auth/opaque/login/start"

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.text(max_size=8),
    st.sampled_from(["bob", "Entity not found: `bob`", "Unauthorized x", "STRING"]),
)
keys = st.one_of(
    st.text(max_size=4),
    st.sampled_from(
        ["data", "errors", "message", "user", "users", "id", "name", "value", "groups", "ok"]
    ),
)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)


def outcome_of(answer: Answer, call: Callable[[Client], object]) -> object:
    """What `call` returns or the LldapError that it raises; anything else fails the test."""
    client = Client(session_of(ScriptedTransport(answer)))
    try:
        return call(client)
    except LldapError as error:
        return error


@given(documents, st.sampled_from([200, 400, 500]))
def test_any_json_is_an_error_or_the_user_that_was_asked_for(document: object, status: int) -> None:
    answer = Answer(status, "application/json", orjson.dumps(document))
    found = outcome_of(answer, lambda client: client.user("bob"))
    if isinstance(found, NotFound):
        assert b"Entity not found: `bob`" in answer.body
    elif not isinstance(found, LldapError):
        assert isinstance(found, User)
        assert found.id == "bob"


@given(st.binary(max_size=200), st.integers(100, 599))
def test_any_bytes_are_an_error_and_nothing_is_absent(body: bytes, status: int) -> None:
    answer = Answer(status, "", body)
    calls: list[Callable[[Client], object]] = [
        lambda client: client.user("bob"),
        lambda client: client.group(7),
        lambda client: client.read_directory(),
        lambda client: client.schema(),
        lambda client: client.delete_user("bob"),
    ]
    for call in calls:
        found = outcome_of(answer, call)
        assert isinstance(found, LldapError)
        assert not isinstance(found, NotFound)


@given(st.data())
def test_a_directory_with_one_odd_value_is_an_error_or_well_typed(data: st.DataObject) -> None:
    whole = recorded_directory("sqlite")
    whole["rest"] = [{**user_json(id="bob"), "groups": [{"id": 1}]}]
    place: Any = whole
    while True:
        positions = sorted(place) if isinstance(place, dict) else range(len(place))
        position = data.draw(st.sampled_from(positions))
        inner = place[position]
        if not (isinstance(inner, dict | list) and inner and data.draw(st.booleans())):
            break
        place = inner
    place[position] = data.draw(documents)
    answer = Answer(200, "application/json", orjson.dumps({"data": whole}))
    found = outcome_of(answer, lambda client: client.read_directory())
    assert not isinstance(found, NotFound)
    if isinstance(found, Directory):
        assert all(type(user.id) is type(user.email) is str for user in found.users)
        assert all(type(group.id) is int for group in found.groups)
        values = [value for user in found.users for value in user.attributes.values()]
        assert all(isinstance(text, str) for value in values for text in value)


@given(st.binary(max_size=100), st.sampled_from([200, 400, 401, 409, 500]))
def test_any_answer_of_a_path_of_auth_is_an_object_or_an_error(body: bytes, status: int) -> None:
    session = session_of(ScriptedTransport(Answer(status, "", body)))
    found = outcome_of(
        Answer(status, "", body),
        lambda _: session.post(LOGIN_START, {}, authenticated=False, write=False),
    )
    assert isinstance(found, dict | LldapError)
    assert isinstance(found, LldapError) or status == 200
