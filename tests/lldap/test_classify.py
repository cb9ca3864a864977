"""The table of errors, against all recorded answers and the variants of the field cases."""

from collections.abc import Iterator

import pytest

from lldap import (
    Answer,
    BadAnswer,
    Conflict,
    Forbidden,
    ForeignKeyViolation,
    InvalidValue,
    LldapError,
    LoginRefused,
    NotFound,
    OutcomeUnknown,
    Refused,
    Rejected,
    Transient,
    Unavailable,
    Unclassified,
    UniqueViolation,
    UnknownAttribute,
    Unsupported,
)
from lldap.classify import LOGIN, REGISTER_START, TABLE, Asked, graphql_error, http_error
from lldap.graphql import Document, Request, data_of
from tests.lldap.recordings import DATABASES, Exchange, exchanges

EXPECTED: dict[str, type[LldapError]] = {
    "login wrong password": LoginRefused,
    "login unknown user": LoginRefused,
    "login malformed JSON": Rejected,
    "refresh bad token": Forbidden,
    "graphql without token": Forbidden,
    "graphql with a bad token": Forbidden,
    "graphql malformed JSON": BadAnswer,
    "graphql syntax error": Unclassified,
    "graphql unknown field": Unsupported,
    "createUser again": UniqueViolation,
    "createUser same name other case": UniqueViolation,
    "createUser same email": UniqueViolation,
    "createUser same email other case": UniqueViolation,
    "createUser without email": Rejected,
    "createUser empty email": UniqueViolation,
    "createUser unknown attribute": UnknownAttribute,
    "user missing": NotFound,
    "addUserAttribute again": UniqueViolation,
    "addUserAttribute again other type": UniqueViolation,
    "addUserAttribute other case": UniqueViolation,
    "addUserAttribute bad name": Rejected,
    "addUserAttribute underscore name": Rejected,
    "addGroupAttribute display_name": Rejected,
    "deleteUserAttribute missing": NotFound,
    "updateUser integer not a number": InvalidValue,
    "updateUser integer overflow": InvalidValue,
    "updateUser two values to a single": InvalidValue,
    "updateUser empty value list single": InvalidValue,
    "updateUser unknown attribute": UnknownAttribute,
    "updateUser remove unknown attribute": UnknownAttribute,
    "updateUser date bad": InvalidValue,
    "updateUser photo not a jpeg": InvalidValue,
    "updateUser photo not base64": InvalidValue,
    "updateUser email taken": UniqueViolation,
    "updateUser missing user": NotFound,
    "createGroupWithDetails again": UniqueViolation,
    "createGroupWithDetails other case": UniqueViolation,
    "createGroupWithDetails built-in name": UniqueViolation,
    "createGroupWithDetails unknown attribute": UnknownAttribute,
    "updateGroup rename to taken": UniqueViolation,
    "updateGroup missing": NotFound,
    "updateGroup built-in rename": Refused,
    "group missing": NotFound,
    "addUserToGroup again": UniqueViolation,
    "addUserToGroup upper case": UniqueViolation,
    "addUserToGroup missing user": ForeignKeyViolation,
    "addUserToGroup missing group": ForeignKeyViolation,
    "removeUserFromGroup again": NotFound,
    "removeUserFromGroup missing user": NotFound,
    "removeUserFromGroup missing group": NotFound,
    "removeUserFromGroup self admin from admin": Refused,
    "admin restored": UniqueViolation,
    "register missing user: start": NotFound,
    "register broken upload: finish": Rejected,
    "register start without token": Forbidden,
    "register start bad base64": Rejected,
    "register start not a group element": Rejected,
    "createUser as a plain user": Forbidden,
    "plain user registers for admin: start": Forbidden,
    "batch with a failure in the middle": UniqueViolation,
    "batch of reads with a failure": Unclassified,
    "batch of adds with a failure": ForeignKeyViolation,
    "deleteUser again": NotFound,
    "deleteUser self": Refused,
    "deleteGroup again": NotFound,
    "deleteGroup built-in 1": Refused,
    "graphql after logout": Forbidden,
}
"""Every recorded answer that is an error; all others are none. One differs on MariaDB."""


def outcome(one: Exchange) -> type[LldapError] | None:
    try:
        if one.path == "/api/graphql":
            data_of(Request(Document("recorded", ""), {}, one.asked), one.answer)
        elif one.status != 200:
            raise http_error(one.asked, one.answer)
    except LldapError as error:
        return type(error)
    return None


@pytest.mark.parametrize("database", DATABASES)
def test_all_recorded_answers_are_classified(database: str) -> None:
    recorded = exchanges(database)
    found = {one.case: outcome(one) for one in recorded}
    expected = {one.case: EXPECTED.get(one.case) for one in recorded}
    if database == "mariadb":
        expected["batch of adds with a failure"] = Transient  # a deadlock next to the other error
    assert found == expected
    assert len(recorded) == 150
    assert EXPECTED.keys() <= found.keys()


BOB = Asked("user", user="bob")
DELETE_BOB = Asked("deleteUser", user="bob")
GROUP_7 = Asked("group", group=7)


