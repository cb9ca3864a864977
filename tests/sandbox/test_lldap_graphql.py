"""Queries: filters, projections, and that 10,000 users are no burden."""

import json
from typing import Any

import pytest

from tests.sandbox.lldap_session import Session, log_in, new_lldap

EVERYTHING = """{users{id email displayName firstName lastName avatar creationDate uuid
  groups{id displayName} attributes{name value}}}"""


@pytest.fixture(name="admin")
def _admin() -> Session:
    admin = log_in(new_lldap())
    admin.add_attribute("level", "INTEGER")
    admin.add_attribute("tags", isList=True)
    admin.create_user("alice", displayName="Al", attributes=[{"name": "level", "value": ["07"]}])
    admin.create_user("bob")
    admin.add_member("alice", 2)
    return admin


def eq(field: str, value: str) -> dict[str, Any]:
    return {"eq": {"field": field, "value": value}}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (eq("id", "ALICE"), {"alice"}),
        (eq("email", "BOB@example.com"), {"bob"}),
        (eq("displayName", "Al"), {"alice"}),
        (eq("displayName", "al"), set()),
        (eq("level", "+7"), {"alice"}),
        (eq("memberOf", "LLDAP_ADMIN"), {"admin"}),
        ({"memberOf": "lldap_password_manager"}, {"alice"}),
        ({"memberOf": "nosuch"}, set()),
        ({"memberOfId": 1}, {"admin"}),
        ({"not": {"memberOfId": 1}}, {"alice", "bob"}),
        ({"any": [eq("id", "alice"), eq("id", "bob")]}, {"alice", "bob"}),
        ({"any": [eq("id", "ALICE"), {"any": [eq("uid", "bob")]}]}, {"alice", "bob"}),
        ({"any": []}, set()),
        ({"all": []}, {"admin", "alice", "bob"}),
        ({"all": [eq("id", "alice"), {"memberOfId": 2}]}, {"alice"}),
        # An unset display name is NULL: neither equal to anything nor different.
        ({"not": eq("displayName", "Al")}, {"admin"}),
        ({"any": [eq("displayName", "Al"), eq("id", "bob")]}, {"alice", "bob"}),
        ({"not": {"all": [eq("displayName", "Al"), eq("id", "x")]}}, {"admin", "alice", "bob"}),
    ],
)
def test_a_filter_finds(admin: Session, wanted: dict[str, Any], found: set[str]) -> None:
    query = "query($f:RequestFilter){users(filters:$f){id}}"
    assert {user["id"] for user in admin.data(query, f=wanted)["users"]} == found


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ({}, "No field specified in request filter"),
        ({"memberOfId": 1, "memberOf": "x"}, "Multiple fields specified in request filter"),
        (eq("NoSuch", "x"), "Unknown request filter: NoSuch"),
        (eq("tags", "x"), "Equality not supported for list fields"),
        (eq("level", "x"), "While deserializing attribute level"),
    ],
)
def test_a_filter_is_refused(admin: Session, wanted: dict[str, Any], text: str) -> None:
    query = "query($f:RequestFilter){users(filters:$f){id}}"
    assert admin.error(query, f=wanted) == text


def test_a_user_can_be_asked_for_in_many_ways(admin: Session) -> None:
    query = """query($skip: Boolean!) {
      me: user(userId: "al%69ce") { __typename ...F name: displayName id @skip(if: $skip) } }
    fragment F on User { groups { displayName users { id } } level: attributes { name schema
      { attributeType isList } } }"""
    (me,) = admin.data(query, skip=True).values()
    assert {key: me[key] for key in ("__typename", "name", "groups")} == {
        "__typename": "User",
        "name": "Al",
        "groups": [{"displayName": "lldap_password_manager", "users": [{"id": "alice"}]}],
    }
    assert "id" not in me
    assert me["level"][-1] == {
        "name": "level",
        "schema": {"attributeType": "INTEGER", "isList": False},
    }


def test_groups_of_a_user_come_without_custom_attributes(admin: Session) -> None:
    admin.data(
        'mutation{addGroupAttribute(name:"owner",attributeType:STRING,isList:false,'
        "isVisible:true,isEditable:true){ok}}"
    )
    admin.data(
        "mutation($g:UpdateGroupInput!){updateGroup(group:$g){ok}}",
        g={"id": 2, "insertAttributes": [{"name": "owner", "value": ["alice"]}]},
    )
    assert "owner" in str(admin.data("{group(groupId:2){attributes{name}}}"))
    assert "owner" not in str(admin.data('{user(userId:"alice"){groups{attributes{name}}}}'))


def test_both_ways_of_execution_show_the_same(admin: Session) -> None:
    """An admin's objects are projected, a plain user's are resolved field by field."""
    admin.register("bob", "password")
    group = admin.data('mutation{createGroup(name:"team"){id}}')["createGroup"]["id"]
    admin.add_member("bob", group)
    bob = log_in(admin.lldap, "bob", "password")
    query = """{user(userId: "bob") { __typename id email displayName firstName lastName avatar
      creationDate uuid groups { id displayName creationDate uuid attributes { name value } }
      attributes { name value schema { name attributeType isList isVisible isEditable isHardcoded
      isReadonly } } } schema { userSchema { attributes { name } extraLdapObjectClasses
      ldapObjectClasses { objectClass isHardcoded } } groupSchema { attributes { name } } } }"""
    assert bob.data(query) == admin.data(query)


@pytest.mark.parametrize(
    "request_body",
    [
        {"query": "{"},
        {"query": "{nosuch}"},
        {"query": "query($u:Int!){group(groupId:$u){id}}", "variables": {"u": 5_000_000_000}},
        {"query": "query A{apiVersion} query B{apiVersion}"},
        {"query": "query A{apiVersion}", "operationName": "B"},
    ],
)
def test_a_request_that_is_not_begun_is_a_400_without_data(
    admin: Session, request_body: dict[str, Any]
) -> None:
    headers = {"content-type": "application/json", **admin.headers}
    body = json.dumps(request_body).encode()
    answer = admin.lldap.handle("POST", "/api/graphql", headers, body)
    assert answer.status == 400
    assert list(json.loads(answer.body)) == ["errors"]


@pytest.mark.slow
def test_ten_thousand_users_are_read_at_once() -> None:
    admin = log_in(new_lldap())
    for number in range(10_000):
        admin.create_user(f"user{number}", displayName="Some", firstName="Bo", lastName="Dy")
        admin.add_member(f"user{number}", 3)
    users = json.loads(admin.send(EVERYTHING).body)["data"]["users"]
    assert len(users) == 10_001
    assert len(users[-1]["attributes"]) == 9
