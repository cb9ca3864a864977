"""Queries and mutations: what is sent, and what is made of the answers."""

from collections.abc import Callable
from typing import Any

import pytest

from lldap import (
    Answer,
    AttributeSchema,
    AttributeType,
    BadAnswer,
    Client,
    GroupWithMembers,
    Target,
)
from tests.lldap.answer_bodies import GROUP_FIELDS, USER_FIELDS, as_selected, group_json, user_json
from tests.lldap.recordings import DATABASES, exchange
from tests.lldap.scripted_transport import ScriptedTransport, data
from tests.lldap.session_bed import session_of

OK = {"ok": True}


def client_of(*answers: Answer) -> tuple[Client, ScriptedTransport]:
    transport = ScriptedTransport(*answers)
    return Client(session_of(transport)), transport


def sent_variables(transport: ScriptedTransport) -> dict[str, Any]:
    (call,) = transport.calls
    variables: dict[str, Any] = call.json["variables"]
    return variables


# What was recorded


@pytest.mark.parametrize("database", DATABASES)
def test_a_recorded_new_user_is_read_whole(database: str) -> None:
    raw = exchange("createUser ok", database).answered["data"]["createUser"]
    client, transport = client_of(data({"createUser": as_selected(raw, USER_FIELDS)}))
    user = client.create_user("alice", "alice@example.com")
    assert (user.id, user.email, user.display_name) == ("alice", "alice@example.com", "Alice")
    assert (user.first_name, user.last_name) == ("Al", "Ice")
    assert user.uuid == raw["uuid"]
    assert dict(user.attributes) == {
        each["name"]: tuple(each["value"]) for each in raw["attributes"]
    }
    created = user.attributes["creation_date"][0]
    assert user.creation_date == user.password_modified_date == user.modified_date == created
    assert len(transport.calls) == 1


@pytest.mark.parametrize("database", DATABASES)
def test_a_recorded_user_with_lists_is_read_whole(database: str) -> None:
    raw = exchange("alice after 2", database).answered["data"]["user"]
    selected = as_selected({**raw, "uuid": "u", "creationDate": "d"}, USER_FIELDS)
    client, _ = client_of(data({"user": selected}))
    user = client.user("ALICE")
    assert user.attributes["tags"] == ()
    assert user.attributes["age"] == ("-7",)
    assert "phone" not in user.attributes


@pytest.mark.parametrize("database", DATABASES)
def test_a_recorded_new_group_is_read_whole(database: str) -> None:
    raw = exchange("createGroupWithDetails attributes", database).answered["data"]
    selected = as_selected(raw["createGroupWithDetails"], GROUP_FIELDS)
    client, _ = client_of(data({"createGroupWithDetails": selected}))
    group = client.create_group_with_details("owned", {"owner": ["alice"]})
    assert group.display_name == "owned"
    assert group.attributes["owner"] == ("alice",)
    assert group.creation_date == group.attributes["creation_date"][0]
    assert group.attributes["group_id"] == (str(group.id),)


# What is sent


def test_a_new_user_and_its_attributes_go_in_one_request() -> None:
    client, transport = client_of(data({"createUser": user_json()}))
    client.create_user("Bob", "b@c.de", first_name="B", attributes={"costCenter": ("1",)})
    assert sent_variables(transport) == {
        "user": {
            "id": "Bob",
            "email": "b@c.de",
            "displayName": None,
            "firstName": "B",
            "lastName": None,
            "attributes": [{"name": "costcenter", "value": ["1"]}],
        }
    }


def test_an_update_sets_and_removes_in_one_request() -> None:
    client, transport = client_of(data({"updateUser": OK}))
    client.update_user("bob", display_name="", insert={"Tags": ("a", "a")}, remove=["First_Name"])
    assert sent_variables(transport) == {
        "user": {
            "id": "bob",
            "email": None,
            "displayName": "",
            "firstName": None,
            "lastName": None,
            "removeAttributes": ["first_name"],
            "insertAttributes": [{"name": "tags", "value": ["a", "a"]}],
        }
    }


def test_a_group_is_updated_by_its_id() -> None:
    client, transport = client_of(data({"updateGroup": OK}))
    client.update_group(7, display_name="Devs", insert={"a": ["1"]}, remove=["b"])
    assert sent_variables(transport) == {
        "group": {
            "id": 7,
            "displayName": "Devs",
            "removeAttributes": ["b"],
            "insertAttributes": [{"name": "a", "value": ["1"]}],
        }
    }


def test_a_per_cent_sign_in_a_user_id_reaches_lldap_as_one() -> None:
    client, transport = client_of(data({"user": user_json(id="a%20b")}))
    assert client.user("a%20b").id == "a%20b"
    assert sent_variables(transport) == {"userId": "a%2520b"}


