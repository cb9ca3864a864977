"""The GraphQL documents: built with sgqlc, so that they fit lldap's schema, and sent as they are.

Each asks for one field; its variables have the names of the field's arguments.
"""

from collections.abc import Callable, Iterable

from sgqlc.operation import Operation, Selector
from sgqlc.types import Arg, Variable

from lldap import schema
from lldap.answers import read, read_in_bulk
from lldap.graphql import Document

DIRECTORY_MAX_BYTES = 256 * 2**20
"""50,000 users are 30 MB; photos make the rest."""

DIRECTORY_SECONDS = 300.0
"""For one list of users, lldap takes time that grows with the square of their attribute values."""

_USER = ("id", "email", "display_name", "first_name", "last_name", "uuid", "creation_date")
_GROUP = ("id", "display_name", "uuid", "creation_date")
_ATTRIBUTE_SCHEMA = (
    "name",
    "attribute_type",
    "is_list",
    "is_visible",
    "is_editable",
    "is_hardcoded",
    "is_readonly",
)


def directory(lists: Iterable[str], *, users_alone: bool = False) -> Document:
    """Lists of users, each by the filter that has its name; all groups and the schema with them."""
    variables = {name: Arg(schema.RequestFilter) for name in lists}
    operation = Operation(schema.Query, variables=variables)
    for name in variables:
        users = operation.users(filters=Variable(name), __alias__=name)
        _user(users)
        users.groups().id()
    if not users_alone:
        _group(operation.groups())
        _schema(operation.schema())
    return Document(
        "directory", _text(operation), read_in_bulk, DIRECTORY_MAX_BYTES, DIRECTORY_SECONDS
    )


def _document(root: type, field: str, select: "_Select") -> Document:
    described = getattr(root, field)
    operation = Operation(
        root, variables={name: Arg(arg.type) for name, arg in described.args.items()}
    )
    select(operation[field](**{name: Variable(name) for name in described.args}))
    return Document(described.graphql_name, _text(operation), read)


def _text(operation: Operation) -> str:
    return " ".join(str(operation).split())


_Select = Callable[[Selector], None]


def _user(user: Selector) -> None:
    user.__fields__(*_USER)
    user.attributes().__fields__("name", "value")


def _user_groups(user: Selector) -> None:
    user.id()
    user.groups().__fields__("id", "display_name")


def _user_with_groups(user: Selector) -> None:
    _user(user)
    user.groups().__fields__("id", "display_name")


def _id(selector: Selector) -> None:
    selector.id()


def _id_and_name(group: Selector) -> None:
    group.__fields__("id", "display_name")


def _group(group: Selector) -> None:
    group.__fields__(*_GROUP)
    group.attributes().__fields__("name", "value")


def _group_with_members(group: Selector) -> None:
    _group(group)
    group.users().id()


def _schema(selector: Selector) -> None:
    selector.user_schema().attributes().__fields__(*_ATTRIBUTE_SCHEMA)
    selector.group_schema().attributes().__fields__(*_ATTRIBUTE_SCHEMA)


def _ok(success: Selector) -> None:
    success.ok()


USER = _document(schema.Query, "user", _user)
USER_WITH_GROUPS = _document(schema.Query, "user", _user_with_groups)
USER_IDS = _document(schema.Query, "users", _id)
GROUP_NAMES = _document(schema.Query, "groups", _id_and_name)
USER_GROUPS = _document(schema.Query, "user", _user_groups)
GROUP = _document(schema.Query, "group", _group_with_members)
SCHEMA = _document(schema.Query, "schema", _schema)

CREATE_USER = _document(schema.Mutation, "create_user", _user)
UPDATE_USER = _document(schema.Mutation, "update_user", _ok)
DELETE_USER = _document(schema.Mutation, "delete_user", _ok)

CREATE_GROUP_WITH_DETAILS = _document(schema.Mutation, "create_group_with_details", _group)
UPDATE_GROUP = _document(schema.Mutation, "update_group", _ok)
DELETE_GROUP = _document(schema.Mutation, "delete_group", _ok)

ADD_USER_TO_GROUP = _document(schema.Mutation, "add_user_to_group", _ok)
REMOVE_USER_FROM_GROUP = _document(schema.Mutation, "remove_user_from_group", _ok)

ADD_USER_ATTRIBUTE = _document(schema.Mutation, "add_user_attribute", _ok)
ADD_GROUP_ATTRIBUTE = _document(schema.Mutation, "add_group_attribute", _ok)
DELETE_USER_ATTRIBUTE = _document(schema.Mutation, "delete_user_attribute", _ok)
DELETE_GROUP_ATTRIBUTE = _document(schema.Mutation, "delete_group_attribute", _ok)
