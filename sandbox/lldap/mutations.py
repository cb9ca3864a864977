"""The mutations of lldap's GraphQL: permission, values, then one transaction of the store."""

from collections.abc import Callable, Mapping
from typing import Any

from sandbox.lldap.errors import DomainError, Kind, RefusedError, unique
from sandbox.lldap.request import Request
from sandbox.lldap.tables import Attribute, Row, Table, Values
from sandbox.lldap.values import canonical, lower_ascii

Arguments = Mapping[str, Any]
Mutation = Callable[[Request, Arguments], Any]

_ATTRIBUTES_WITH_FIELDS = (
    ("first_name", "firstName"),
    ("last_name", "lastName"),
    ("avatar", "avatar"),
)
_COLUMNS = ("mail", "display_name")
_ADMIN_GROUP = 1


def _create_user(request: Request, arguments: Arguments) -> Row:
    given = arguments["user"]
    values = _parsed(request, request.state.users, _consolidated(given, "attributes"))
    columns = _columns(given, values)
    if "mail" not in columns:
        raise RefusedError("Email is required when creating a new user")
    return request.store.create_user(
        lower_ascii(given["id"]), columns["mail"], columns.get("display_name"), values
    )


def _update_user(request: Request, arguments: Arguments) -> bool:
    given, caller = arguments["user"], request.caller
    user_id = lower_ascii(given["id"])
    request.require(caller.is_admin or caller.user_id == user_id, "user update")
    consolidated = _consolidated(given, "insertAttributes")
    remove = [name for name, values in consolidated.items() if values == [""]]
    remove += given.get("removeAttributes") or ()
    insert = {name: values for name, values in consolidated.items() if values != [""]}
    values = _parsed(request, request.state.users, insert)
    columns: dict[str, str | None] = dict(_columns(given, values))
    if "display_name" in remove:
        columns.setdefault("display_name", None)
    if columns.get("display_name") == "":
        columns["display_name"] = None
    removed = [lower_ascii(name) for name in remove if name not in _COLUMNS]
    users = request.state.users
    request.store.update(users, user_id, columns=columns, remove=removed, insert=values)
    return True


def _consolidated(given: Arguments, key: str) -> Values:
    """The attributes by name, with the fields that are attributes too; an attribute wins."""
    values = {lower_ascii(each["name"]): each["value"] for each in given.get(key) or ()}
    for name, field in _ATTRIBUTES_WITH_FIELDS:
        if given.get(field) is not None:
            values.setdefault(name, [given[field]])
    return dict(sorted(values.items(), key=lambda item: (item[0] not in _COLUMNS, item[0])))


def _columns(given: Arguments, values: Values) -> dict[str, str]:
    """Take e-mail and display name out of the attributes; the fields of those names win."""
    columns = {name: values.pop(name)[0] for name in _COLUMNS if name in values}
    for name, field in (("mail", "email"), ("display_name", "displayName")):
        if given.get(field) is not None:
            columns[name] = given[field]
    return columns


def _parsed(request: Request, table: Table, values: Values) -> Values:
    """Parse the values of all attributes; the first that is wrong is named as it came."""
    return {lower_ascii(name): _value(request, table, name, values[name]) for name in values}


def _value(request: Request, table: Table, name: str, values: list[str]) -> list[str]:
    attribute = table.find(lower_ascii(name))
    if attribute is None:
        raise RefusedError(f"Attribute {name} is not defined in the schema")
    if attribute.is_readonly:
        raise RefusedError(f"Permission denied: Attribute {name} is read-only")
    if not (request.caller.is_admin or attribute.is_editable):
        text = f"Attribute {name} is not editable by regular users"
        raise RefusedError(f"Permission denied: {text}")
    try:
        return canonical(values, attribute.kind, is_list=attribute.is_list)
    except ValueError:
        raise RefusedError(f"While deserializing attribute {name}") from None


def _delete_user(request: Request, arguments: Arguments) -> bool:
    user_id = lower_ascii(arguments["userId"])
    if request.caller.user_id == user_id:
        raise RefusedError("Cannot delete current user")
    request.store.delete_user(user_id)
    return True


def _create_group(request: Request, arguments: Arguments) -> Row:
    return request.store.create_group(arguments["name"])