ATTRIBUTE = AttributeSchema("tags", AttributeType.JPEG_PHOTO, is_list=True, is_visible=True)
Act = Callable[[Client], None]
CHANGES: list[tuple[str, Act, dict[str, Any]]] = [
    ("updateUser", lambda client: client.update_user("bob"), {}),
    ("deleteUser", lambda client: client.delete_user("bob"), {"userId": "bob"}),
    ("updateGroup", lambda client: client.update_group(7), {}),
    ("deleteGroup", lambda client: client.delete_group(7), {"groupId": 7}),
    (
        "addUserToGroup",
        lambda client: client.add_user_to_group("bob", 7),
        {"userId": "bob", "groupId": 7},
    ),
    (
        "removeUserFromGroup",
        lambda client: client.remove_user_from_group("bob", 7),
        {"userId": "bob", "groupId": 7},
    ),
    (
        "addUserAttribute",
        lambda client: client.add_attribute(Target.USER, ATTRIBUTE),
        {
            "name": "tags",
            "attributeType": "JPEG_PHOTO",
            "isList": True,
            "isVisible": True,
            "isEditable": False,
        },
    ),
    (
        "addGroupAttribute",
        lambda client: client.add_attribute(Target.GROUP, ATTRIBUTE),
        {"name": "tags"},
    ),
    (
        "deleteUserAttribute",
        lambda client: client.delete_attribute(Target.USER, "tags"),
        {"name": "tags"},
    ),
    (
        "deleteGroupAttribute",
        lambda client: client.delete_attribute(Target.GROUP, "tags"),
        {"name": "tags"},
    ),
]
each_change = pytest.mark.parametrize(
    ("field", "act", "variables"), CHANGES, ids=[field for field, _, _ in CHANGES]
)


@each_change
def test_a_change_is_one_mutation_in_one_request(
    field: str, act: Act, variables: dict[str, Any]
) -> None:
    client, transport = client_of(data({field: OK}))
    act(client)
    assert sent_variables(transport).items() >= variables.items()
    query = transport.calls[0].json["query"]
    assert query.startswith("mutation ")
    assert query.count(field) == 1


@each_change
@pytest.mark.parametrize(
    "answer",
    [
        {"ok": 1},
        {"ok": "true"},
        {"ok": False},
        {"ok": None},
        {},
        True,
        None,
        [OK],
    ],
    ids=str,
)
def test_a_change_is_confirmed_by_true_and_nothing_else(
    field: str, act: Act, variables: dict[str, Any], answer: object
) -> None:
    client, _ = client_of(data({field: answer}))
    with pytest.raises(BadAnswer):
        act(client)


# Answers of another shape


@pytest.mark.parametrize(
    "user",
    [
        None,
        {},
        [],
        "bob",
        {"id": "bob"},
        user_json(id="alice"),
        user_json(id=7),
        user_json(email=None),
        user_json(displayName=None),
        user_json(attributes=None),
        user_json(attributes=[{"name": "mail"}]),
        user_json(attributes=[{"name": "mail", "value": "a"}]),
        user_json(attributes=[{"name": "mail", "value": ["a", 1]}]),
        user_json(attributes=[{"name": "mail", "value": [None]}]),
        user_json(attributes=[{"name": 7, "value": ["a"]}]),
        user_json(attributes=[["mail", "a"]]),
        user_json(attributes={"name": "mail", "value": ["a"]}),
        user_json(more="than asked"),
    ],
    ids=str,
)
def test_C02_a_user_of_another_shape_is_a_bad_answer(user: object) -> None:
    client, _ = client_of(data({"user": user, "createUser": user}))
    with pytest.raises(BadAnswer) as caught:
        client.user("bob")
    assert caught.value.__context__ is None
    with pytest.raises(BadAnswer):
        client.create_user("bob", "b@c.de")


@pytest.mark.parametrize(
    "group",
    [
        None,
        {},
        group_json(id="7", users=[]),
        group_json(id=8, users=[]),
        group_json(id=True, users=[]),
        group_json(users=None),
        group_json(users=[{"id": 7}]),
        group_json(users=["bob"]),
        group_json(displayName=None, users=[]),
    ],
    ids=str,
)
def test_C02_a_group_of_another_shape_is_a_bad_answer(group: object) -> None:
    client, _ = client_of(data({"group": group}))
    with pytest.raises(BadAnswer):
        client.group(7)


def test_a_group_has_its_members() -> None:
    client, _ = client_of(data({"group": group_json(users=[{"id": "bob"}, {"id": "al"}])}))
    assert client.group(7) == GroupWithMembers(7, "devs", "", "", {}, frozenset({"bob", "al"}))


@pytest.mark.parametrize("group", [None, group_json(displayName="Other"), group_json(id=None)])
def test_a_new_group_of_another_shape_is_a_bad_answer(group: object) -> None:
    client, _ = client_of(data({"createGroupWithDetails": group}))
    with pytest.raises(BadAnswer):
        client.create_group_with_details("devs")


@pytest.mark.parametrize(
    "user",
    [
        None,
        {"id": "bob"},
        {"id": "bob", "groups": None},
        {"id": "bob", "groups": [{"id": "1", "displayName": "x"}]},
        {"id": "bob", "groups": [{"id": 1}]},
        {"id": "bob", "groups": [[1, "x"]]},
        {"id": "al", "groups": []},
    ],
    ids=str,
)
def test_groups_of_a_user_of_another_shape_are_a_bad_answer(user: object) -> None:
    client, _ = client_of(data({"user": user}))
    with pytest.raises(BadAnswer):
        client.user_groups("bob")
