"""An account is created whole, and changed only where it differs."""

from typing import Any

import pytest

from controller.api import MARK_ATTRIBUTE
from tests.support.accounts import (
    account,
    attributes,
    calls_of,
    has_account,
    refused,
    seen_before,
    sent_users,
    settled_user,
    status,
    touching,
    with_password,
)
from tests.support.bed import Bed
from tests.support.directory import Directory

# --- creation ------------------------------------------------------------------------------


def test_one_call_creates_the_account_with_its_fields_attributes_and_mark(bed: Bed) -> None:
    bed.schema("department")
    bed.settle()
    bed.clear_logs()
    made = bed.user(
        "alice",
        email="Al@Example.org",
        displayName="Al",
        firstName="A",
        lastName="B",
        attributes=attributes(department=["it"]),
    )
    bed.settle()
    (sent,) = sent_users(bed, "createUser")
    assert sent["attributes"] == [
        {"name": "department", "value": ["it"]},
        {
            "name": MARK_ATTRIBUTE,
            "value": [f"created cluster-1 default team-a/alice {made['metadata']['uid']}"],
        },
    ]
    assert bed.mutations() == ["createUser"]
    assert account(bed) == {
        "user_id": "alice",
        "mail": "Al@Example.org",
        "display_name": "Al",
        "first_name": ["A"],
        "last_name": ["B"],
        "department": ["it"],
    }


def test_creation_needs_three_calls_finalizer_createuser_and_status(bed: Bed) -> None:
    bed.group("first")  # so that the mark's attribute is there
    bed.settle()
    bed.clear_logs()
    bed.user("alice", displayName="Al")
    bed.settle()
    assert touching(bed) == [("PATCH", ""), ("PATCH", "/status")]
    assert bed.operations() == ["createUser"]


def test_the_status_says_whose_account_it_is(bed: Bed) -> None:
    bed.user("alice", username="Alice", displayName="Al")
    bed.settle()
    found = status(bed)
    directory = Directory(bed)
    assert found["userId"] == "alice"
    assert found["uuid"] == directory.uuid("alice")
    assert found["server"] == directory.group_uuid("lldap_admin")
    assert found["instance"] == "default"
    assert found["origin"] == "Created"
    assert found["managed"] == ["displayName", "email"]
    assert found["observedGeneration"] == 1
    assert bed.events.reasons() == ["Created"]


def test_A02_a_user_id_is_folded_in_ascii_only_and_is_stable(bed: Bed) -> None:
    bed.user("alice", username="Alice.Smith")
    bed.settle()
    bed.clear_logs()
    bed.user("rival", username="alice.smith")
    bed.run(1300, step=100)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert bed.ready("LldapUser", "rival") == ("False", "Conflict")
    assert bed.mutations() == []
    assert has_account(bed, "alice.smith")


@pytest.mark.parametrize("field", ["displayName", "firstName", "lastName"])
@pytest.mark.parametrize("empty", ["", None])
def test_A07_an_empty_or_null_field_is_an_absent_one(
    bed: Bed, field: str, empty: str | None
) -> None:
    for value in ("Al", empty):
        spec: dict[str, Any] = {field: value}
        settled_user(bed, policy="Ignore", **spec)
    assert account(bed) == {"user_id": "alice", "mail": "alice@example.org"}
    bed.run(1300, step=100)
    assert bed.mutations() == []


@pytest.mark.parametrize("field", ["displayName", "firstName", "lastName"])
def test_A07_an_empty_field_creates_an_account_without_it(bed: Bed, field: str) -> None:
    settled_user(bed, policy="Ignore", **{field: ""})
    assert account(bed) == {"user_id": "alice", "mail": "alice@example.org"}
    bed.run(1300, step=100)
    assert bed.mutations() == []


# --- changes -------------------------------------------------------------------------------


