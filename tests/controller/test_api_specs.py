"""Reading specs: null is absent, defaults are filled in, nonsense is an InvalidSpec."""

import copy
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.api import (
    KINDS,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    AttributeSchemaSpec,
    AttributeType,
    DeletionPolicy,
    GroupSpec,
    InvalidSpec,
    Kind,
    MembershipSpec,
    PasswordPolicy,
    SecretKey,
    Target,
    UserSpec,
)
from controller.api.fields import Array, Boolean, Field, Integer, Object, String, Type
from controller.api.reading import read_object
from tests.controller.crd_samples import PARSERS, SPECS, attributes, case_id, changed

WHOLE_USER = {
    "username": "Alice",
    "email": "alice@example.org",
    "displayName": "Alice",
    "firstName": "",
    "lastName": None,
    "attributes": [{"name": "costCenter", "value": ["1", "2"]}, {"name": "avatar", "value": []}],
    "passwordSecretRef": {"name": "passwords", "key": "alice"},
    "deletionPolicy": "Retain",
}


def test_a_user_is_read() -> None:
    assert UserSpec.parse({"spec": WHOLE_USER}) == UserSpec(
        username="Alice",
        email="alice@example.org",
        display_name="Alice",
        first_name="",
        last_name=None,
        attributes={"costcenter": ("1", "2"), "avatar": ()},
        password_policy=PasswordPolicy.MANAGE,
        password_secret=SecretKey("passwords", "alice"),
        deletion_policy=DeletionPolicy.RETAIN,
    )


def test_a_group_is_read() -> None:
    assert GroupSpec.parse({"spec": SPECS[LLDAP_GROUP] | {"attributes": None}}) == GroupSpec(
        display_name="Engineers", attributes={}, deletion_policy=None
    )


def test_a_membership_is_read() -> None:
    spec = SPECS[LLDAP_MEMBERSHIP] | {"deletionPolicy": "Delete"}
    assert MembershipSpec.parse({"spec": spec}) == MembershipSpec(
        user_name="alice", group_name="Engineers", deletion_policy=DeletionPolicy.DELETE
    )


def test_an_attribute_schema_is_read_with_the_name_that_lldap_keeps() -> None:
    spec = SPECS[LLDAP_ATTRIBUTE_SCHEMA] | {"attributeName": "costCenter", "isList": True}
    assert AttributeSchemaSpec.parse({"spec": spec}) == AttributeSchemaSpec(
        attribute_name="costcenter",
        attribute_type=AttributeType.STRING,
        target=Target.USER,
        is_list=True,
        is_visible=False,
        is_editable=False,
        deletion_policy=None,
    )


@pytest.mark.parametrize("spec", [None, [], "text", 7, True])
@pytest.mark.parametrize("kind", KINDS, ids=case_id)
def test_a_spec_that_is_no_object_is_invalid(kind: Kind, spec: object) -> None:
    with pytest.raises(InvalidSpec) as refused:
        PARSERS[kind]({"spec": spec})
    assert (refused.value.field, refused.value.reason) == ("spec", "must be an object")
    with pytest.raises(InvalidSpec):
        PARSERS[kind]({})


def test_C07_an_alias_of_a_field_is_invalid_and_the_text_says_where_to_set_it() -> None:
    spec = changed(LLDAP_USER, attributes("department", "Mail"))
    with pytest.raises(InvalidSpec, match=r"spec\.attributes\[1\]\.name: set spec\.email"):
        UserSpec.parse({"spec": spec})


def test_A13_a_built_in_attribute_cannot_be_declared() -> None:
    for name in ("mail", "Avatar", "uuid"):
        spec = SPECS[LLDAP_ATTRIBUTE_SCHEMA] | {"attributeName": name}
        with pytest.raises(InvalidSpec, match=r"spec\.attributeName: lldap has a built-in"):
            AttributeSchemaSpec.parse({"spec": spec})


@pytest.mark.parametrize("field", WHOLE_USER)
def test_the_text_of_an_invalid_spec_quotes_no_value(field: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        UserSpec.parse({"spec": WHOLE_USER | {field: "s3cret value\n" * 30}})
    assert refused.value.field == f"spec.{field}"
    assert "s3cret" not in str(refused.value)


NUMBER = Object(
    fields=(Field(name="n", type=Integer(format="int32", minimum=0), description="A number."),)
)


@pytest.mark.parametrize("value", [0, 2**31 - 1])
def test_a_whole_number_is_read(value: int) -> None:
    assert read_object(NUMBER, {"n": value}, "status") == {"n": value}


@pytest.mark.parametrize("value", [2**31, -1, True, "1", 1.5])
def test_another_number_than_its_format_holds_is_invalid(value: object) -> None:
    with pytest.raises(InvalidSpec, match=r"status\.n: must be"):
        read_object(NUMBER, {"n": value}, "status")


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=12,
)


def nearly(kind: Type) -> st.SearchStrategy[Any]:
    """Values of about the right shape, so that every branch of the reading is met."""
    match kind:
        case String():
            words = st.sampled_from(kind.enum) if kind.enum else st.text(max_size=70)
            values: st.SearchStrategy[Any] = words | st.sampled_from(["alice", "a@b.c", ".."])
        case Boolean():
            values = st.booleans()
        case Integer():
            values = st.integers()
        case Array():
            values = st.lists(nearly(kind.items), max_size=4)
        case Object():
            values = st.fixed_dictionaries(
                {}, optional={f.name: nearly(f.type) for f in kind.fields}
            )
    return st.one_of(*[values] * 6, st.none(), json)


def refusal(kind: Kind, obj: Mapping[str, Any]) -> InvalidSpec | None:
    try:
        PARSERS[kind](obj)
    except InvalidSpec as refused:
        return refused
    return None


@pytest.mark.parametrize("kind", KINDS, ids=case_id)
@given(data=st.data())
def test_reading_anything_raises_nothing_but_invalid_spec(kind: Kind, data: st.DataObject) -> None:
    obj = {"spec": data.draw(nearly(kind.spec) | json)}
    before = copy.deepcopy(obj)
    refused = refusal(kind, obj)
    if refused:
        assert refused.field.startswith("spec")
        assert refused.reason
    assert repr(obj) == repr(before)


@pytest.mark.parametrize("kind", KINDS, ids=case_id)
@given(data=st.data())
def test_a_null_changes_nothing_and_what_is_not_described_neither(
    kind: Kind, data: st.DataObject
) -> None:
    spec = SPECS[kind]
    absent = [f.name for f in kind.spec.fields if f.name not in spec]
    nulls = data.draw(st.dictionaries(st.sampled_from(absent), st.none()))
    unknown = data.draw(st.dictionaries(st.text(min_size=12, max_size=20), json, max_size=3))
    assert PARSERS[kind]({"spec": unknown | nulls | spec}) == PARSERS[kind]({"spec": spec})
