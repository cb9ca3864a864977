"""The admission policy on /status: it is what the operator reads after a restart."""

from typing import Any

import pytest

from controller.api import CONDITION_TYPES, KINDS, LLDAP_USER, Kind
from tests.controller.crd_samples import SPECS, case_id
from tests.support.envtest import APPLY, Answer, Api, Key, manifest
from tests.support.policies import PolicyNamespace, assert_denied

CONDITION = {
    "type": "Ready",
    "status": "True",
    "reason": "Verified",
    "message": "as it should be",
    "lastTransitionTime": "2030-01-01T00:00:00Z",
}
OTHER = CONDITION | {"type": "example.org/Approved"}
STATUS = {"instance": "default", "observedGeneration": 1, "conditions": [CONDITION]}


@pytest.fixture(scope="module")
def module_namespace(policy_namespace: PolicyNamespace) -> str:
    """Objects named by `key` are in the namespace of `policy_namespace`, under the policies."""
    return policy_namespace.namespace


def patch_status(api: Api, obj: dict[str, Any], status: object) -> Answer:
    return api.patch(LLDAP_USER, obj, {"status": status}, subresource="/status")


def apply_status(api: Api, obj: dict[str, Any], status: object, manager: str) -> Answer:
    body = {name: obj[name] for name in ("apiVersion", "kind")}
    body |= {"metadata": {"name": obj["metadata"]["name"]}, "status": status}
    return api.patch(
        LLDAP_USER,
        obj,
        body,
        content_type=APPLY,
        subresource="/status",
        fieldManager=manager,
        force="true",
    )


@pytest.fixture
def served(operator: Api, key: Key) -> dict[str, Any]:
    """An object with a status of the operator's."""
    obj = manifest(LLDAP_USER, key, SPECS[LLDAP_USER], finalizers=[LLDAP_USER.finalizer])
    assert operator.create(LLDAP_USER, obj).status == 201
    assert apply_status(operator, obj, STATUS, "lldap-operator").status == 200
    return obj


@pytest.mark.parametrize("kind", KINDS, ids=case_id)
def test_a_tenant_cannot_write_the_first_status(tenant: Api, key: Key, kind: Kind) -> None:
    obj = manifest(kind, key, SPECS[kind])
    assert tenant.create(kind, obj).status == 201
    answer = tenant.patch(kind, obj, {"status": {"instance": "x"}}, subresource="/status")
    assert answer.status == 403
    assert_denied(answer, "status", "status is written by the operator only")


@pytest.mark.parametrize(
    "status",
    [
        None,
        {"instance": None},
        {"instance": "other"},
        {"uuid": "forged"},
        {"managed": ["mail"]},
        {"conditions": None},
        {"conditions": []},
        {"conditions": [CONDITION | {"status": "False"}]},
        {"conditions": [CONDITION | {"message": "other"}]},
        *({"conditions": [CONDITION, CONDITION | {"type": t}]} for t in CONDITION_TYPES[1:]),
        {"conditions": [CONDITION, OTHER], "uuid": "forged"},
    ],
    ids=str,
)
def test_a_tenant_cannot_change_the_operators_part(
    tenant: Api, served: dict[str, Any], status: object
) -> None:
    assert_denied(patch_status(tenant, served, status), "status", "leave the rest")


def test_a_tenant_cannot_replace_the_status(tenant: Api, served: dict[str, Any], key: Key) -> None:
    live = tenant.get(LLDAP_USER, *key).body
    path = f"/apis/{served['apiVersion']}/namespaces/{key.namespace}/lldapusers/{key.name}/status"
    assert_denied(tenant.call("PUT", path, {**live, "status": {}}), "status")
    assert tenant.call("PUT", path, live).status == 200  # the same again is no change


def test_a_tenant_may_keep_conditions_of_other_types(
    tenant: Api, operator: Api, served: dict[str, Any]
) -> None:
    added = apply_status(tenant, served, {"conditions": [OTHER]}, "tenant")
    assert added.status == 200
    assert added.body["status"]["conditions"] == [CONDITION, OTHER]
    changed = apply_status(tenant, served, {"conditions": [OTHER | {"status": "False"}]}, "tenant")
    assert changed.status == 200
    ours = apply_status(operator, served, STATUS | {"uuid": "1-2"}, "lldap-operator")
    assert [c["type"] for c in ours.body["status"]["conditions"]] == ["Ready", OTHER["type"]]
    gone = apply_status(tenant, served, {}, "tenant")
    assert gone.body["status"] == STATUS | {"uuid": "1-2"}


def test_a_condition_of_another_type_may_be_the_first(tenant: Api, key: Key) -> None:
    obj = manifest(LLDAP_USER, key, SPECS[LLDAP_USER])
    assert tenant.create(LLDAP_USER, obj).ok
    assert patch_status(tenant, obj, {"conditions": [OTHER]}).status == 200


@pytest.mark.parametrize("who", ["operator", "admin"])
def test_an_operator_and_a_cluster_administrator_write_it(
    request: pytest.FixtureRequest, served: dict[str, Any], who: str
) -> None:
    api: Api = request.getfixturevalue(who)
    assert patch_status(api, served, {"uuid": "1-2"}).status == 200
    assert patch_status(api, served, None).status == 200


def test_an_object_that_is_being_deleted_is_covered_too(
    tenant: Api, operator: Api, served: dict[str, Any], key: Key
) -> None:
    assert tenant.delete(LLDAP_USER, *key).body["metadata"]["deletionTimestamp"]
    assert_denied(patch_status(tenant, served, {"origin": "Created"}), "status")
    assert patch_status(tenant, served, {"conditions": [CONDITION, OTHER]}).status == 200
    assert patch_status(operator, served, {"origin": "Adopted"}).status == 200


def test_a_status_in_a_write_of_the_object_itself_does_not_count(
    tenant: Api, served: dict[str, Any], key: Key
) -> None:
    patch = {"spec": {"firstName": "Al"}, "status": {"uuid": "forged"}}
    assert tenant.patch(LLDAP_USER, served, patch).status == 200
    assert tenant.get(LLDAP_USER, *key).body["status"] == STATUS