def test_an_update_sends_the_difference_alone(bed: Bed) -> None:
    settled_user(bed, policy="Ignore", displayName="Al", firstName="A", lastName="B")
    bed.user("alice", displayName="Al", firstName="Ann", lastName="B")
    bed.settle()
    assert sent_users(bed, "updateUser") == [{"id": "alice", "firstName": "Ann"}]
    assert bed.mutations() == ["updateUser"]
    assert bed.events.seen == [
        ("LldapUser alice", "Normal", "Updated", "user alice: set firstName")
    ]


def test_A08_what_is_dropped_from_the_spec_is_cleared_in_one_call(bed: Bed) -> None:
    bed.schema("department")
    bed.settle()
    everything: dict[str, Any] = {
        "displayName": "Alice",
        "firstName": "Al",
        "attributes": attributes(department=["it"]),
    }
    settled_user(bed, policy="Ignore", **everything)
    bed.user("alice")
    bed.settle()
    assert bed.mutations() == ["updateUser"]
    assert account(bed) == {"user_id": "alice", "mail": "alice@example.org"}
    assert status(bed)["managed"] == ["email"]
    assert touching(bed) == [("PATCH", "/status")]


def test_what_others_set_stays(bed: Bed) -> None:
    directory = Directory(bed)
    directory.make_attribute("phone")
    settled_user(bed, policy="Ignore", displayName="Al")
    with bed.lldap.database() as store:
        users = store.state.users
        found = {"phone": ["112"], "last_name": ["Theirs"]}
        store.update(users, "alice", columns={}, remove=[], insert=found)
    bed.run(1300, step=100)
    bed.user("alice", displayName="Ann")
    bed.settle()
    bed.user("alice")
    bed.settle()
    assert account(bed) == {
        "user_id": "alice",
        "mail": "alice@example.org",
        "phone": ["112"],
        "last_name": ["Theirs"],
    }


def test_a_field_that_was_never_declared_is_never_touched(bed: Bed) -> None:
    Directory(bed).make_user("alice")
    bed.run(1300, step=100)  # the mirror has it
    bed.user("alice", email="alice@by-hand.example")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed)["display_name"] == "alice's name"


def test_names_that_an_update_adds_are_recorded_before_they_are_applied(bed: Bed) -> None:
    settled_user(bed, policy="Ignore", displayName="Al")
    bed.user("alice", displayName="Ann", firstName="A")
    recorded: list[object] = []
    look = seen_before("updateUser", lambda: recorded.append(status(bed)["managed"]))
    bed.lldap.hooks.append(look)
    bed.settle()
    assert recorded == [["displayName", "email", "firstName"]]
    assert touching(bed) == [("PATCH", "/status"), ("PATCH", "/status")]


@pytest.mark.parametrize(
    "changed",
    [{"displayName": "Ann"}, {"email": "new@example.org", "displayName": "Al"}, {}],
    ids=["another value", "another e-mail", "a name less"],
)
def test_an_update_without_new_names_writes_one_status(bed: Bed, changed: dict[str, str]) -> None:
    settled_user(bed, policy="Ignore", displayName="Al")
    bed.user("alice", **changed)
    bed.settle()
    assert bed.mutations() == ["updateUser"]
    assert touching(bed) == [("PATCH", "/status")]


def test_a_custom_attribute_called_email_is_not_the_field(bed: Bed) -> None:
    bed.schema("email")
    bed.settle()
    settled_user(bed, policy="Ignore", attributes=attributes(email=["second@example.org"]))
    assert account(bed)["email"] == ["second@example.org"]
    assert status(bed)["managed"] == ["attributes.email", "email"]
    bed.user("alice")
    bed.settle()
    assert "email" not in account(bed)
    assert status(bed)["managed"] == ["email"]


# --- e-mail --------------------------------------------------------------------------------


