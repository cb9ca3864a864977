"""The status subresource, the columns and what the CRDs publish, on both API servers."""

import time
from collections.abc import Mapping
from typing import Any

import pytest

from controller.api import (
    GROUP,
    KINDS,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    VERSION,
    Kind,
)
from controller.api.fields import Array, Object, Type
from tests.controller.crd_samples import (
    SPECS,
    case_id,
    created,
)
from tests.support.envtest import Answer, Api, Key, collection, manifest

CONDITION = {
    "type": "Ready",
    "status": "True",
    "reason": "Verified",
    "message": "as it should be",
    "lastTransitionTime": "2030-01-01T00:00:00Z",
    "observedGeneration": 1,
}
COMMON = {
    "instance": "default",
    "server": "0c1d2e3f",
    "reconcileAt": "now, please",
    "observedGeneration": 1,
    "conditions": [CONDITION, CONDITION | {"type": "Stalled"}],
}
ACCOUNT = {"uuid": "1-2", "origin": "Adopted", "managed": ["mail", "department"], "seal": "aa"}
STATUS: dict[Kind, dict[str, Any]] = {
    LLDAP_USER: {
        **COMMON,
        **ACCOUNT,
        "userId": "alice",
        "passwordHash": "00ff",
        "passwordSecret": {"uid": "u", "resourceVersion": "7"},
        "passwordModifiedDate": "2030-01-01T00:00:00.123456+00:00",
    },
    LLDAP_GROUP: {**COMMON, **ACCOUNT, "groupId": 2**31 - 1},
    LLDAP_MEMBERSHIP: {
        **COMMON,
        "userId": "alice",
        "userUuid": "1-2",
        "groupId": 4,
        "groupUuid": "3-4",
        "seal": "aa",
    },
    LLDAP_ATTRIBUTE_SCHEMA: COMMON,
}


def apply_status(admin: Api, kind: Kind, key: Key, status: object, **how: str) -> Answer:
    obj = manifest(kind, key, {}) | {"status": status}
    del obj["spec"]
    del obj["metadata"]["labels"]
    return admin.apply(kind, obj, subresource="/status", force="true", **how)


@pytest.mark.parametrize("kind", KINDS, ids=case_id)
def test_a_whole_status_can_be_applied_and_taken_back(admin: Api, key: Key, kind: Kind) -> None:
    assert set(STATUS[kind]) == {field.name for field in kind.status.fields}
    created(admin, kind, key, SPECS[kind])
    answer = apply_status(admin, kind, key, STATUS[kind])
    assert (answer.status, answer.warning) == (200, "")
    assert answer.body["status"] == STATUS[kind]

    others = [CONDITION | {"type": "example.org/Approved"}]
    assert apply_status(admin, kind, key, {"conditions": others}, fieldManager="o").ok
    less = {"instance": "default", "conditions": [CONDITION]}
    answer = apply_status(admin, kind, key, less)
    assert answer.body["status"] == {"instance": "default", "conditions": [CONDITION, *others]}


@pytest.mark.parametrize(
    ("kind", "status", "field"),
    [
        (LLDAP_GROUP, {"groupId": 2**31}, "status"),
        (LLDAP_GROUP, {"groupId": "4"}, "status.groupId"),
        (LLDAP_MEMBERSHIP, {"groupId": -(2**31) - 1}, "status"),
        (LLDAP_USER, {"passwordModifiedDate": "2030-01-01"}, "status.passwordModifiedDate"),
        (LLDAP_USER, {"origin": "Found"}, "status.origin"),
        (LLDAP_USER, {"observedGeneration": -1}, "status.observedGeneration"),
        *(
            (LLDAP_USER, {"conditions": [CONDITION | wrong]}, f"status.conditions[0].{field}")
            for field, wrong in (
                ("status", {"status": "yes"}),
                ("reason", {"reason": ""}),
                ("reason", {"reason": "Two words"}),
                ("reason", {"reason": "a" * 1025}),
                ("message", {"message": "a" * 32769}),
                ("type", {"type": "Not ready"}),
                ("type", {"type": "a" * 317}),
                ("lastTransitionTime", {"lastTransitionTime": "2030-01-01 00:00:00Z"}),
            )
        ),
    ],
    ids=case_id,
)
def test_a_status_of_another_shape_is_refused(
    admin: Api, key: Key, kind: Kind, status: dict[str, Any], field: str
) -> None:
    obj = created(admin, kind, key, SPECS[kind])
    answer = admin.patch(kind, obj, {"status": status}, subresource="/status")
    assert answer.status == 422
    assert field in answer.causes


