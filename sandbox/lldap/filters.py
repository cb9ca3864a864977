"""The filters of the list of users, with SQL's three-valued logic."""

from collections.abc import Callable, Mapping
from typing import Any

from sandbox.lldap.errors import RefusedError
from sandbox.lldap.store import State
from sandbox.lldap.tables import Key, Row
from sandbox.lldap.values import canonical, lower_ascii

# None is SQL's NULL: what is compared with an unset column is neither equal nor different.
Condition = Callable[[Row], bool | None]

# The names that GraphQL and LDAP have for columns and attributes.
_ALIASES = {
    "id": "user_id",
    "uid": "user_id",
    "email": "mail",
    "displayname": "display_name",
    "cn": "display_name",
    "firstname": "first_name",
    "givenname": "first_name",
    "lastname": "last_name",
    "sn": "last_name",
    "jpegphoto": "avatar",
    "entryuuid": "uuid",
}
_NORMALIZED: dict[str, Callable[[str], str]] = {
    "user_id": lower_ascii,
    "mail": str.lower,
    "display_name": str,
    "uuid": str,
    **dict.fromkeys(("creation_date", "modified_date", "password_modified_date"), str),
}


def condition(wanted: Mapping[str, Any], state: State) -> Condition:
    """What a RequestFilter asks for."""
    given = [(name, value) for name, value in wanted.items() if value is not None]
    if len(given) != 1:
        which = "Multiple fields" if given else "No field"
        raise RefusedError(f"{which} specified in request filter")
    ((name, value),) = given
    return _BUILDERS[name](value, state)


def _any(filters: list[Mapping[str, Any]], state: State) -> Condition:
    ids = _only_ids(filters)
    if ids is not None:
        return lambda user: lower_ascii(user.columns["user_id"]) in ids
    return _decided_by(True, [condition(each, state) for each in filters])


def _only_ids(filters: list[Mapping[str, Any]]) -> frozenset[str] | None:
    """The ids of a filter that asks for users by id alone, which may name thousands."""
    found: set[str] = set()
    for each in filters:
        ((name, value),) = each.items() if len(each) == 1 else (("", None),)
        if name == "eq" and value and lower_ascii(value["field"]) in {"id", "uid", "user_id"}:
            found.add(lower_ascii(value["value"]))
        elif name == "any" and value and (nested := _only_ids(value)) is not None:
            found |= nested
        else:
            return None
    return frozenset(found)


def _all(filters: list[Mapping[str, Any]], state: State) -> Condition:
    return _decided_by(False, [condition(each, state) for each in filters])


def _decided_by(decisive: bool, conditions: list[Condition]) -> Condition:
    def check(user: Row) -> bool | None:
        found = [each(user) for each in conditions]
        return decisive if decisive in found else None if None in found else not decisive

    return check


def _not(negated: Mapping[str, Any], state: State) -> Condition:
    inner = condition(negated, state)

    def check(user: Row) -> bool | None:
        found = inner(user)
        return None if found is None else not found

    return check


def _member_of(name: str, state: State) -> Condition:
    return _member_of_id(state.groups.keys.get(name.lower(), 0), state)


def _member_of_id(group_id: Key, _state: State) -> Condition:
    return lambda user: group_id in user.links


def _equals(equality: Mapping[str, str], state: State) -> Condition:
    value, field = equality["value"], lower_ascii(equality["field"])
    name = _ALIASES.get(field, field)
    if name in {"memberof", "ismemberof"}:
        return _member_of(value, state)
    if name in {"objectclass", "dn", "distinguishedname", "entrydn"}:
        raise RefusedError("Ldap fields not supported in request filter")
    if name not in _NORMALIZED:
        return _has_attribute(equality["field"], name, value, state)
    normalized = _NORMALIZED[name]

    def check(user: Row) -> bool | None:
        shown = user.columns.get(name)
        return None if shown is None else normalized(shown) == normalized(value)

    return check


def _has_attribute(given: str, name: str, value: str, state: State) -> Condition:
    attribute = state.users.stored.get(name)
    if attribute is None:
        raise RefusedError(f"Unknown request filter: {given}")
    if attribute.is_list:
        raise RefusedError("Equality not supported for list fields")
    try:
        wanted = canonical([value], attribute.kind, is_list=False)
    except ValueError:
        raise RefusedError(f"While deserializing attribute {name}") from None
    return lambda user: user.attributes.get(name) == wanted


_BUILDERS: dict[str, Callable[[Any, State], Condition]] = {
    "any": _any,
    "all": _all,
    "not": _not,
    "eq": _equals,
    "memberOf": _member_of,
    "memberOfId": _member_of_id,
}