ABSENT = [
    (BOB, 200, "Entity not found: `bob`"),
    (Asked("user", user="BOB"), 200, "Entity not found: `bob`"),
    (BOB, 200, 'Entity not found: "bob"'),
    (BOB, 200, "Entity not found: bob"),
    (BOB, 400, "Entity not found: `bob`"),
    (DELETE_BOB, 200, "Entity not found: `No such user: 'bob'`"),
    (DELETE_BOB, 200, 'Entity not found: "No such user: "bob""'),
    (GROUP_7, 200, "Entity not found: `7`"),
    (Asked("deleteGroup", group=7), 200, "Entity not found: `No such group: '7'`"),
]


@pytest.mark.parametrize(("asked", "status", "text"), ABSENT)
def test_C01_what_was_asked_for_is_absent_in_the_known_words(
    asked: Asked, status: int, text: str
) -> None:
    error = graphql_error(asked, status, [text])
    assert type(error) is NotFound
    assert error.server_text == text


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (BOB, "Entity not found: `alice`"),
        (BOB, "Entity not found: `No such user: 'bob'`"),
        (BOB, "user bob not found"),
        (BOB, "Not found"),
        (BOB, "Entität nicht gefunden: `bob`"),
        (BOB, "Attribute bob not found"),
        (BOB, "Database error: `Entity not found: `bob``"),
        (DELETE_BOB, "Entity not found: `bob`"),
        (DELETE_BOB, "Entity not found: `No such user: 'bobby'`"),
        (DELETE_BOB, "No such user"),
        (GROUP_7, "Entity not found: `77`"),
        (GROUP_7, "Entity not found: `bob`"),
        (Asked("createUser", user="bob"), "Entity not found: `bob`"),
        (Asked("updateUser", user="bob"), "Entity not found: `bob`"),
        (Asked("user", user="bob"), "Database error: `None of the records are updated`"),
        (
            Asked("removeUserFromGroup", user="bob", group=7),
            "Entity not found: `No such membership: 'bob' -> 8`",
        ),
        (
            Asked("removeUserFromGroup", user="bob", group=7),
            "Entity not found: `No such membership: 'al' -> 7`",
        ),
    ],
)
def test_C01_other_words_or_another_thing_are_to_be_tried_again_and_never_absent(
    asked: Asked, text: str
) -> None:
    assert type(graphql_error(asked, 200, [text])) is Unclassified


def test_C01_a_missing_attribute_is_not_a_missing_user() -> None:
    text = "Attribute nosuch is not defined in the schema"
    error = graphql_error(Asked("updateUser", user="nosuch"), 200, [text])
    assert type(error) is UnknownAttribute
    other = Asked("deleteUserAttribute", attribute="other")
    assert type(graphql_error(other, 200, [text])) is UnknownAttribute


def test_C01_an_attribute_that_was_to_be_deleted_is_absent_in_any_letter_case() -> None:
    text = "Attribute nosuch is not defined in the schema"
    asked = Asked("deleteGroupAttribute", attribute="NoSuch")
    assert type(graphql_error(asked, 200, [text])) is NotFound


DATABASE_ERROR = "Database error: `Execution Error: error returned from database: "
DATABASE_TEXTS = [
    (f"{DATABASE_ERROR}(code: 5) database is locked`", Transient),
    (f"{DATABASE_ERROR}(code: 6) database table is locked`", Transient),
    (f"{DATABASE_ERROR}(code: 517) database is locked`", Transient),
    (f"{DATABASE_ERROR}deadlock detected`", Transient),
    (f"{DATABASE_ERROR}could not serialize access due to concurrent update`", Transient),
    (f"{DATABASE_ERROR}1213 (40001): Deadlock found when trying to get lock`", Transient),
    (f"{DATABASE_ERROR}1205 (HY000): Lock wait timeout exceeded`", Transient),
    ("Database error: `Failed to acquire connection from pool: x`", Unavailable),
    (
        "Database error: `Query Error: error communicating with database: broken pipe`",
        OutcomeUnknown,
    ),
    (f"{DATABASE_ERROR}value too long for type character varying(255)`", Rejected),
    (f"{DATABASE_ERROR}1406 (22001): Data too long for column 'email' at row 1`", Rejected),
    (f"{DATABASE_ERROR}(code: 8) attempt to write a readonly database`", Unclassified),
]


@pytest.mark.parametrize(("text", "kind"), DATABASE_TEXTS)
def test_C04_errors_of_the_databases(text: str, kind: type[LldapError]) -> None:
    assert type(graphql_error(Asked("createUser", user="bob"), 200, [text])) is kind


def test_what_people_wrote_into_a_value_does_not_decide() -> None:
    entry = "1062 (23000): Duplicate entry 'database is locked' for key 'display_name'"
    error = graphql_error(Asked("createGroupWithDetails"), 200, [f"{DATABASE_ERROR}{entry}`"])
    assert type(error) is UniqueViolation


BUILT_IN = [
    "Permission denied: Attribute uuid is read-only",
    "Permission denied: Attribute mail cannot be deleted",
]


