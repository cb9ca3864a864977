"""The one place where answers of lldap become errors.

`TABLE` is read from above; the first row whose operation, status and text fit decides. The texts
are lldap's own and those of its three databases (SQLite, PostgreSQL, MariaDB/MySQL). A pattern
starts at the beginning of the text, because further on a text can hold what people wrote. What
no row knows is `Unclassified` or `BadAnswer`: try again, and conclude nothing.
"""

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass

import orjson

from lldap import errors, names
from lldap.transport import Answer

LOGIN = "/auth/simple/login"
REGISTER_START = "/auth/opaque/register/start"

MAX_TEXT = 400  # characters of an answer that are looked at


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call asked for: its GraphQL field or path, and the things that it named."""

    operation: str
    user: str | None = None
    group: int | None = None
    attribute: str | None = None


_Make = Callable[[Asked, re.Match[str]], errors.LldapError | None]


@dataclass(frozen=True, slots=True)
class Row:
    """One row: `make` gives the error, or None if the text speaks of something else."""

    statuses: Container[int]
    pattern: re.Pattern[str]
    make: _Make
    operations: frozenset[str] | None = None

    def error(self, asked: Asked, status: int, text: str) -> errors.LldapError | None:
        """The error, if this row fits."""
        if status not in self.statuses:
            return None
        if self.operations is not None and asked.operation not in self.operations:
            return None
        found = self.pattern.match(text)
        return self.make(asked, found) if found else None


def graphql_error(asked: Asked, status: int, messages: Iterable[str]) -> errors.LldapError:
    """The error for the messages of one GraphQL answer: the least final one, if they differ."""
    return min((_first(asked, status, message) for message in messages), key=_finality)


def http_error(asked: Asked, answer: Answer) -> errors.LldapError:
    """The error for an answer that is no GraphQL. Nothing of its body is kept: see `Conflict`."""
    if answer.status == 409:
        return errors.Conflict(f"{asked.operation}: HTTP 409", _error_code(answer.body))
    error = _first(asked, answer.status, answer.body[:MAX_TEXT].decode(errors="replace"))
    error.server_text = ""
    return error


def _first(asked: Asked, status: int, text: str) -> errors.LldapError:
    for row in TABLE:
        error = row.error(asked, status, text)
        if error is not None:
            return error
    raise AssertionError("the last row of the table takes everything")


def _finality(error: errors.LldapError) -> int:
    """A schema error means that nothing was carried out at all; a final no is believed last."""
    if isinstance(error, errors.Unsupported):
        return 0
    return 2 if isinstance(error, errors.Rejected) else 1


def _error_code(body: bytes) -> str | None:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    code = document.get("error_code") if isinstance(document, dict) else None
    return code[:MAX_TEXT] if isinstance(code, str) else None


def _error(kind: type[errors.LldapError], message: str) -> _Make:
    def make(asked: Asked, found: re.Match[str]) -> errors.LldapError:
        return kind(f"{asked.operation}: {message}", server_text=found.string)

    return make


def _user_not_found(asked: Asked, found: re.Match[str]) -> errors.LldapError | None:
    if asked.user is None or names.user_key(found["entity"]) != names.user_key(asked.user):
        return None
    return errors.NotFound(f"there is no user {asked.user}", server_text=found.string)


def _group_not_found(asked: Asked, found: re.Match[str]) -> errors.LldapError | None:
    if asked.group is None or found["entity"] != str(asked.group):
        return None
    return errors.NotFound(f"there is no group {asked.group}", server_text=found.string)


def _membership_not_found(asked: Asked, found: re.Match[str]) -> errors.LldapError | None:
    if asked.user is None or names.user_key(found["user"]) != names.user_key(asked.user):
        return None
    if found["group"] != str(asked.group):
        return None
    message = f"user {asked.user} is not in group {asked.group}"
    return errors.NotFound(message, server_text=found.string)


def _attribute_not_found(asked: Asked, found: re.Match[str]) -> errors.LldapError | None:
    if asked.attribute is None:
        return None
    if names.attribute_key(found["name"]) != names.attribute_key(asked.attribute):
        return None
    return errors.NotFound(f"there is no attribute {asked.attribute}", server_text=found.string)


def _unknown_attribute(_: Asked, found: re.Match[str]) -> errors.LldapError:
    return errors.UnknownAttribute(found["name"], server_text=found.string)


def _invalid_value(_: Asked, found: re.Match[str]) -> errors.LldapError:
    reason = "lldap does not take its value"
    return errors.InvalidValue(found["name"], reason, server_text=found.string)


def _row(statuses: Container[int], pattern: str, make: _Make, *operations: str) -> Row:
    return Row(statuses, re.compile(pattern, re.DOTALL), make, frozenset(operations) or None)


_RESOLVER = (200,)
_GRAPHQL = (200, 400)  # the paths of /auth answer 400 where GraphQL answers 200
_ANY = range(100, 1000)

_Q = "[`'\"]?"  # some quote or none
_DATABASE = "`?Database (?:transaction )?error: `(?:(?:Execution|Query) Error: )?"
_FROM_DATABASE = _DATABASE + "error returned from database: "

# SQLite gives its result codes, MySQL and MariaDB their error numbers, PostgreSQL words.
_LOCK = (
    r"(?:\(code: (?:5|6|261|517)\)|1213 |1205 |deadlock detected|could not serialize access"
    "|canceling statement due to lock)"
)
_UNIQUE = r"(?:\(code: \d+\) UNIQUE constraint failed|1062 |duplicate key value violates unique)"
_FOREIGN_KEY = (
    r"(?:\(code: \d+\) FOREIGN KEY constraint failed|1452 "
    r"|insert or update on table \S+ violates foreign key)"
)
_UNFIT = "(?:1406 |1366 |value too long for type|invalid byte sequence)"

_OTHER_SCHEMA = (
    "Unknown (?:field|argument|type|directive) "
    r'|Variable "\S+" got invalid value\. (?:In field "\S+": )+Unknown field'
    r'|Variable "\S+" of type "\S+" used in position expecting type '
    r'|Field "\S+" argument "\S+" of type "\S+" is required'
)
_OWN_GUARD = (
    "Cannot (?:delete current user|delete admin group|change lldap_admin group name"
    "|remove admin rights for current user)$"
)

TABLE = (
    # The operator's own account.
    _row((401,), "", _error(errors.LoginRefused, "user name or password is wrong"), LOGIN),
    _row((401,), "", _error(errors.Forbidden, "the operator's account may not do this")),
    _row(
        _RESOLVER,
        r"Unauthorized |Permission denied: Attribute \S* is not editable by regular users",
        _error(errors.Forbidden, "the operator's account may not do this"),
    ),
    # What was asked for is not there.
    _row(
        _GRAPHQL,
        f"`?Entity not found: {_Q}(?P<entity>.*?){_Q}`?$",
        _user_not_found,
        "user",
        REGISTER_START,
    ),
    _row(
        _GRAPHQL,
        f"Entity not found: {_Q}No such user: {_Q}(?P<entity>.*?){_Q}{_Q}$",
        _user_not_found,
        "deleteUser",
    ),
    _row(
        _GRAPHQL,
        f"Entity not found: {_Q}(?P<entity>[0-9]+){_Q}$",
        _group_not_found,
        "group",
    ),
    _row(
        _GRAPHQL,
        f"Entity not found: {_Q}No such group: {_Q}(?P<entity>[0-9]+){_Q}{_Q}$",
        _group_not_found,
        "deleteGroup",
    ),
    _row(
        _GRAPHQL,
        f"Entity not found: {_Q}No such membership: {_Q}(?P<user>.*?){_Q} -> "
        f"(?P<group>[0-9]+){_Q}$",
        _membership_not_found,
        "removeUserFromGroup",
    ),
    _row(
        _GRAPHQL,
        "Database error: `None of the records are updated`",
        _error(errors.NotFound, "what should be updated is not there"),
        "updateUser",
        "updateGroup",
    ),
    _row(
        _GRAPHQL,
        r"Attribute (?P<name>\S*) is not defined in the schema",
        _attribute_not_found,
        "deleteUserAttribute",
        "deleteGroupAttribute",
    ),
    # Attributes and their values.
    _row(_GRAPHQL, r"Attribute (?P<name>\S*) is not defined in the schema", _unknown_attribute),
    _row(
        _GRAPHQL,
        r"Internal error: `\w+ attribute name (?P<name>\S*) doesn't exist in the schema",
        _unknown_attribute,
    ),
    _row(_GRAPHQL, r"While deserializing attribute (?P<name>\S*)$", _invalid_value),
    _row(
        _GRAPHQL,
        "Cannot create attribute with invalid name",
        _error(errors.Rejected, "a name may have letters, digits and dashes only"),
    ),
    _row(
        _GRAPHQL,
        "Email is required when creating a new user",
        _error(errors.Rejected, "a user needs an e-mail"),
    ),
    # lldap's own guards.
    _row(
        _GRAPHQL,
        _OWN_GUARD,
        _error(errors.Refused, "lldap guards the operator's own account and the admin group"),
    ),
    _row(
        _GRAPHQL,
        r"Permission denied: Attribute \S* (?:is read-only|cannot be deleted)",
        _error(errors.Refused, "lldap guards its built-in attributes"),
    ),
    # The databases.
    _row(
        (*_GRAPHQL, 500),
        _FROM_DATABASE + _LOCK,
        _error(errors.Transient, "the database gave up waiting for a lock"),
    ),
    _row(
        (*_GRAPHQL, 500),
        _DATABASE + "Failed to acquire connection",
        _error(errors.Unavailable, "lldap has no connection to its database"),
    ),
    _row(
        (*_GRAPHQL, 500),
        _DATABASE + "error communicating with database",
        _error(errors.OutcomeUnknown, "lldap lost the connection to its database"),
    ),
    _row(
        _GRAPHQL,
        _FROM_DATABASE + _UNIQUE,
        _error(errors.UniqueViolation, "something like it is there already"),
    ),
    _row(
        _GRAPHQL,
        _FROM_DATABASE + _FOREIGN_KEY,
        _error(errors.ForeignKeyViolation, "the user or the group is not there"),
    ),
    _row(
        _GRAPHQL,
        _FROM_DATABASE + _UNFIT,
        _error(errors.Rejected, "the database cannot store the value"),
    ),
    # A server whose schema is another than the one that the documents were made for.
    _row(
        (400,),
        _OTHER_SCHEMA,
        _error(errors.Unsupported, "this lldap lacks what is needed; use 0.6.0 or newer"),
    ),
    _row(
        (400,),
        r'Variable "\S+" (?:got invalid value|of required type)',
        _error(errors.Rejected, "lldap does not take an argument"),
    ),
    # Answers that are no GraphQL, and what no row knows.
    _row(
        (400,),
        "Bad request: |Json deserialize error: ",
        _error(errors.Rejected, "lldap does not take the request"),
    ),
    _row((429,), "", _error(errors.Unavailable, "too many requests (HTTP 429)")),
    _row(
        range(300, 400),
        "",
        _error(errors.BadAnswer, "a redirect; the URL of lldap must be its final address"),
    ),
    _row((404, 405), "", _error(errors.BadAnswer, "lldap is not at this URL (HTTP 404)")),
    _row(range(500, 600), "", _error(errors.BadAnswer, "a server error (HTTP 5xx)")),
    _row((200, 400), "", _error(errors.Unclassified, "an error that is not known")),
    _row(_ANY, "", _error(errors.BadAnswer, "no answer of lldap")),
)
