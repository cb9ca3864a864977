"""What may change in a spec and what null means there, on both API servers."""

from typing import Any

import pytest

from controller.api import (
    KINDS,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    InvalidSpec,
    Kind,
    UserSpec,
)
from tests.controller.crd_samples import (
    DRY_RUN,
    LEFT_OUT,
    PARSERS,
    SECRET,
    SPECS,
    attributes,
    case_id,
    changed,
    created,
)
from tests.support.envtest import Api, Key, manifest

IMMUTABLE: list[tuple[Kind, str, object]] = [
    (LLDAP_USER, "username", "bob"),
    (LLDAP_USER, "username", "Alice"),
    (LLDAP_MEMBERSHIP, "userName", "bob"),
    (LLDAP_MEMBERSHIP, "groupName", "Other"),
    (LLDAP_ATTRIBUTE_SCHEMA, "attributeName", "other"),
    (LLDAP_ATTRIBUTE_SCHEMA, "attributeName", "Department"),
    (LLDAP_ATTRIBUTE_SCHEMA, "attributeType", "Integer"),
    (LLDAP_ATTRIBUTE_SCHEMA, "target", "Group"),
    (LLDAP_ATTRIBUTE_SCHEMA, "isList", True),
    (LLDAP_ATTRIBUTE_SCHEMA, "isVisible", True),
    (LLDAP_ATTRIBUTE_SCHEMA, "isEditable", True),
]
INSTEAD = {
    LLDAP_USER: "create a new LldapUser instead",
    LLDAP_MEMBERSHIP: "create a new LldapMembership instead",
    LLDAP_ATTRIBUTE_SCHEMA: "create one of another name instead",
}


@pytest.mark.parametrize(("kind", "field", "value"), IMMUTABLE, ids=case_id)
def test_an_immutable_field_says_what_to_do_instead_of_a_change(
    admin: Api, key: Key, kind: Kind, field: str, value: object
) -> None:
    obj = manifest(kind, key, SPECS[kind])
    assert admin.create(kind, obj).status == 201
    answer = admin.patch(kind, obj, {"spec": {field: value}})
    assert answer.status == 422
    cause = answer.causes[f"spec.{field}"]
    assert f"FieldValueForbidden: Forbidden: {field} cannot be changed" in cause
    assert INSTEAD[kind] in cause


def test_a_default_that_null_brings_back_is_a_change_too(admin: Api, key: Key) -> None:
    spec = changed(LLDAP_ATTRIBUTE_SCHEMA, {"isList": True})
    obj = manifest(LLDAP_ATTRIBUTE_SCHEMA, key, spec)
    assert admin.create(LLDAP_ATTRIBUTE_SCHEMA, obj).ok
    same = admin.patch(LLDAP_ATTRIBUTE_SCHEMA, obj, {"spec": {"isVisible": None}})
    assert same.status == 200
    answer = admin.patch(LLDAP_ATTRIBUTE_SCHEMA, obj, {"spec": {"isList": None}})
    assert "isList cannot be changed" in answer.causes["spec.isList"]


CHANGEABLE: list[tuple[Kind, dict[str, Any]]] = [
    (
        LLDAP_USER,
        {
            "email": "b@example.org",
            "displayName": "B",
            "firstName": "B",
            "lastName": "B",
            "passwordPolicy": "Manage",
            "passwordSecretRef": SECRET,
            **attributes("department"),
        },
    ),
    (LLDAP_GROUP, {"displayName": "Others", **attributes("department")}),
    *((kind, {"deletionPolicy": "Retain"}) for kind in KINDS),
]


@pytest.mark.parametrize(("kind", "changes"), CHANGEABLE, ids=case_id)
def test_the_other_fields_may_change(
    admin: Api, key: Key, kind: Kind, changes: dict[str, Any]
) -> None:
    obj = manifest(kind, key, SPECS[kind])
    assert admin.create(kind, obj).ok
    answer = admin.patch(kind, obj, {"spec": changes})
    assert answer.status == 200
    assert answer.body["spec"].items() >= changes.items()


# Fields that take an explicit null, and whether applying one says the same as leaving it out.
NULLS = [
    *(
        (LLDAP_USER, field, True)
        for field in ("displayName", "firstName", "lastName", "attributes", "passwordSecretRef")
    ),
    (LLDAP_USER, "passwordPolicy", True),
    (LLDAP_GROUP, "attributes", True),
    *((LLDAP_ATTRIBUTE_SCHEMA, field, True) for field in ("isList", "isVisible", "isEditable")),
    *((kind, "deletionPolicy", False) for kind in KINDS),  # an enum cannot be nullable
]
null_cases = pytest.mark.parametrize(("kind", "field", "applicable"), NULLS)


def base_for(kind: Kind, field: str) -> dict[str, Any]:
    """A spec in which `field` may be left out."""
    extra = {"passwordSecretRef": SECRET} if field == "passwordPolicy" else {}
    return changed(kind, {field: LEFT_OUT, **extra})


@null_cases
def test_a_null_is_the_same_as_leaving_the_field_out(
    admin: Api, key: Key, kind: Kind, field: str, applicable: bool
) -> None:
    base = base_for(kind, field)
    expected = PARSERS[kind](created(admin, kind, key.also("left-out"), base))
    spec = base | {field: None}
    assert PARSERS[kind](created(admin, kind, key.also("posted"), spec)) == expected

    created(admin, kind, key.also("patched"), base)
    patched = manifest(kind, key.also("patched"), base)
    answer = admin.patch(kind, patched, {"spec": {field: None}})
    assert answer.ok, answer.body
    assert PARSERS[kind](answer.body) == expected

    answer = admin.apply(kind, manifest(kind, key.also("applied"), spec))
    assert answer.ok is applicable, answer.body
    if applicable:
        assert PARSERS[kind](answer.body) == expected
        assert admin.apply(kind, manifest(kind, key.also("left-out"), spec), force="true").ok


def test_a_null_secret_reference_counts_as_none(admin: Api) -> None:
    spec = changed(LLDAP_USER, {"passwordPolicy": "Manage", "passwordSecretRef": None})
    for answer in (
        admin.create(LLDAP_USER, manifest(LLDAP_USER, DRY_RUN, spec), dryRun="All"),
        admin.apply(LLDAP_USER, manifest(LLDAP_USER, DRY_RUN, spec), dryRun="All"),
    ):
        assert answer.status == 422
        assert "FieldValueRequired" in answer.causes["spec.passwordSecretRef"]
    with pytest.raises(InvalidSpec, match="passwordSecretRef is required"):
        UserSpec.parse({"spec": spec})


def test_K07_a_field_of_another_version_is_no_error_to_who_does_not_ask_for_one(
    admin: Api, key: Key
) -> None:
    spec = changed(LLDAP_USER, {"nextYear": "yes"})
    obj = manifest(LLDAP_USER, key, spec)
    assert admin.create(LLDAP_USER, obj).status == 400
    lenient = admin.create(LLDAP_USER, obj, fieldValidation="Warn")
    assert lenient.status == 201
    assert "unknown field" in lenient.warning
    assert UserSpec.parse(obj) == UserSpec.parse(lenient.body)