@pytest.mark.parametrize("text", BUILT_IN)
def test_A13_lldap_guards_its_built_in_attributes(text: str) -> None:
    assert type(graphql_error(BOB, 200, [text])) is Refused


def test_B11_an_attribute_that_only_admins_may_set_is_forbidden_to_others() -> None:
    text = "Permission denied: Attribute kubernetes-owner is not editable by regular users"
    assert type(graphql_error(BOB, 200, [text])) is Forbidden


def test_of_several_errors_the_least_final_counts() -> None:
    asked = Asked("addUserToGroup", user="bob", group=7)
    deadlock = f"{DATABASE_ERROR}1213 (40001): Deadlock found`"
    missing = f"{DATABASE_ERROR}(code: 787) FOREIGN KEY constraint failed`"
    assert type(graphql_error(asked, 200, [missing, deadlock])) is Transient
    assert type(graphql_error(BOB, 200, ["Entity not found: `bob`", "odd"])) is Unclassified


OTHER_SCHEMA = [
    'Unknown field "createGroupWithDetails" on type "Mutation"',
    'Unknown field "attributes" on type "User"',
    'Unknown argument "user" on field "createUser" of type "Mutation"',
    'Unknown type "CreateGroupInput"',
    'Variable "$user" got invalid value. In field "insertAttributes": Unknown field.',
    'Variable "user" of type "X!" used in position expecting type "UpdateUserInput!"',
]
NO_INT = 'Variable "$groupId" got invalid value. Expected input scalar `Int`. Got: `9999999999`.'


@pytest.mark.parametrize("text", OTHER_SCHEMA)
def test_a_server_with_another_schema_is_unsupported(text: str) -> None:
    error = graphql_error(Asked("createGroupWithDetails"), 400, ["something odd", text])
    assert type(error) is Unsupported
    assert "0.6.0" in str(error)


def test_an_argument_that_is_none_of_the_type_is_rejected() -> None:
    assert type(graphql_error(Asked("group", group=9999999999), 400, [NO_INT])) is Rejected


STATUSES = [
    (302, BadAnswer),
    (403, BadAnswer),
    (404, BadAnswer),
    (413, BadAnswer),
    (418, BadAnswer),
    (429, Unavailable),
    (500, BadAnswer),
    (502, BadAnswer),
    (503, BadAnswer),
]


@pytest.mark.parametrize(("status", "kind"), STATUSES)
def test_an_http_status_says_nothing_about_data(status: int, kind: type[LldapError]) -> None:
    error = http_error(BOB, Answer(status, "text/html", b"<html>Entity not found: `bob`</html>"))
    assert type(error) is kind
    assert isinstance(error, Unavailable)
    assert error.server_text == ""


def test_C04_a_lock_error_on_the_paths_of_auth_is_transient() -> None:
    body = f"`{DATABASE_ERROR}(code: 5) database is locked``".encode()
    error = http_error(Asked("/auth/opaque/register/finish"), Answer(500, "", body))
    assert type(error) is Transient


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"error_code": "opaque_v07_version"}', "opaque_v07_version"),
        (b'{"error_code": 7}', None),
        (b"[]", None),
        (b"no JSON", None),
    ],
)
def test_409_is_a_conflict_with_the_servers_code(body: bytes, code: str | None) -> None:
    error = http_error(Asked("/auth/opaque/login/start"), Answer(409, "application/json", body))
    assert isinstance(error, Conflict)
    assert error.error_code == code


def test_nothing_of_a_body_that_is_no_graphql_is_kept() -> None:
    asked = Asked(REGISTER_START, user="bob")
    for status in (400, 401, 404, 500):
        error = http_error(asked, Answer(status, "text/plain", b"S3cr3t-CANARY"))
        assert "CANARY" not in f"{error}{error!r}{error.server_text}{error.args}"


def test_a_refused_login_is_not_a_missing_permission() -> None:
    assert type(http_error(Asked(LOGIN), Answer(401, "", b""))) is LoginRefused
    assert type(http_error(BOB, Answer(401, "", b"Invalid JWT"))) is Forbidden


def recorded_texts() -> Iterator[tuple[Asked, int, str]]:
    for database in DATABASES:
        for one in exchanges(database):
            if isinstance(one.answered, dict):
                for error in one.answered.get("errors", []):
                    yield one.asked, one.status, error["message"]
            else:
                yield one.asked, one.status, one.answered


def test_every_row_of_the_table_decides_something() -> None:
    texts = [
        *recorded_texts(),
        *ABSENT,
        *((BOB, 200, text) for text, _ in DATABASE_TEXTS),
        *((BOB, 200, text) for text in BUILT_IN),
        *((BOB, 400, text) for text in OTHER_SCHEMA),
        (GROUP_7, 400, NO_INT),
        *((BOB, status, "") for status, _ in STATUSES),
    ]
    deciding = {
        next(number for number, row in enumerate(TABLE) if row.error(*text)) for text in texts
    }
    assert deciding == set(range(len(TABLE)))