@pytest.mark.parametrize("kind", KINDS, ids=case_id)
def test_K01_the_crd_is_established_and_structural(admin: Api, kind: Kind) -> None:
    crd = admin.call(
        "GET", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{kind.crd_name}"
    )
    conditions = {c["type"]: c["status"] for c in crd.body["status"]["conditions"]}
    assert conditions["Established"] == "True"
    assert conditions["NamesAccepted"] == "True"
    assert conditions.get("NonStructuralSchema", "False") == "False"
    assert crd.body["status"]["storedVersions"] == [VERSION]
    assert admin.call("GET", collection(kind, "default")).body["kind"] == f"{kind.kind}List"


COLUMNS = {
    LLDAP_USER: "Username Email Ready Reason Age Message",
    LLDAP_GROUP: "DisplayName GroupId Ready Reason Age Message",
    LLDAP_MEMBERSHIP: "User Group Ready Reason Age Message",
    LLDAP_ATTRIBUTE_SCHEMA: "Name Type Target Ready Reason Age Message",
}


@pytest.mark.parametrize("kind", KINDS, ids=case_id)
def test_the_columns_show_what_kubectl_get_should_print(admin: Api, key: Key, kind: Kind) -> None:
    created(admin, kind, key, SPECS[kind])
    apply_status(admin, kind, key, STATUS[kind])
    table = admin.call(
        "GET",
        f"{collection(kind, key.namespace)}/{key.name}",
        accept="application/json;as=Table;v=v1;g=meta.k8s.io",
    ).body
    definitions = table["columnDefinitions"][1:]  # Name comes first, by itself
    assert " ".join(d["name"] for d in definitions) == COLUMNS[kind]
    assert [d["name"] for d in definitions if d["priority"]] == ["Message"]
    cells = dict(zip(COLUMNS[kind].split(), table["rows"][0]["cells"][1:], strict=True))
    assert cells["Ready"] == "True"
    assert cells["Reason"] == "Verified"
    assert cells["Message"] == "as it should be"
    assert None not in cells.values()


@pytest.mark.parametrize("kind", KINDS, ids=case_id)
def test_every_field_is_explained(admin: Api, kind: Kind) -> None:
    schemas = published_schemas(admin)
    (found,) = [s for s in schemas if s["x-kubernetes-group-version-kind"][0]["kind"] == kind.kind]
    assert found["description"] == kind.description
    for name, described in (("spec", kind.spec), ("status", kind.status)):
        assert_described(found["properties"][name], described)


def published_schemas(admin: Api) -> list[Any]:
    """The OpenAPI document that kubectl explain reads; it follows the CRDs after a moment."""
    deadline = time.monotonic() + 20
    while True:
        answer = admin.call("GET", f"/openapi/v3/apis/{GROUP}/{VERSION}")
        schemas = answer.body.get("components", {}).get("schemas", {})
        found = [
            s for name, s in schemas.items() if name.rpartition(".")[2] in {k.kind for k in KINDS}
        ]
        if len(found) == len(KINDS):
            return found
        assert time.monotonic() < deadline, "the OpenAPI document was not published"
        time.sleep(0.1)


def assert_described(schema: Mapping[str, Any], kind: Type) -> None:
    if isinstance(kind, Array):
        assert_described(schema["items"], kind.items)
    if isinstance(kind, Object):
        for field in kind.fields:
            published = schema["properties"][field.name]
            assert published["description"] == field.description
            assert_described(published, field.type)


@pytest.mark.parametrize("kind", KINDS, ids=case_id)
def test_the_category_and_the_short_name_are_served(admin: Api, kind: Kind) -> None:
    resources = admin.call("GET", f"/apis/{GROUP}/{VERSION}").body["resources"]
    (found,) = [r for r in resources if r["name"] == kind.plural]
    assert (found["shortNames"], found["categories"]) == ([kind.short], ["lldap"])
    assert (found["kind"], found["singularName"], found["namespaced"]) == (
        kind.kind,
        kind.singular,
        True,
    )
    assert any(r["name"] == f"{kind.plural}/status" for r in resources)


@pytest.mark.parametrize("kind", KINDS, ids=case_id)
def test_K06_the_finalizer_is_taken_without_a_warning(admin: Api, key: Key, kind: Kind) -> None:
    obj = manifest(kind, Key(key.namespace, "x" * 253), SPECS[kind], finalizers=[kind.finalizer])
    answer = admin.create(kind, obj)
    assert (answer.status, answer.warning) == (201, "")
