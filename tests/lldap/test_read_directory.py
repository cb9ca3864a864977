"""The bulk read: everything, in one request."""

from typing import Any

import pytest

from lldap import (
    AttributeSchema,
    AttributeType,
    BadAnswer,
    Client,
    Credentials,
    Directory,
    Session,
    Target,
    Unclassified,
    Unsupported,
)
from lldap.documents import DIRECTORY_MAX_BYTES, DIRECTORY_SECONDS
from lldap.models import Digest
from lldap.operations import LISTS_TOGETHER, NAMED_IDS, PAGED_READ
from sandbox.lldap.server import Lldap
from sandbox.lldap.transport import InProcessTransport
from tests.lldap.answer_bodies import (
    USER_FIELDS,
    as_selected,
    group_json,
    recorded_directory,
    user_json,
)
from tests.lldap.recordings import DATABASES
from tests.lldap.scripted_transport import ScriptedTransport, data, failed
from tests.lldap.session_bed import session_of
from tests.support.clock import FakeClock


def client_of(directory: dict[str, Any]) -> tuple[Client, ScriptedTransport]:
    transport = ScriptedTransport(data(directory))
    return Client(session_of(transport)), transport


@pytest.mark.parametrize("database", DATABASES)
def test_a_recorded_directory_is_read_whole(database: str) -> None:
    client, transport = client_of(recorded_directory(database))
    directory = client.read_directory()
    assert [user.id for user in directory.users] == ["admin"]
    members = {group.display_name: group.members for group in directory.groups}
    assert members == {
        "lldap_admin": frozenset({"admin"}),
        "lldap_password_manager": frozenset(),
        "lldap_strict_readonly": frozenset(),
    }
    assert directory.schema.user["tags"] == AttributeSchema(
        "tags", AttributeType.STRING, is_list=True, is_visible=True, is_editable=True
    )
    assert directory.schema.user["mail"].is_hardcoded
    assert directory.schema.of(Target.GROUP).keys() >= {"display_name", "uuid"}
    assert len(transport.calls) == 1


def broken_directories() -> list[dict[str, Any]]:
    whole = recorded_directory("sqlite")
    user = whole["rest"][0]
    attribute = whole["schema"]["userSchema"]["attributes"][0]
    odd_type = {**attribute, "attributeType": "FLOAT"}
    odd_flag = {**attribute, "isList": 0}
    return [
        {},
        *({name: part for name, part in whole.items() if name != left} for left in whole),
        {**whole, "rest": None},
        {**whole, "groups": None},
        {**whole, "schema": None},
        {**whole, "rest": [{**user, "groups": None}]},
        {**whole, "rest": [{**user, "groups": [{"id": "1"}]}]},
        {**whole, "rest": [{**user, "uuid": None}]},
        {**whole, "rest": [as_selected(user, USER_FIELDS)]},
        {**whole, "groups": [group_json(id=None)]},
        {**whole, "groups": [{"id": 1, "displayName": "x"}]},
        {**whole, "schema": {"userSchema": {"attributes": []}}},
        {**whole, "schema": {**whole["schema"], "userSchema": {"attributes": [odd_type]}}},
        {**whole, "schema": {**whole["schema"], "userSchema": {"attributes": [odd_flag]}}},
    ]


@pytest.mark.parametrize("broken", broken_directories())
def test_C02_a_directory_of_another_shape_is_a_bad_answer(broken: dict[str, Any]) -> None:
    client, _ = client_of(broken)
    with pytest.raises(BadAnswer):
        client.read_directory()


def test_a_bulk_read_may_be_long_and_large() -> None:
    client, transport = client_of(recorded_directory("sqlite"))
    client.read_directory()
    (call,) = transport.calls
    assert (call.timeout, call.max_bytes) == (DIRECTORY_SECONDS, DIRECTORY_MAX_BYTES)


def test_long_values_are_read_as_digests_in_bulk_and_whole_by_themselves() -> None:
    photo = "/9j/" + "A" * 4000
    user = user_json(attributes=[{"name": "avatar", "value": [photo]}])
    client, _ = client_of({**recorded_directory("sqlite"), "rest": [{**user, "groups": []}]})
    (read,) = client.read_directory().users
    assert read.attributes["avatar"] == (Digest.of(photo),)
    assert isinstance(read.attributes["avatar"][0], Digest)
    alone = Client(session_of(ScriptedTransport(data({"user": user}))))
    assert alone.user("bob").attributes["avatar"] == (photo,)


def test_accounts_with_the_same_attributes_share_their_names_and_their_texts() -> None:
    attributes = [{"name": "mail", "value": ["a@b.c"]}, {"name": "Phone", "value": ["1"]}]
    users = [
        {**user_json(id=name, email="a@b.c", attributes=attributes), "groups": []}
        for name in ("al", "bo")
    ]
    client, _ = client_of({**recorded_directory("sqlite"), "rest": users})
    first, second = client.read_directory().users
    assert list(first.attributes) == ["mail", "phone"]
    assert next(iter(first.attributes)) is next(iter(second.attributes))
    assert first.attributes["mail"][0] is first.email


def test_C07_a_built_in_attribute_counts_before_one_that_people_added_with_its_name() -> None:
    whole = recorded_directory("sqlite")
    built_in = {
        "name": "mail",
        "attributeType": "STRING",
        "isList": False,
        "isVisible": True,
        "isEditable": True,
        "isHardcoded": True,
        "isReadonly": False,
    }
    added = {**built_in, "attributeType": "INTEGER", "isHardcoded": False}
    for both in ([built_in, added], [added, built_in]):
        whole["schema"]["userSchema"]["attributes"] = both
        client, _ = client_of(whole)
        attribute = client.read_directory().schema.user["mail"]
        assert attribute.attribute_type is AttributeType.STRING


