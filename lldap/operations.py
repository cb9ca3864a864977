"""What can be asked of lldap and changed in it, one request each."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from lldap import answers, documents
from lldap.classify import Asked
from lldap.errors import BadAnswer
from lldap.graphql import Document, Request
from lldap.models import AttributeSchema, Directory, Group, GroupWithMembers, Schema, Target, User
from lldap.names import attribute_key, group_key, user_key
from lldap.session import Session

_Model = TypeVar("_Model")

Values = Mapping[str, Sequence[str]]

PAGED_READ = 500
"""So many known ids make a paged read: below it costs more than it saves."""

NAMED_IDS = 30_000
"""So many are named; the databases refuse more values in one statement (SQLite above 32,766)."""

LISTS_TOGETHER = 101
"""So many lists are asked for at once. Each waits for a connection of lldap to its database, for
30 s at most; nor does lldap hand any out while it puts a long list together: that one comes alone.
"""

_PAGE = 100

_Filters = dict[str, Any]

_ADD_ATTRIBUTE = {
    Target.USER: documents.ADD_USER_ATTRIBUTE,
    Target.GROUP: documents.ADD_GROUP_ATTRIBUTE,
}
_DELETE_ATTRIBUTE = {
    Target.USER: documents.DELETE_USER_ATTRIBUTE,
    Target.GROUP: documents.DELETE_GROUP_ATTRIBUTE,
}


class Client:
    """lldap's queries and mutations, named as there. Any thread.

    Every method is one request (but see read_directory) and raises the errors of `lldap.errors`. A
    method that returns has lldap's own confirmation; an error of a mutation does not prove that
    nothing was done, unless its class says so. Values are not checked here: see `lldap.values`.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    # Queries

    def read_directory(self, known: Iterable[str] = ()) -> Directory:
        """Everything, in one request unless very many are known.

        `known` are ids of users that are probably there. lldap puts a list of users together in
        time that grows with the square of their attribute values; with many known ids it is asked
        for pages of them and for the rest, which is everything too, and many times cheaper. Of
        more than 30,000 known users the others come with the rest.
        """
        ids = sorted({user_key(user) for user in known})
        pages = _pages(ids[:NAMED_IDS]) if len(ids) >= PAGED_READ else []
        lists: _Filters = {f"page{number}": page for number, page in enumerate(pages)}
        lists["rest"] = {"not": {"any": pages}} if pages else None
        asked, data = Asked("directory"), dict[str, Any]()
        for filters in _requests(lists):
            document = documents.directory(filters, users_alone=bool(data))
            data |= self._session.graphql(Request(document, filters, asked), write=False)
        return _understood(asked, lambda raw: answers.directory(raw, lists), data)

    def user(self, user_id: str) -> User:
        """One user; NotFound if there is none of that id."""
        asked = Asked("user", user=user_id)
        return _same_user(asked, self._query(documents.USER, _user_argument(user_id), asked))

    def user_with_groups(self, user_id: str) -> tuple[User, dict[int, str]]:
        """One user, and ids and names of its groups; NotFound if there is none of that id."""
        asked = Asked("user", user=user_id)
        found = self._query(documents.USER_WITH_GROUPS, _user_argument(user_id), asked)
        if not isinstance(found, tuple) or len(found) != 2:
            raise BadAnswer("user: the answer is not that user")
        user, groups = found
        return _same_user(asked, user), _understood(asked, answers.group_names, groups)

    def find_user_by_email(self, email: str) -> str | None:
        """The id of the user with that e-mail, in any letter case; None if nobody has it."""
        asked = Asked("users")
        filters = {"eq": {"field": "email", "value": email}}
        found = self._query(documents.USER_IDS, {"filters": filters}, asked)
        return next(iter(_understood(asked, answers.ids, found)), None)

    def find_group_by_name(self, display_name: str) -> int | None:
        """The id of the group of that name, in any letter case; None if there is none."""
        asked = Asked("groups")
        found = self._query(documents.GROUP_NAMES, {}, asked)
        names = _understood(asked, answers.group_names, found)
        wanted = group_key(display_name)
        return next((each for each, name in names.items() if group_key(name) == wanted), None)

    def user_groups(self, user_id: str) -> dict[int, str]:
        """Ids and names of the groups that the user is in; NotFound if there is no such user."""
        asked = Asked("user", user=user_id)
        user = self._query(documents.USER_GROUPS, _user_argument(user_id), asked)
        if not isinstance(user, dict) or user.get("id") != user_key(user_id):
            raise BadAnswer("user: the answer is not that user")
        return _understood(asked, answers.group_names, user.get("groups"))

    def own_groups(self) -> dict[int, str]:
        """Ids and names of the groups that the operator's own account is in."""
        return self.user_groups(self._session.login().username)

    def group(self, group_id: int) -> GroupWithMembers:
        """One group and its members; NotFound if there is none of that id."""
        asked = Asked("group", group=group_id)
        group = self._query(documents.GROUP, {"groupId": group_id}, asked)
        if not isinstance(group, GroupWithMembers) or group.id != group_id:
            raise BadAnswer("group: the answer is not that group")
        return group

    def schema(self) -> Schema:
        """The attributes that users and groups may have."""
        asked = Asked("schema")
        return _understood(asked, answers.schema, self._query(documents.SCHEMA, {}, asked))

    # Users

    def create_user(
        self,
        user_id: str,
        email: str,
        *,
        display_name: str | None = None,
        first_name: str | None = None,
        last_name: str | None = None,
        attributes: Values | None = None,
    ) -> User:
        """Create an account and set its attributes, all or nothing; the account as lldap has it."""
        user = {
            "id": user_id,
            "email": email,
            "displayName": display_name,
            "firstName": first_name,
            "lastName": last_name,
            "attributes": _attributes(attributes or {}),
        }
        asked = Asked("createUser", user=user_id)
        return _same_user(asked, self._mutate(documents.CREATE_USER, {"user": user}, asked))

    def update_user(
        self,
        user_id: str,
        *,
        email: str | None = None,
        display_name: str | None = None,
        first_name: str | None = None,
        last_name: str | None = None,
        insert: Values | None = None,
        remove: Iterable[str] = (),
    ) -> None:
        """Change what is given; None leaves a field. NotFound if there is no such user.

        lldap takes an empty `first_name` or `last_name`, and an inserted list of one empty string,
        as a removal.
        """
        user = {
            "id": user_id,
            "email": email,
            "displayName": display_name,
            "firstName": first_name,
            "lastName": last_name,
            "removeAttributes": [attribute_key(name) for name in remove],
            "insertAttributes": _attributes(insert or {}),
        }
        asked = Asked("updateUser", user=user_id)
        self._change(documents.UPDATE_USER, {"user": user}, asked)

    def delete_user(self, user_id: str) -> None:
        """Delete an account; NotFound if there is no such user."""
        asked = Asked("deleteUser", user=user_id)
        self._change(documents.DELETE_USER, {"userId": user_id}, asked)

    # Groups

    def create_group_with_details(
        self, display_name: str, attributes: Values | None = None
    ) -> Group:
        """Create a group and set its attributes, all or nothing; the group as lldap has it."""
        request = {"displayName": display_name, "attributes": _attributes(attributes or {})}
        asked = Asked("createGroupWithDetails")
        group = self._mutate(documents.CREATE_GROUP_WITH_DETAILS, {"request": request}, asked)
        if not isinstance(group, Group) or group.display_name != display_name:
            raise BadAnswer("createGroupWithDetails: the answer is not that group")
        return group

    def update_group(
        self,
        group_id: int,
        *,
        display_name: str | None = None,
        insert: Values | None = None,
        remove: Iterable[str] = (),
    ) -> None:
        """Change what is given; None leaves the name. NotFound if there is no such group."""
        group = {
            "id": group_id,
            "displayName": display_name,
            "removeAttributes": [attribute_key(name) for name in remove],
            "insertAttributes": _attributes(insert or {}),
        }
        asked = Asked("updateGroup", group=group_id)
        self._change(documents.UPDATE_GROUP, {"group": group}, asked)

    def delete_group(self, group_id: int) -> None:
        """Delete a group; NotFound if there is no such group."""
        asked = Asked("deleteGroup", group=group_id)
        self._change(documents.DELETE_GROUP, {"groupId": group_id}, asked)

    def add_user_to_group(self, user_id: str, group_id: int) -> None:
        """Add a member. A member already is a UniqueViolation."""
        self._change_edge(documents.ADD_USER_TO_GROUP, user_id, group_id)

    def remove_user_from_group(self, user_id: str, group_id: int) -> None:
        """Remove a member; NotFound if the user is none, or if user or group are not there."""
        self._change_edge(documents.REMOVE_USER_FROM_GROUP, user_id, group_id)

    # Schema

    def add_attribute(self, target: Target, attribute: AttributeSchema) -> None:
        """Add an attribute. One of that name is a UniqueViolation, whatever its type."""
        document = _ADD_ATTRIBUTE[target]
        variables = {
            "name": attribute.name,
            "attributeType": attribute.attribute_type.value,
            "isList": attribute.is_list,
            "isVisible": attribute.is_visible,
            "isEditable": attribute.is_editable,
        }
        self._change(document, variables, Asked(document.name, attribute=attribute.name))

    def delete_attribute(self, target: Target, name: str) -> None:
        """Delete an attribute and everybody's values; NotFound if there is none of that name."""
        document = _DELETE_ATTRIBUTE[target]
        self._change(document, {"name": name}, Asked(document.name, attribute=name))

    def _change_edge(self, document: Document, user_id: str, group_id: int) -> None:
        variables = {"userId": user_id, "groupId": group_id}
        self._change(document, variables, Asked(document.name, user=user_id, group=group_id))

    def _query(self, document: Document, variables: Mapping[str, Any], asked: Asked) -> object:
        data = self._session.graphql(Request(document, variables, asked), write=False)
        return data.get(document.name)

    def _mutate(self, document: Document, variables: Mapping[str, Any], asked: Asked) -> object:
        data = self._session.graphql(Request(document, variables, asked), write=True)
        return data.get(document.name)

    def _change(self, document: Document, variables: Mapping[str, Any], asked: Asked) -> None:
        """A mutation whose whole answer is {ok: true}."""
        success = self._mutate(document, variables, asked)
        if not isinstance(success, dict) or success.get("ok") is not True:
            raise BadAnswer(f"{document.name}: the answer is not ok: true")


