"""The fields of the objects that lldap's GraphQL returns: plain functions of what they show.

None of them fails, except a group's `users` for a caller who may not read everybody.
"""

from collections.abc import Callable
from typing import Any

from sandbox.lldap.request import Request
from sandbox.lldap.tables import Attribute, Row, Table

Field = Callable[[Any, Request], Any]


def _column(name: str) -> Field:
    return lambda row, _: row.columns.get(name, "")


def _creation_date(row: Row, _: Request) -> str:
    return row.columns["creation_date"].replace("+00:00", "Z")


def _attribute(name: str, default: str | None) -> Field:
    return lambda row, _: row.attributes[name][0] if name in row.attributes else default


def _property(name: str) -> Field:
    return lambda attribute, _: getattr(attribute, name)


def _attributes(table: Table, row: Row, request: Request) -> list[tuple[Attribute, list[str]]]:
    columns = row.columns
    shown = [(c, [columns[c.name]]) for c in table.columns if c.name in columns]
    stored = [(table.stored[name], values) for name, values in row.attributes.items()]
    return shown + [
        (attribute, values) for attribute, values in stored if _sees(attribute, request)
    ]


def _sees(attribute: Attribute, request: Request) -> bool:
    return attribute.is_visible or request.caller.reads_all


def _groups(user: Row, request: Request) -> list[Row]:
    groups = [request.state.groups.rows[group_id] for group_id in user.links]
    groups.sort(key=lambda group: group.columns["display_name"])
    # lldap does not load their custom attributes here.
    return [Row(group.columns, {}, group.links) for group in groups]


def _members(group: Row, request: Request) -> list[Row]:
    request.require(request.caller.reads_all, "access to group data")
    rows = request.state.users.rows
    return [rows[user_id] for user_id in sorted(group.links)]


FIELDS: dict[str, dict[str, Field]] = {
    "User": {
        "id": _column("user_id"),
        "email": _column("mail"),
        "displayName": _column("display_name"),
        "firstName": _attribute("first_name", ""),
        "lastName": _attribute("last_name", ""),
        "avatar": _attribute("avatar", None),
        "creationDate": _creation_date,
        "uuid": _column("uuid"),
        "attributes": lambda user, request: _attributes(request.state.users, user, request),
        "groups": _groups,
    },
    "Group": {
        "id": lambda group, _: int(group.columns["group_id"]),
        "displayName": _column("display_name"),
        "creationDate": _creation_date,
        "uuid": _column("uuid"),
        "attributes": lambda group, request: _attributes(request.state.groups, group, request),
        "users": _members,
    },
    "AttributeValue": {
        "name": lambda value, _: value[0].name,
        "value": lambda value, _: value[1],
        "schema": lambda value, _: value[0],
    },
    "AttributeSchema": {
        "name": _property("name"),
        "attributeType": _property("kind"),
        "isList": _property("is_list"),
        "isVisible": _property("is_visible"),
        "isEditable": _property("is_editable"),
        "isHardcoded": _property("is_hardcoded"),
        "isReadonly": _property("is_readonly"),
    },
    "Schema": {"userSchema": _property("users"), "groupSchema": _property("groups")},
    "AttributeList": {
        "attributes": lambda table, request: [a for a in table.listing() if _sees(a, request)],
        "extraLdapObjectClasses": lambda *_: [],
        "ldapObjectClasses": lambda table, _: list(table.object_classes),
    },
    "ObjectClassInfo": {
        "objectClass": lambda name, _: name,
        "isHardcoded": lambda *_: True,
    },
    "Success": {"ok": lambda ok, _: ok},
}
