"""Answers in the shape that our documents ask for."""

from typing import Any

from tests.lldap.recordings import exchange

USER_FIELDS = ("id", "email", "displayName", "firstName", "lastName", "uuid", "creationDate")
GROUP_FIELDS = ("id", "displayName", "uuid", "creationDate")


def user_json(**changes: object) -> dict[str, Any]:
    fields = dict.fromkeys(USER_FIELDS, "") | {"id": "bob"}
    return fields | {"attributes": []} | changes


def group_json(**changes: object) -> dict[str, Any]:
    fields = {"id": 7, "displayName": "devs", "uuid": "", "creationDate": ""}
    return fields | {"attributes": []} | changes


def as_selected(raw: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    """A recorded account with the fields of our documents; their texts are attributes too."""
    attributes = {each["name"]: each["value"][0] for each in raw["attributes"] if each["value"]}
    names = {"firstName": "first_name", "lastName": "last_name"}
    found = {name: raw.get(name, attributes.get(names.get(name, ""), "")) for name in fields}
    return {**found, "attributes": raw["attributes"]}


def recorded_directory(database: str) -> dict[str, Any]:
    users = exchange("all users", database).answered["data"]["users"]
    groups = exchange("built-in groups", database).answered["data"]["groups"]
    schema = exchange("schema after", database).answered["data"]["schema"]
    whole = exchange("schema", database).answered["data"]["schema"]
    return {
        "rest": [{**as_selected(user, USER_FIELDS), "groups": [{"id": 1}]} for user in users],
        "groups": [as_selected({**group, "attributes": []}, GROUP_FIELDS) for group in groups],
        "schema": {
            "userSchema": {"attributes": schema["userSchema"]["attributes"]},
            "groupSchema": {"attributes": whole["groupSchema"]["attributes"]},
        },
    }