def test_the_case_of_an_email_is_changed_by_one_update(bed: Bed) -> None:
    settled_user(bed, policy="Ignore", email="alice@example.org")
    bed.user("alice", email="Alice@Example.org")
    bed.run(1300, step=100)
    assert bed.mutations() == ["updateUser"]
    assert account(bed)["mail"] == "Alice@Example.org"
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_A15_an_email_is_unique_in_any_letter_case(bed: Bed) -> None:
    settled_user(bed, "first", policy="Ignore", email="team@example.test")
    bed.secret("pw", b"a password of second")
    with_password(bed, "second", email="Team@Example.test")
    bed.run(60)
    assert bed.ready("LldapUser", "second") == ("False", "EmailConflict")
    assert "user first" in bed.message("LldapUser", "second")
    assert "/auth/opaque/register/start" not in bed.operations()
    assert len(calls_of(bed, "createUser")) < 20  # with back-off
    with_password(bed, "second", email="second@example.test")
    bed.settle()
    assert bed.ready("LldapUser", "second") == ("True", "Verified")
    assert bed.login("second", "a password of second") == 200


def test_A15_an_update_to_a_taken_email_is_an_email_conflict_too(bed: Bed) -> None:
    settled_user(bed, "first", policy="Ignore", email="team@example.test")
    settled_user(bed, "second", policy="Ignore")
    bed.user("second", email="TEAM@example.test", displayName="Second")
    bed.settle()
    assert bed.ready("LldapUser", "second") == ("False", "EmailConflict")
    assert account(bed, "second") == {"user_id": "second", "mail": "second@example.org"}
    with bed.lldap.database() as store:
        store.delete_user("first")
    bed.run(310, step=10)
    assert bed.ready("LldapUser", "second") == ("True", "Verified")
    assert account(bed, "second")["mail"] == "TEAM@example.test"


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
@pytest.mark.parametrize("way", ["another e-mail", "deleted", "deleted by hand, then looked at"])
def test_A15_who_waits_for_an_email_has_it_as_soon_as_it_is_free(
    bed: Bed, way: str, there: bool
) -> None:
    settled_user(bed, "first", policy="Ignore", email="Ärzte@example.test")
    if there:
        settled_user(bed, "second", policy="Ignore")
    bed.user("second", email="ÄRZTE@example.test")
    bed.run(340, step=30)  # its back-off is minutes by now
    assert bed.ready("LldapUser", "second") == ("False", "EmailConflict")
    if way == "another e-mail":
        bed.user("first", email="first@example.test")
    elif way == "deleted":
        bed.delete("LldapUser", "first")
    else:
        with bed.lldap.database() as store:
            store.delete_user("first")
        bed.user("first", email="first@example.test")
    bed.run(2)
    assert bed.ready("LldapUser", "second") == ("True", "Verified")
    assert account(bed, "second")["mail"] == "ÄRZTE@example.test"


def test_a_refusal_of_another_email_makes_no_work(bed: Bed) -> None:
    for name in ("first", "other"):
        settled_user(bed, name, policy="Ignore", email=f"{name}@example.test")
    bed.user("second", email="first@example.test")
    bed.run(340, step=30)
    bed.clear_logs()
    bed.user("other", email="third@example.test")
    bed.run(2)
    assert len(bed.mutations()) == 1
    assert bed.ready("LldapUser", "second") == ("False", "EmailConflict")


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_what_the_database_alone_takes_for_equal_is_a_conflict_and_no_retry(
    bed: Bed, there: bool
) -> None:
    """Databases fold letters that lldap does not: no equal name is found."""
    if there:
        settled_user(bed, policy="Ignore")
    text = "Database error: `Execution Error: error returned from database: (code: 2067) "
    text += "UNIQUE constraint failed: users.lowercase_email`"
    bed.lldap.hooks.append(refused("updateUser" if there else "createUser", text))
    bed.user("alice", email="straße@example.org")
    bed.run(60)
    assert bed.ready("LldapUser", "alice") == ("False", "Conflict")
    assert len(bed.mutations()) <= 3  # two of them made the mark's attribute
