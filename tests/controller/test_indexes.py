"""Under what an object is found, whatever stands in it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.api import (
    INSTANCE_LABEL,
    KINDS,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    Kind,
)
from controller.harness.resource import Object
from controller.watching.indexes import attribute_claim, indexes, on_other_target, pair


def found_under(kind: Kind, spec: Any, label: str = "default") -> dict[str, list[str]]:
    obj: Object = {
        "metadata": {"namespace": "a", "name": "x", "labels": {INSTANCE_LABEL: label}},
        "spec": spec,
    }
    return {name: list(of(obj)) for name, of in indexes(kind, "default").items()}


def test_a_user_is_found_by_its_id_its_secret_and_its_attributes() -> None:
    spec = {
        "username": "Alice.Smith",
        "passwordSecretRef": {"name": "s", "key": "k"},
        "attributes": [{"name": "costCenter"}, {"name": "Phone"}],
    }
    assert found_under(LLDAP_USER, spec) == {
        "target": ["alice.smith"],
        "secret": ["a/s"],
        "attribute": ["User/costcenter", "User/phone"],
        "email": [],
    }


@pytest.mark.parametrize(
    ("status", "found"),
    [
        ({"conditions": [{"type": "Ready", "reason": "EmailConflict"}]}, ["ärzte@example.org"]),
        ({"conditions": [{"type": "Other", "reason": "EmailConflict"}]}, []),
        ({"conditions": [{"type": "Ready", "reason": "Verified"}]}, []),
        ({"conditions": ["odd", None, {}]}, []),
        ({"conditions": "odd"}, []),
        ({}, []),
        ("odd", []),
        (None, []),
    ],
)
def test_a_user_that_waits_for_an_email_is_found_by_it(status: Any, found: list[str]) -> None:
    metadata = {"namespace": "a", "name": "x", "labels": {INSTANCE_LABEL: "default"}}
    for email, expected in (("ÄRZTE@example.org", found), (7, []), (None, [])):
        obj = {"metadata": metadata, "spec": {"email": email}, "status": status}
        assert list(indexes(LLDAP_USER, "default")["email"](obj)) == expected


def test_ids_are_folded_as_ascii_and_group_names_as_unicode() -> None:
    assert found_under(LLDAP_USER, {"username": "ÄNNE"})["target"] == ["Änne"]
    assert found_under(LLDAP_GROUP, {"displayName": "ÄRZTE"})["target"] == ["ärzte"]


def test_a_group_has_no_secret() -> None:
    spec = {"displayName": "Team", "attributes": [{"name": "Phone"}]}
    assert found_under(LLDAP_GROUP, spec) == {"target": ["team"], "attribute": ["Group/phone"]}


def test_a_membership_is_found_by_its_ends_and_its_pair() -> None:
    spec = {"userName": "Alice", "groupName": "Team"}
    assert found_under(LLDAP_MEMBERSHIP, spec) == {
        "target": [pair("alice", "team")],
        "user": ["alice"],
        "group": ["team"],
    }


def test_a_schema_is_found_by_what_it_declares() -> None:
    spec = {"attributeName": "Phone", "target": "Group"}
    assert found_under(LLDAP_ATTRIBUTE_SCHEMA, spec) == {"target": ["Group/phone"]}


@pytest.mark.parametrize(
    ("policy", "expected"), [("Manage", ["a/s"]), ("InitialOnly", ["a/s"]), ("Ignore", [])]
)
def test_a_password_that_is_nobodys_business_has_no_secret(
    policy: str, expected: list[str]
) -> None:
    spec = {"username": "a", "passwordPolicy": policy, "passwordSecretRef": {"name": "s"}}
    assert found_under(LLDAP_USER, spec)["secret"] == expected


def test_the_same_attribute_of_the_other_target() -> None:
    assert on_other_target(attribute_claim("User", "Phone")) == "Group/phone"
    assert on_other_target("Group/phone") == "User/phone"


@pytest.mark.parametrize("kind", KINDS)
def test_objects_of_other_instances_are_in_no_index(kind: Kind) -> None:
    spec = {
        "username": "a",
        "displayName": "a",
        "userName": "a",
        "groupName": "a",
        "attributeName": "a",
        "target": "User",
    }
    assert not any(found_under(kind, spec, label="other").values())
    assert any(found_under(kind, spec).values())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "key", "value"]), inner, max_size=3)
    ),
    max_leaves=5,
)
FIELDS = [
    "username",
    "displayName",
    "userName",
    "groupName",
    "attributeName",
    "target",
    "attributes",
    "passwordSecretRef",
    "passwordPolicy",
]


@given(st.sampled_from(KINDS), VALUES | st.dictionaries(st.sampled_from(FIELDS), VALUES))
def test_an_object_that_breaks_its_crd_is_found_under_texts_or_not_at_all(
    kind: Kind, spec: Any
) -> None:
    """They run under the store's lock: one that raised would end the informer."""
    for values in found_under(kind, spec).values():
        assert all(isinstance(value, str) for value in values)


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_of_nothing_but_metadata_is_found_nowhere(kind: Kind) -> None:
    objects: list[Object] = [{"metadata": {}}, {"metadata": {"labels": None}}]
    for obj in objects:
        assert not any(list(of(obj)) for of in indexes(kind, "default").values())
