"""The admission policies on both API servers: whom they stop, and whom and what they let pass."""

from typing import Any

import pytest

from controller.api import (
    BUILT_IN_ANNOTATION,
    CONDITION_TYPES,
    GROUP,
    INSTANCE_LABEL,
    INSTANCE_MAX_LENGTH,
    INSTANCE_PATTERN,
    KINDS,
    LLDAP_GROUP,
    LLDAP_USER,
    OPERATE_VERB,
    Kind,
)
from tests.controller.crd_samples import SPECS, case_id
from tests.support.envtest import JSON_PATCH, Api, Key, manifest
from tests.support.policies import (
    FOLDER,
    MARKED,
    PolicyNamespace,
    Unlabelled,
    assert_denied,
    documents,
)


def being_deleted(api: Api, key: Key, kind: Kind, **metadata: object) -> dict[str, Any]:
    """An object that is being deleted and waits for a finalizer."""
    obj = manifest(kind, key, SPECS[kind], finalizers=[kind.finalizer], **metadata)
    assert api.create(kind, obj).status == 201
    assert api.delete(kind, *key).body["metadata"]["deletionTimestamp"]
    return obj


# Without a server.


def test_each_policy_denies_through_a_binding_of_its_name() -> None:
    found = documents()
    policies = {d["metadata"]["name"] for d in found if d["kind"] == "ValidatingAdmissionPolicy"}
    bindings = [d for d in found if d["kind"] == "ValidatingAdmissionPolicyBinding"]
    assert len(policies) == 3
    assert {b["spec"]["policyName"] for b in bindings} == policies
    assert all(b["metadata"]["name"] == b["spec"]["policyName"] for b in bindings)
    assert all(b["spec"]["validationActions"] == ["Deny"] for b in bindings)


