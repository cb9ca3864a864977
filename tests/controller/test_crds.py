"""What specs the CRDs let through and refuse, on both API servers.

The tables are read by Python too, without a server: both must decide alike.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
)
from tests.support.envtest import Api, manifest

ACCEPTED: list[tuple[Kind, dict[str, Any]]] = [
    *((kind, {}) for kind in KINDS),
    (LLDAP_USER, {"username": "a"}),
    (LLDAP_USER, {"username": "a" * 64}),
    (LLDAP_USER, {"username": "Alice.Smith_2-x"}),
    (LLDAP_USER, {"username": "..a"}),
    (LLDAP_USER, {"username": "-"}),
    (LLDAP_USER, {"email": "a@b.c"}),
    (LLDAP_USER, {"email": "a" * 251 + "@b.c"}),
    (LLDAP_USER, {"email": "ö+tag@bücher.example"}),
    *((LLDAP_USER, {field: ""}) for field in ("displayName", "firstName", "lastName")),
    *((LLDAP_USER, {field: "ö" * 255}) for field in ("displayName", "firstName", "lastName")),
    (LLDAP_USER, {"attributes": []}),
    (LLDAP_USER, attributes(*(f"a{n}" for n in range(64)))),
    (LLDAP_USER, attributes("a")),
    (LLDAP_USER, attributes("a" * 64)),
    (LLDAP_USER, attributes("avatar", "costCenter", "1abc", "mail-alias", "Group-Id")),
    (LLDAP_USER, {"attributes": [{"name": "phones", "value": []}]}),
    (LLDAP_USER, {"attributes": [{"name": "department", "value": [""]}]}),
    (LLDAP_USER, {"passwordPolicy": "Manage", "passwordSecretRef": SECRET}),
    (LLDAP_USER, {"passwordPolicy": "InitialOnly", "passwordSecretRef": SECRET}),
    (LLDAP_USER, {"passwordPolicy": "Ignore", "passwordSecretRef": SECRET}),
    (LLDAP_USER, {"passwordPolicy": LEFT_OUT, "passwordSecretRef": SECRET}),
    (LLDAP_USER, {"passwordSecretRef": {"name": "a.b-c", "key": ".Key_1-x"}}),
    (LLDAP_USER, {"passwordSecretRef": {"name": "a" * 253, "key": "k" * 253}}),
    *((kind, {"deletionPolicy": word}) for kind in KINDS for word in ("Delete", "Retain")),
    (LLDAP_GROUP, {"displayName": "G"}),
    (LLDAP_GROUP, {"displayName": "Ä" * 128}),
    (LLDAP_GROUP, {"displayName": "all of us"}),
    (LLDAP_GROUP, attributes("avatar", "mail", "first-name")),
    (LLDAP_MEMBERSHIP, {"userName": "u" * 64, "groupName": "Ä" * 128}),
    (LLDAP_MEMBERSHIP, {"userName": "with a blank"}),
    *(
        (LLDAP_ATTRIBUTE_SCHEMA, {"attributeType": word})
        for word in ("String", "Integer", "JpegPhoto", "DateTime")
    ),
    *(
        (LLDAP_ATTRIBUTE_SCHEMA, {"attributeName": name})
        for name in ("a", "a" * 64, "cost-center", "1abc", "mail-alias", "costCenter", "a-")
    ),
    (LLDAP_ATTRIBUTE_SCHEMA, {"target": "Group", "attributeName": "mail"}),
    (LLDAP_ATTRIBUTE_SCHEMA, {"target": "Group", "attributeName": "Avatar"}),
    (LLDAP_ATTRIBUTE_SCHEMA, {"isList": True, "isVisible": True, "isEditable": True}),
]

OWN_FIELD = "set spec.email, displayName, firstName or lastName instead"
BY_LLDAP = "lldap itself sets"
MARK = "remove the entry"
OTHER_NAME = "choose another"
ONE_ENTRY = "keep one entry for each attribute"

# Kind, changes, the field that the refusal names, a part of what it says.
REFUSED: list[tuple[Kind, dict[str, Any], str, str]] = [
    (LLDAP_USER, {"username": LEFT_OUT}, "spec.username", "Required"),
    (LLDAP_USER, {"username": ""}, "spec.username", "at least 1"),
    (LLDAP_USER, {"username": "a" * 65}, "spec.username", "64"),
    (LLDAP_USER, {"username": "a b"}, "spec.username", "should match"),
    (LLDAP_USER, {"username": "jörg"}, "spec.username", "should match"),
    (LLDAP_USER, {"username": "alice\n"}, "spec.username", "should match"),
    (LLDAP_USER, {"username": "a/b"}, "spec.username", "should match"),
    (LLDAP_USER, {"username": 7}, "spec.username", "string"),
    (LLDAP_USER, {"username": "."}, "spec.username", "add a letter or a digit"),
    (LLDAP_USER, {"username": ".." * 32}, "spec.username", "add a letter or a digit"),
    (LLDAP_USER, {"email": LEFT_OUT}, "spec.email", "Required"),
    (LLDAP_USER, {"email": "@."}, "spec.email", "at least 3"),
    (LLDAP_USER, {"email": "a" * 252 + "@b.c"}, "spec.email", "255"),
    *(
        (LLDAP_USER, {"email": email}, "spec.email", "should match")
        for email in ("a@b", "a.b.c", "a@b@c.d", "@b.c", "a@.c", "a@b.", "a b@c.d", "a@b.c\n")
    ),
    *(
        (LLDAP_USER, {"email": email}, "spec.email", "must not contain spaces")
        for email in ("a\u00a0@b.c", "a@b.c\u2003", "a@\u200bb.c", "a\u0000@b.c", "a@b\u000b.c")
    ),
    *(
        (LLDAP_USER, {field: "ö" * 256}, f"spec.{field}", "255")
        for field in ("displayName", "firstName", "lastName")
    ),
    (LLDAP_USER, attributes(*(f"a{n}" for n in range(65))), "spec.attributes", "64"),
    (LLDAP_USER, attributes("ok", "a" * 65), "spec.attributes[1].name", "64"),
    (LLDAP_USER, attributes("größe"), "spec.attributes[0].name", "should match"),
    (LLDAP_USER, attributes("cost_center"), "spec.attributes[0].name", "should match"),
    (LLDAP_USER, attributes(""), "spec.attributes[0].name", "at least 1"),
    *(
        (LLDAP_USER, attributes("ok", name), "spec.attributes[1].name", OWN_FIELD)
        for name in ("mail", "Mail", "display_name", "First_Name", "last_name")
    ),
    *(
        (LLDAP_USER, attributes(name), "spec.attributes[0].name", BY_LLDAP)
        for name in ("uuid", "UUID", "user_id", "creation_date", "Modified_Date")
    ),
    (LLDAP_USER, attributes("password_modified_date"), "spec.attributes[0].name", BY_LLDAP),
    (LLDAP_USER, attributes("Kubernetes-Owner"), "spec.attributes[0].name", MARK),
    (LLDAP_USER, attributes("costcenter", "costCenter"), "spec.attributes", ONE_ENTRY),
    (LLDAP_USER, {"attributes": [{"name": "a"}]}, "spec.attributes[0].value", "Required"),
    (LLDAP_USER, {"attributes": [{"value": []}]}, "spec.attributes[0].name", "Required"),
    (
        LLDAP_USER,
        {"attributes": [{"name": "a", "value": [7]}]},
        "spec.attributes[0].value[0]",
        "string",
    ),
    (LLDAP_USER, {"passwordPolicy": "Never"}, "spec.passwordPolicy", "Manage"),
    (LLDAP_USER, {"passwordPolicy": LEFT_OUT}, "spec.passwordSecretRef", "name the Secret"),
    (LLDAP_USER, {"passwordPolicy": "Manage"}, "spec.passwordSecretRef", "name the Secret"),
    (LLDAP_USER, {"passwordPolicy": "InitialOnly"}, "spec.passwordSecretRef", "name the Secret"),
    *(
        (
            LLDAP_USER,
            {"passwordSecretRef": {key: value for key, value in SECRET.items() if key != missing}},
            f"spec.passwordSecretRef.{missing}",
            "Required",
        )
        for missing in SECRET
    ),
    *(
        (
            LLDAP_USER,
            {"passwordSecretRef": SECRET | {field: value}},
            f"spec.passwordSecretRef.{field}",
            says,
        )
        for field, value, says in (
            ("name", "", "at least 1"),
            ("name", "a" * 254, "253"),
            ("name", "../other", "should match"),
            ("name", "My_Secret", "should match"),
            ("key", "", "at least 1"),
            ("key", "k" * 254, "253"),
            ("key", "a b", "should match"),
        )
    ),
    *((kind, {"deletionPolicy": "Keep"}, "spec.deletionPolicy", "Retain") for kind in KINDS),
    (LLDAP_GROUP, {"displayName": LEFT_OUT}, "spec.displayName", "Required"),
    (LLDAP_GROUP, {"displayName": ""}, "spec.displayName", "at least 1"),
    (LLDAP_GROUP, {"displayName": "Ä" * 129}, "spec.displayName", "128"),
    (
        LLDAP_GROUP,
        attributes("Display_Name"),
        "spec.attributes[0].name",
        "set spec.displayName instead",
    ),
    *(
        (LLDAP_GROUP, attributes(name), "spec.attributes[0].name", BY_LLDAP)
        for name in ("uuid", "Group_Id", "creation_date", "modified_date")
    ),
    (LLDAP_GROUP, attributes("kubernetes-owner"), "spec.attributes[0].name", MARK),
    (LLDAP_GROUP, attributes("a", "A"), "spec.attributes", ONE_ENTRY),
    (LLDAP_MEMBERSHIP, {"userName": LEFT_OUT}, "spec.userName", "Required"),
    (LLDAP_MEMBERSHIP, {"userName": ""}, "spec.userName", "at least 1"),
    (LLDAP_MEMBERSHIP, {"userName": "u" * 65}, "spec.userName", "64"),
    (LLDAP_MEMBERSHIP, {"groupName": LEFT_OUT}, "spec.groupName", "Required"),
    (LLDAP_MEMBERSHIP, {"groupName": ""}, "spec.groupName", "at least 1"),
    (LLDAP_MEMBERSHIP, {"groupName": "g" * 129}, "spec.groupName", "128"),
    *(
        (LLDAP_ATTRIBUTE_SCHEMA, {field: LEFT_OUT}, f"spec.{field}", "Required")
        for field in SPECS[LLDAP_ATTRIBUTE_SCHEMA]
    ),
    *(
        (LLDAP_ATTRIBUTE_SCHEMA, {"attributeName": name}, "spec.attributeName", says)
        for name, says in (
            ("", "at least 1"),
            ("a" * 65, "64"),
            ("cost_center", "should match"),
            ("größe", "should match"),
            ("-a", "should match"),
            ("a\n", "should match"),
            ("kubernetes-owner", OTHER_NAME),
            ("Kubernetes-Owner", OTHER_NAME),
            ("mail", OTHER_NAME),
            ("Avatar", OTHER_NAME),
            ("UUID", OTHER_NAME),
            ("first_name", OTHER_NAME),
            ("password_modified_date", OTHER_NAME),
        )
    ),
    *(
        (
            LLDAP_ATTRIBUTE_SCHEMA,
            {"target": "Group", "attributeName": name},
            "spec.attributeName",
            OTHER_NAME,
        )
        for name in ("uuid", "Group_id", "display_name", "kubernetes-owner")
    ),
    (LLDAP_ATTRIBUTE_SCHEMA, {"attributeType": "JPEG_PHOTO"}, "spec.attributeType", "JpegPhoto"),
    (LLDAP_ATTRIBUTE_SCHEMA, {"target": "user"}, "spec.target", "User"),
    (LLDAP_ATTRIBUTE_SCHEMA, {"isList": "yes"}, "spec.isList", "boolean"),
]


accepted_cases = pytest.mark.parametrize(("kind", "changes"), ACCEPTED, ids=case_id)
refused_cases = pytest.mark.parametrize(("kind", "changes", "field", "says"), REFUSED, ids=case_id)


@accepted_cases
def test_what_the_crds_let_through_can_be_read(kind: Kind, changes: dict[str, Any]) -> None:
    PARSERS[kind]({"spec": changed(kind, changes)})


@refused_cases
def test_what_the_crds_refuse_is_an_invalid_spec(
    kind: Kind, changes: dict[str, Any], field: str, says: str
) -> None:
    with pytest.raises(InvalidSpec) as refused:
        PARSERS[kind]({"spec": changed(kind, changes)})
    assert refused.value.field == field


@accepted_cases
def test_K02_the_crds_let_through(admin: Api, kind: Kind, changes: dict[str, Any]) -> None:
    answer = admin.create(kind, manifest(kind, DRY_RUN, changed(kind, changes)), dryRun="All")
    assert (answer.status, answer.warning) == (201, ""), answer.body


@refused_cases
def test_K02_the_crds_refuse_and_say_what_to_do(
    admin: Api, kind: Kind, changes: dict[str, Any], field: str, says: str
) -> None:
    answer = admin.create(kind, manifest(kind, DRY_RUN, changed(kind, changes)), dryRun="All")
    assert answer.status == 422
    assert says in answer.causes.get(field, ""), answer.causes


# Texts near the edges of every pattern: what RE2 and Python might read differently.
EDGES = (
    "aZ0@.-_/ \t\n\r\u000b\u001c\u0085\u00a0\u00ad\u1680\u200b\u2028\u3000\ufeff\u00e9\u017f\u212a"
)
bits = st.text(EDGES, max_size=2)
texts = st.text(EDGES, max_size=12) | st.builds("a{}@b{}.c{}".format, bits, bits, bits)


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (LLDAP_USER, "username"),
        (LLDAP_USER, "email"),
        (LLDAP_GROUP, "displayName"),
        (LLDAP_ATTRIBUTE_SCHEMA, "attributeName"),
    ],
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts)
def test_python_and_the_server_agree_about_any_text(
    admin: Api, kind: Kind, field: str, text: str
) -> None:
    obj = manifest(kind, DRY_RUN, changed(kind, {field: text}))
    assert admin.create(kind, obj, dryRun="All").ok is readable(kind, obj)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(st.sampled_from(["a", "A", "b", "mail", "UUID", "a_b", "kubernetes-owner"])))
def test_python_and_the_server_agree_about_any_attributes(admin: Api, names: list[str]) -> None:
    obj = manifest(LLDAP_USER, DRY_RUN, changed(LLDAP_USER, attributes(*names)))
    assert admin.create(LLDAP_USER, obj, dryRun="All").ok is readable(LLDAP_USER, obj)


def readable(kind: Kind, obj: Mapping[str, Any]) -> bool:
    try:
        PARSERS[kind](obj)
    except InvalidSpec:
        return False
    return True


def test_two_entries_of_one_name_are_refused(admin: Api) -> None:
    spec = changed(LLDAP_USER, attributes("department", "department"))
    answer = admin.create(LLDAP_USER, manifest(LLDAP_USER, DRY_RUN, spec), dryRun="All")
    assert answer.status == 422
    assert "FieldValueDuplicate" in answer.causes["spec.attributes[1]"]
    with pytest.raises(InvalidSpec, match="keep one entry"):
        UserSpec.parse({"spec": spec})


@pytest.mark.parametrize("kind", KINDS, ids=case_id)
def test_an_object_without_a_spec_is_refused(admin: Api, kind: Kind) -> None:
    obj = manifest(kind, DRY_RUN, {})
    del obj["spec"]
    answer = admin.create(kind, obj, dryRun="All")
    assert answer.status == 422
    assert "Required" in answer.causes["spec"]