def _understood(asked: Asked, make: Callable[[Any], _Model], raw: object) -> _Model:
    try:
        return make(raw)
    except answers.WRONG_SHAPE:
        pass  # what was raised could quote the answer: it must not travel along
    raise BadAnswer(f"{asked.operation}: the answer has another shape")


def _same_user(asked: Asked, found: object) -> User:
    assert asked.user is not None
    if not isinstance(found, User) or found.id != user_key(asked.user):
        raise BadAnswer(f"{asked.operation}: the answer is not that user")
    return found


def _user_argument(user_id: str) -> dict[str, str]:
    """The argument of `user`, the only one in which lldap decodes per cent signs."""
    return {"userId": user_id.replace("%", "%25")}


def _attributes(values: Values) -> list[dict[str, Any]]:
    return [{"name": attribute_key(name), "value": list(value)} for name, value in values.items()]


def _pages(ids: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"any": [{"eq": {"field": "id", "value": user}} for user in ids[begin : begin + _PAGE]]}
        for begin in range(0, len(ids), _PAGE)
    ]


def _requests(lists: _Filters) -> Iterator[_Filters]:
    """The lists of each request; the last list is the long one."""
    if len(lists) <= LISTS_TOGETHER:
        yield lists
        return
    *pages, rest = lists.items()
    for begin in range(0, len(pages), LISTS_TOGETHER):
        yield dict(pages[begin : begin + LISTS_TOGETHER])
    yield dict([rest])