def test_each_policy_covers_all_kinds_or_the_status_of_all() -> None:
    plain = {kind.plural for kind in KINDS}
    covered = {}
    for policy in documents():
        if policy["kind"] == "ValidatingAdmissionPolicy":
            assert policy["spec"]["failurePolicy"] == "Fail"
            (rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
            assert rule["apiGroups"] == [GROUP]
            covered[policy["metadata"]["name"]] = set(rule["resources"])
    assert covered == {
        "lldap-operator-instance-label": plain,
        "lldap-operator-built-in": plain,
        "lldap-operator-status": {f"{plural}/status" for plural in plain},
    }


def test_the_policies_use_the_names_of_the_api() -> None:
    texts = {file.stem: file.read_text() for file in FOLDER.glob("*.yaml")}
    assert f"'{INSTANCE_LABEL}'" in texts["instance-label"]
    assert f"'{INSTANCE_PATTERN}'" in texts["instance-label"]
    assert f"at most {INSTANCE_MAX_LENGTH} " in texts["instance-label"]
    assert f"'{BUILT_IN_ANNOTATION}'" in texts["built-in"]
    assert str(list(CONDITION_TYPES)) in texts["status"]
    for name in ("built-in", "status"):
        assert f"group('{GROUP}')" in texts[name]
        assert f"check('{OPERATE_VERB}')" in texts[name]


# With a server.


@pytest.fixture(scope="module")
def module_namespace(policy_namespace: PolicyNamespace) -> str:
    """Objects named by `key` are in the namespace of `policy_namespace`, under the policies."""
    return policy_namespace.namespace


def users_object(key: Key, **metadata: object) -> dict[str, Any]:
    return manifest(LLDAP_USER, key, SPECS[LLDAP_USER], **metadata)


# The instance label.

LABELS = ["default", "a", "0", "a-b", "a" * 40]
NO_LABELS = ["", "A", "-a", "a-", "a.b", "a_b", "a" * 41]


@pytest.mark.parametrize("kind", KINDS, ids=case_id)
def test_every_kind_needs_the_instance_label_on_create(admin: Api, key: Key, kind: Kind) -> None:
    answer = admin.create(kind, manifest(kind, key, SPECS[kind], labels={}))
    assert_denied(answer, "instance-label", INSTANCE_LABEL, "is required: set it to the instance")
    assert admin.create(kind, manifest(kind, key, SPECS[kind])).status == 201


@pytest.mark.parametrize("value", LABELS)
def test_an_instance_is_a_dns_label_of_40_characters(admin: Api, key: Key, value: str) -> None:
    obj = users_object(key, labels={INSTANCE_LABEL: value})
    assert admin.create(LLDAP_USER, obj, dryRun="All").status == 201


@pytest.mark.parametrize("value", NO_LABELS)
def test_another_value_of_the_label_is_denied(admin: Api, key: Key, value: str) -> None:
    obj = users_object(key, labels={INSTANCE_LABEL: value})
    answer = admin.create(LLDAP_USER, obj, dryRun="All")
    if value.endswith("-") or value.startswith("-"):
        assert "metadata.labels" in answer.causes  # no label of Kubernetes at all
    else:
        assert_denied(answer, "instance-label", "at most 40 lower-case letters")


@pytest.mark.parametrize("value", ["other", "", None])
def test_D06_the_label_once_set_does_not_change_or_go(
    operator: Api, key: Key, value: str | None
) -> None:
    obj = users_object(key)
    assert operator.create(LLDAP_USER, obj).status == 201
    answer = operator.patch(LLDAP_USER, obj, {"metadata": {"labels": {INSTANCE_LABEL: value}}})
    assert answer.status == 403
    assert_denied(answer, "instance-label", "cannot be changed or removed: put it back")
    assert operator.patch(LLDAP_USER, obj, {"metadata": {"labels": {"other": "x"}}}).ok


def test_an_object_without_the_label_can_lose_its_finalizer(
    operator: Api, unlabelled: Unlabelled
) -> None:
    obj = unlabelled["loses-finalizer"]
    patch = [
        {"op": "test", "path": "/metadata/finalizers/0", "value": LLDAP_USER.finalizer},
        {"op": "remove", "path": "/metadata/finalizers/0"},
    ]
    answer = operator.patch(LLDAP_USER, obj, patch, content_type=JSON_PATCH)
    assert answer.status == 200
    assert "finalizers" not in answer.body["metadata"]


def test_an_object_without_the_label_can_get_it_once(
    tenant: Api, policy_namespace: PolicyNamespace
) -> None:
    obj = policy_namespace.unlabelled["gets-label"]
    late = tenant.patch(LLDAP_USER, obj, {"metadata": {"labels": {INSTANCE_LABEL: "default"}}})
    assert late.status == 200
    again = tenant.patch(LLDAP_USER, obj, {"metadata": {"labels": {INSTANCE_LABEL: "other"}}})
    assert_denied(again, "instance-label", "cannot be changed")


def test_a_late_label_is_a_dns_label_too(tenant: Api, unlabelled: Unlabelled) -> None:
    obj = unlabelled["gets-wrong-label"]
    answer = tenant.patch(LLDAP_USER, obj, {"metadata": {"labels": {INSTANCE_LABEL: "A"}}})
    assert_denied(answer, "instance-label", "at most 40 lower-case letters")


def test_the_label_does_not_hold_an_object_that_is_being_deleted(tenant: Api, key: Key) -> None:
    obj = being_deleted(tenant, key, LLDAP_USER)
    changed = tenant.patch(LLDAP_USER, obj, {"metadata": {"labels": {INSTANCE_LABEL: None}}})
    assert changed.status == 200
    assert tenant.patch(LLDAP_USER, obj, {"metadata": {"finalizers": None}}).ok


# The built-in annotation.


@pytest.mark.parametrize("kind", KINDS, ids=case_id)
@pytest.mark.parametrize("value", ["true", "false", ""])
def test_a_tenant_cannot_make_a_built_in(tenant: Api, key: Key, kind: Kind, value: str) -> None:
    obj = manifest(kind, key, SPECS[kind], annotations={BUILT_IN_ANNOTATION: value})
    answer = tenant.create(kind, obj)
    assert answer.status == 403
    assert_denied(answer, "built-in", BUILT_IN_ANNOTATION, "by the operator only")


@pytest.mark.parametrize("who", ["operator", "admin"])
def test_an_operator_and_a_cluster_administrator_can(
    request: pytest.FixtureRequest, key: Key, who: str
) -> None:
    api: Api = request.getfixturevalue(who)
    obj = manifest(LLDAP_GROUP, key, SPECS[LLDAP_GROUP], annotations=MARKED)
    assert api.create(LLDAP_GROUP, obj).status == 201
    assert api.patch(LLDAP_GROUP, obj, {"spec": {"displayName": "Others"}}).ok
    assert api.patch(LLDAP_GROUP, obj, {"metadata": {"annotations": None}}).ok


@pytest.fixture
def built_in(operator: Api, key: Key) -> dict[str, Any]:
    obj = manifest(LLDAP_GROUP, key, SPECS[LLDAP_GROUP], annotations=MARKED)
    assert operator.create(LLDAP_GROUP, obj).status == 201
    return obj


@pytest.mark.parametrize("value", [None, "false"])
def test_a_tenant_cannot_take_the_annotation_off(
    tenant: Api, built_in: dict[str, Any], value: str | None
) -> None:
    patch = {"metadata": {"annotations": {BUILT_IN_ANNOTATION: value}}}
    assert_denied(tenant.patch(LLDAP_GROUP, built_in, patch), "built-in", "leave it as it is")


def test_a_tenant_cannot_put_the_annotation_on_later(tenant: Api, key: Key) -> None:
    obj = manifest(LLDAP_GROUP, key, SPECS[LLDAP_GROUP])
    assert tenant.create(LLDAP_GROUP, obj).ok
    answer = tenant.patch(LLDAP_GROUP, obj, {"metadata": {"annotations": MARKED}})
    assert_denied(answer, "built-in")


@pytest.mark.parametrize(
    "spec", [{"displayName": "mine"}, {"deletionPolicy": "Delete"}, {"attributes": None}]
)
def test_a_tenant_cannot_edit_the_spec_of_a_built_in(
    tenant: Api, built_in: dict[str, Any], spec: dict[str, Any]
) -> None:
    answer = tenant.patch(LLDAP_GROUP, built_in, {"spec": spec})
    if spec == {"attributes": None}:
        assert answer.status == 200  # nothing changes
    else:
        assert answer.status == 403
        assert_denied(answer, "built-in", "the spec of a built-in group", "LldapMembership")


def test_a_tenant_cannot_unmark_and_edit_in_one_step(tenant: Api, built_in: dict[str, Any]) -> None:
    patch = {"metadata": {"annotations": None}, "spec": {"displayName": "mine"}}
    assert_denied(tenant.patch(LLDAP_GROUP, built_in, patch), "built-in")


def test_a_tenant_may_label_and_delete_a_built_in(
    tenant: Api, built_in: dict[str, Any], key: Key
) -> None:
    assert tenant.patch(LLDAP_GROUP, built_in, {"metadata": {"labels": {"team": "a"}}}).ok
    assert tenant.delete(LLDAP_GROUP, *key).ok


def test_a_built_in_that_is_being_deleted_is_let_go(tenant: Api, operator: Api, key: Key) -> None:
    obj = being_deleted(operator, key, LLDAP_GROUP, annotations=MARKED)
    assert tenant.patch(LLDAP_GROUP, obj, {"spec": {"displayName": "mine"}}).ok
    assert tenant.patch(LLDAP_GROUP, obj, {"metadata": {"finalizers": None}}).ok