def test_an_lldap_without_attributes_is_unsupported() -> None:
    answer = failed('Unknown field "attributes" on type "User"', status=400)
    client = Client(session_of(ScriptedTransport(answer)))
    with pytest.raises(Unsupported, match=r"0\.6\.0"):
        client.read_directory()


def test_C02_an_error_in_one_list_is_no_empty_list() -> None:
    client = Client(session_of(ScriptedTransport(failed("odd"))))
    with pytest.raises(Unclassified):
        client.read_directory()


# In pages


def embedded() -> Client:
    clock = FakeClock()
    transport = InProcessTransport(Lldap(clock, admin_password="password"))
    credentials = Credentials("admin", "password")
    client = Client(Session(transport, lambda: credentials, clock=clock, call_seconds=8.0))
    client.add_attribute(Target.USER, AttributeSchema("mark", AttributeType.STRING))
    group = client.create_group_with_details("devs")
    for number in range(PAGED_READ + 20):
        user = f"user-{number}"
        client.create_user(user, f"{user}@b.c", attributes={"mark": [str(number)]})
        if number % 3 == 0:
            client.add_user_to_group(user, group.id)
    return client


def content(directory: Directory) -> object:
    users = {user.id: user for user in directory.users}
    assert len(users) == len(directory.users)
    return users, {group.id: group for group in directory.groups}, directory.schema


@pytest.mark.slow
def test_a_read_in_pages_shows_what_a_whole_one_shows() -> None:
    client = embedded()
    whole = client.read_directory()
    ids = [user.id for user in whole.users]
    assert len(ids) >= PAGED_READ
    gone = [f"gone-{number}" for number in range(PAGED_READ)]
    for known in (ids, [*ids[:100], *gone], gone, [name.upper() for name in ids]):
        assert content(client.read_directory(known)) == content(whole)


def sent_for(known: list[str]) -> tuple[str, dict[str, Any]]:
    transport = ScriptedTransport(data({}))
    with pytest.raises(BadAnswer):
        Client(session_of(transport)).read_directory(known)
    (call,) = transport.calls
    return call.json["query"], call.json["variables"]


@pytest.mark.slow
def test_ids_that_are_too_many_to_be_named_come_with_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = embedded()
    whole = client.read_directory()
    monkeypatch.setattr("lldap.operations.NAMED_IDS", 300)
    monkeypatch.setattr("lldap.operations.LISTS_TOGETHER", 2)
    assert content(client.read_directory(user.id for user in whole.users)) == content(whole)


@pytest.mark.parametrize("count", [0, PAGED_READ - 1])
def test_few_known_ids_make_no_pages(count: int) -> None:
    query, variables = sent_for([f"user-{number}" for number in range(count)])
    assert variables == {"rest": None}
    assert query.count("users(") == 1


def test_many_known_ids_make_pages_of_them_and_a_list_of_the_rest() -> None:
    known = [f"user-{number:05}" for number in range(PAGED_READ)]
    query, variables = sent_for([*known, "USER-00000"])
    pages = [variables[f"page{number}"] for number in range(len(variables) - 1)]
    named = [each["eq"]["value"] for page in pages for each in page["any"]]
    assert named == known
    assert max(len(page["any"]) for page in pages) <= 100  # SQLite nests at most 1,000 deep
    assert variables["rest"] == {"not": {"any": pages}}
    assert query.count("users(") == len(pages) + 1


NO_ATTRIBUTES: dict[str, Any] = {"attributes": []}


def requests_for(count: int) -> list[tuple[str, dict[str, Any]]]:
    """What is asked for when so many are known and none is there."""
    lists: dict[str, Any] = {f"page{number}": [] for number in range(NAMED_IDS // 100)}
    schema = {"userSchema": NO_ATTRIBUTES, "groupSchema": NO_ATTRIBUTES}
    answer = {"groups": [], "schema": schema, "rest": [], **lists}
    transport = ScriptedTransport(*[data(answer) for _ in range(5)])
    client = Client(session_of(transport))
    directory = client.read_directory(f"user-{number:05}" for number in range(count))
    assert directory.users == []
    return [(call.json["query"], call.json["variables"]) for call in transport.calls]


def test_no_more_ids_are_named_than_a_database_takes() -> None:
    *_, (_, variables) = requests_for(NAMED_IDS + 150)
    rest = variables["rest"]["not"]["any"]
    assert sum(len(page["any"]) for page in rest) == NAMED_IDS


def test_more_lists_than_lldap_has_connections_for_come_one_part_after_the_other() -> None:
    """A long list keeps lldap from everything else: no other list is to wait for it."""
    requests = requests_for(NAMED_IDS)
    assert [len(variables) for _, variables in requests] == [101, 101, 98, 1]
    assert list(requests[-1][1]) == ["rest"]
    asked = [name for _, variables in requests for name in variables]
    assert asked == [*(f"page{number}" for number in range(300)), "rest"]
    assert ["userSchema" in query for query, _ in requests] == [True, False, False, False]


def test_as_many_lists_as_it_has_are_one_request() -> None:
    ((query, variables),) = requests_for((LISTS_TOGETHER - 1) * 100)
    assert len(variables) == query.count("users(") == LISTS_TOGETHER