def _create_group_with_details(request: Request, arguments: Arguments) -> Row:
    given = arguments["request"]
    attributes = [(each["name"], each["value"]) for each in given.get("attributes") or ()]
    values = _parsed(request, request.state.groups, dict(attributes))
    if len(values) < len(attributes):
        columns = ("group_attribute_group_id", "group_attribute_name")
        named = ", ".join(f"group_attributes.{column}" for column in columns)
        raise DomainError(Kind.DATABASE, unique(1555, named))
    return request.store.create_group(given["displayName"], values)


def _update_group(request: Request, arguments: Arguments) -> bool:
    given = arguments["group"]
    insert = {each["name"]: each["value"] for each in given.get("insertAttributes") or ()}
    (inserted_name, *_) = insert.pop("display_name", [None])
    name = given.get("displayName")
    name = inserted_name if name is None else name
    if given["id"] == _ADMIN_GROUP and name is not None:
        raise RefusedError("Cannot change lldap_admin group name")
    remove = [n for n in given.get("removeAttributes") or () if n != "display_name"]
    request.store.update(
        request.state.groups,
        given["id"],
        columns={} if name is None else {"display_name": name},
        remove=[lower_ascii(name) for name in remove],
        insert=_parsed(request, request.state.groups, insert),
    )
    return True


def _delete_group(request: Request, arguments: Arguments) -> bool:
    if arguments["groupId"] == _ADMIN_GROUP:
        raise RefusedError("Cannot delete admin group")
    request.store.delete_group(arguments["groupId"])
    return True


def _add_user_to_group(request: Request, arguments: Arguments) -> bool:
    request.store.add_member(lower_ascii(arguments["userId"]), arguments["groupId"])
    return True


def _remove_user_from_group(request: Request, arguments: Arguments) -> bool:
    user_id, group_id = lower_ascii(arguments["userId"]), arguments["groupId"]
    if (user_id, group_id) == (request.caller.user_id, _ADMIN_GROUP):
        raise RefusedError("Cannot remove admin rights for current user")
    request.store.remove_member(user_id, group_id)
    return True


def _add_attribute(request: Request, table: Table, arguments: Arguments) -> None:
    name = arguments["name"]
    if wrong := "".join(c for c in name if not (c.isalnum() or c == "-")):
        detail = f". Invalid chars found: {wrong}" if table.entity == "user" else ""
        text = "Valid characters: a-z, A-Z, 0-9, and dash (-)"
        raise RefusedError(f"Cannot create attribute with invalid name. {text}{detail}")
    request.require(request.caller.is_admin, "attribute creation")
    flags = (arguments[flag] for flag in ("isList", "isVisible", "isEditable"))
    attribute = Attribute(lower_ascii(name), arguments["attributeType"], *flags)
    state = request.state
    table.add_attribute(attribute, state.groups if table is state.users else state.users)


def _delete_attribute(request: Request, table: Table, arguments: Arguments) -> None:
    request.require(request.caller.is_admin, "attribute deletion")
    name = lower_ascii(arguments["name"])
    attribute = table.find(name)
    if attribute is None:
        raise RefusedError(f"Attribute {name} is not defined in the schema")
    if attribute.is_hardcoded:
        raise RefusedError(f"Permission denied: Attribute {name} cannot be deleted")
    table.delete_attribute(name)


def _admins(what: str, mutation: Mutation) -> Mutation:
    def checked(request: Request, arguments: Arguments) -> object:
        request.require(request.caller.is_admin, what)
        return mutation(request, arguments)

    return checked


def _on(entity: str, change: Callable[[Request, Table, Arguments], None]) -> Mutation:
    def mutation(request: Request, arguments: Arguments) -> bool:
        change(request, getattr(request.state, entity), arguments)
        return True

    return mutation


_MEMBERSHIP = "group membership modification"
MUTATIONS: dict[str, Mutation] = {
    "createUser": _admins("user creation", _create_user),
    "createGroup": _admins("group creation", _create_group),
    "createGroupWithDetails": _admins("group creation", _create_group_with_details),
    "updateUser": _update_user,
    "updateGroup": _admins("group update", _update_group),
    "addUserToGroup": _admins(_MEMBERSHIP, _add_user_to_group),
    "removeUserFromGroup": _admins(_MEMBERSHIP, _remove_user_from_group),
    "deleteUser": _admins("user deletion", _delete_user),
    "deleteGroup": _admins("group deletion", _delete_group),
    "addUserAttribute": _on("users", _add_attribute),
    "addGroupAttribute": _on("groups", _add_attribute),
    "deleteUserAttribute": _on("users", _delete_attribute),
    "deleteGroupAttribute": _on("groups", _delete_attribute),
}
