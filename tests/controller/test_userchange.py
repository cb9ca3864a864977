"""What differs, what an object owns, and what may be taken for ours without a record."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.api import MARK_ATTRIBUTE, UserSpec
from controller.reconcilers.attributes import Wanted
from controller.reconcilers.userchange import (
    PASS_SECONDS,
    UserChange,
    declared_names,
    is_as_created,
    live_names,
    managed_names,
    password_name,
    user_change,
)
from lldap import AttributeSchema, AttributeType, User

CREATED = "2030-01-01T00:00:00.5+00:00"
TEXT = AttributeSchema("text", AttributeType.STRING)


def spec(**fields: object) -> UserSpec:
    whole = {"username": "al", "email": "al@example.org", "passwordPolicy": "Ignore", **fields}
    return UserSpec.parse({"spec": whole})


def user(**changed: object) -> User:
    plain = User("al", "al@example.org", "", "", "", "uuid", CREATED)
    return dataclasses.replace(plain, **changed)  # type: ignore[arg-type]


def dated(modified: str, password: str = CREATED) -> User:
    dates = {"modified_date": (modified,), "password_modified_date": (password,)}
    return user(attributes=dates)


def test_no_difference_is_no_change() -> None:
    change = user_change(spec(), Wanted(), user(), frozenset())
    assert not change
    assert change.words() == []


def test_a_field_is_compared_by_its_exact_text() -> None:
    change = user_change(spec(displayName="al "), Wanted(), user(display_name="al"), frozenset())
    assert change == UserChange({"display_name": "al "})
    assert change.words() == ["set displayName"]


def test_what_was_ours_and_is_declared_no_more_is_cleared() -> None:
    managed = frozenset({"email", "firstName", "text", "gone", "attributes.email"})
    live = {"text": ("a",), "email": ("e",), "theirs": ("x",)}
    found = user(first_name="A", last_name="B", attributes=live)
    change = user_change(spec(), Wanted(), found, managed)
    assert change == UserChange({"first_name": ""}, {}, ("email", "text"))


def test_what_waits_for_its_schema_is_not_removed() -> None:
    wanted = Wanted(missing=("text",))
    found = user(attributes={"text": ("a",)})
    assert not user_change(spec(), wanted, found, frozenset({"text"}))


def test_what_is_declared_empty_is_removed_whoever_set_it() -> None:
    wanted = Wanted(cleared=frozenset({"text"}))
    found = user(attributes={"text": ("a",)})
    assert user_change(spec(), wanted, found, frozenset()) == UserChange(remove=("text",))


def test_an_object_owns_what_it_declares() -> None:
    wanted = Wanted({"text": ("a",), "email": ("e",)}, frozenset({"b"}), (), {"text": TEXT})
    declared = declared_names(spec(displayName="", firstName=None), wanted)
    assert declared == {"email", "displayName", "text", "attributes.email", "b"}


def test_the_password_is_owned_unless_it_is_ignored() -> None:
    reference = {"name": "pw", "key": "password"}
    manage = spec(passwordPolicy="Manage", passwordSecretRef=reference)
    assert password_name(manage) == {"passwordSecretRef"}
    assert password_name(spec()) == frozenset()


@given(st.frozensets(st.sampled_from(["email", "text", "displayname", "a-b", "passwordsecretref"])))
def test_names_of_attributes_are_told_from_fields_and_back(names: frozenset[str]) -> None:
    managed = managed_names(names) | {"email", "displayName", "passwordSecretRef"}
    live = dict.fromkeys(("email", "text", "displayname", "a-b", "passwordsecretref"), ("x",))
    change = user_change(spec(displayName=""), Wanted(), user(attributes=live), managed)
    assert change.remove == tuple(sorted(names))


def test_all_that_an_account_has_is_what_can_be_set() -> None:
    found = user(
        first_name="A",
        attributes={
            "first_name": ("A",),
            "mail": ("al@example.org",),
            "uuid": ("u",),
            "avatar": ("photo",),
            "text": ("a",),
            "email": ("e",),
            MARK_ATTRIBUTE: ("mark",),
        },
    )
    assert live_names(found) == {"firstName", "avatar", "text", "attributes.email"}


@pytest.mark.parametrize(
    ("account", "as_created"),
    [
        (dated(CREATED), True),
        (dated("2030-01-01T00:00:09.1+00:00", "2030-01-01T00:00:09.1+00:00"), True),
        (dated("2030-01-01T00:00:09.1+00:00"), False),
        (dated("2030-01-01T00:01:00+00:00", "2030-01-01T00:01:00+00:00"), False),
        (dated("2030-01-01T00:00:09.2+00:00", "2030-01-01T00:00:09.1+00:00"), False),
        (user(), False),  # this lldap does not tell
    ],
)
def test_an_account_is_as_created_when_only_our_own_password_came_after(
    account: User, as_created: bool
) -> None:
    assert PASS_SECONDS < 60
    assert is_as_created(account) is as_created
