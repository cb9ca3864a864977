"""Whether lldap is as an object asks: what Ready=True says, checked without the operator."""

from controller.ownership.mark import Mark
from lldap.names import user_key
from sandbox.lldap.tables import Row
from tests.faults.stores import Object, Stores, custom, mark

_COLUMNS = {"displayName": "display_name", "firstName": "first_name", "lastName": "last_name"}


def untruths(stores: Stores, obj: Object) -> list[str]:
    """What is not as the object asks; empty if Ready=True is true."""
    return _CHECKS[obj["kind"]](stores, obj)


def _user(stores: Stores, obj: Object) -> list[str]:
    spec = obj["spec"]
    row = stores.user(spec["username"])
    if row is None:
        return ["there is no such account"]
    found = _marked(obj, row)
    if row.columns.get("mail") != spec["email"]:
        found.append(f"the e-mail is {row.columns.get('mail')}")
    for field, column in _COLUMNS.items():
        value = spec.get(field)
        if value and row.columns.get(column, _first(row, column)) != value:
            found.append(f"{field} is not {value}")
    return found + _attributes(spec, row) + _password(stores, obj, row)


def _first(row: Row, name: str) -> str:
    return (row.attributes.get(name) or [""])[0]


def _marked(obj: Object, row: Row) -> list[str]:
    found = mark(row)
    ours = isinstance(found, Mark) and found.uid == obj["metadata"]["uid"]
    return [] if ours else [f"the mark is {found}"]


def _attributes(spec: Object, row: Row) -> list[str]:
    has = custom(row)
    return [
        f"attribute {each['name']} is {has.get(each['name'].lower())}"
        for each in spec.get("attributes") or []
        if _values(has.get(each["name"].lower(), [])) != _values(each["value"])
    ]


def _values(texts: list[str]) -> list[str]:
    """As lldap compares them: an empty text is none, numbers are numbers."""
    return [str(int(t)) if t.lstrip("-").isdigit() else t for t in texts if t]


def _password(stores: Stores, obj: Object, row: Row) -> list[str]:
    spec, status = obj["spec"], obj.get("status") or {}
    if spec.get("passwordPolicy", "Manage") != "Manage":
        return []
    value, recorded = stores.secret_value(obj), status.get("passwordSecret") or {}
    secret = stores.secret(obj["metadata"]["namespace"], spec["passwordSecretRef"]["name"])
    if value is None or secret is None:
        return []  # it went after it was read: the next event tells
    if recorded.get("resourceVersion") != secret["metadata"]["resourceVersion"]:
        return []
    good = stores.logs_in(row.columns["user_id"], value)
    return [] if good else ["nobody can log in with the password of the Secret"]


def _group(stores: Stores, obj: Object) -> list[str]:
    found = stores.group_named(obj["spec"]["displayName"])
    if found is None:
        return ["there is no such group"]
    row = found[1]
    if is_virtual(obj):
        return []
    named = [] if row.columns["display_name"] == obj["spec"]["displayName"] else ["another name"]
    return named + _marked(obj, row) + _attributes(obj["spec"], row)


def is_virtual(obj: Object) -> bool:
    """Whether it stands for a built-in group."""
    metadata = obj["metadata"]
    name: str = metadata["name"]
    return metadata["namespace"] == "lldap-system" and name.startswith("default--")


def _membership(stores: Stores, obj: Object) -> list[str]:
    group = stores.group_named(obj["spec"]["groupName"])
    if group is None:
        return ["there is no such group"]
    there = user_key(obj["spec"]["userName"]) in group[1].links
    return [] if there else ["the user is not in the group"]


def _schema(stores: Stores, obj: Object) -> list[str]:
    spec, state = obj["spec"], stores.state
    table = state.users if spec["target"] == "User" else state.groups
    live = table.stored.get(spec["attributeName"].lower())
    if live is None:
        return ["there is no such attribute"]
    kinds = {
        "String": "STRING",
        "Integer": "INTEGER",
        "JpegPhoto": "JPEG_PHOTO",
        "DateTime": "DATE_TIME",
    }
    shape = (live.kind, live.is_list, live.is_visible, live.is_editable)
    wanted = (
        kinds[spec["attributeType"]],
        *(spec.get(name, False) for name in ("isList", "isVisible", "isEditable")),
    )
    return [] if shape == wanted else [f"it has the shape {shape}"]


_CHECKS = {
    "LldapUser": _user,
    "LldapGroup": _group,
    "LldapMembership": _membership,
    "LldapAttributeSchema": _schema,
}
