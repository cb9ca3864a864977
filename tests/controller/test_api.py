"""The kinds as data: what spec says of them, and what the API server would refuse."""

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest

from controller import api
from controller.api import (
    CONDITION_TYPES,
    GROUP,
    INSTANCE_LABEL,
    INSTANCE_MAX_LENGTH,
    INSTANCE_PATTERN,
    KINDS,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    Kind,
)
from controller.api.fields import Array, Field, Object, Rule, String, Type
from controller.api.schema import custom_resource_definition, schema

each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.short)


def objects(kind: Type) -> Iterator[Object]:
    if isinstance(kind, Array):
        yield from objects(kind.items)
    if isinstance(kind, Object):
        yield kind
        for field in kind.fields:
            yield from objects(field.type)


def fields(kind: Type) -> list[Field]:
    return [field for found in objects(kind) for field in found.fields]


def rules(kind: Kind) -> list[tuple[Object, Rule]]:
    return [(found, rule) for found in objects(kind.spec) for rule in found.rules]


def names(found: Object) -> list[str]:
    return [field.name for field in found.fields]


@pytest.mark.parametrize(
    ("kind", "plural", "short", "finalizer"),
    [
        (LLDAP_USER, "lldapusers", "llu", "user-cleanup"),
        (LLDAP_GROUP, "lldapgroups", "llg", "group-cleanup"),
        (LLDAP_MEMBERSHIP, "lldapmemberships", "llm", "membership-cleanup"),
        (LLDAP_ATTRIBUTE_SCHEMA, "lldapattributeschemas", "llas", "attribute-schema-cleanup"),
    ],
)
def test_the_kinds_are_called_as_users_know_them(
    kind: Kind, plural: str, short: str, finalizer: str
) -> None:
    assert (kind.plural, kind.short) == (plural, short)
    assert kind.finalizer == f"lldap-operator.lukidoescode.com/{finalizer}"
    assert kind.crd_name == f"{plural}.lldap-operator.lukidoescode.com"
    assert kind.api_version == "lldap-operator.lukidoescode.com/v1alpha1"


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        (
            LLDAP_USER,
            """username email displayName firstName lastName attributes
            passwordPolicy passwordSecretRef deletionPolicy""",
        ),
        (LLDAP_GROUP, "displayName attributes deletionPolicy"),
        (LLDAP_MEMBERSHIP, "userName groupName deletionPolicy"),
        (
            LLDAP_ATTRIBUTE_SCHEMA,
            "attributeName attributeType target isList isVisible isEditable deletionPolicy",
        ),
    ],
)
def test_the_specs_have_these_fields(kind: Kind, spec: str) -> None:
    assert names(kind.spec) == spec.split()


@each_kind
def test_an_optional_field_without_default_or_enum_takes_null(kind: Kind) -> None:
    for field in fields(kind.spec):
        enum = isinstance(field.type, String) and field.type.enum
        assert field.nullable == (not field.required and field.default is None and not enum)


@each_kind
def test_only_a_field_that_is_always_there_is_immutable(kind: Kind) -> None:
    for field in fields(kind.spec):
        if field.immutable:
            assert field.required or field.default is not None


def test_what_is_immutable() -> None:
    found = {kind: {f.name for f in fields(kind.spec) if f.immutable} for kind in KINDS}
    everything = set(names(LLDAP_ATTRIBUTE_SCHEMA.spec))
    assert found == {
        LLDAP_USER: {"username"},
        LLDAP_GROUP: set(),
        LLDAP_MEMBERSHIP: {"userName", "groupName"},
        LLDAP_ATTRIBUTE_SCHEMA: everything - {"deletionPolicy"},
    }


@each_kind
def test_a_rule_names_a_field_and_says_in_one_line_what_to_do(kind: Kind) -> None:
    for found, rule in rules(kind):
        assert rule.field in names(found)
        assert re.fullmatch(r"[^\n]+", rule.message)


@each_kind
def test_each_rule_of_a_crd_has_field_path_reason_and_message(kind: Kind) -> None:
    for found in objects(kind.spec):
        written = schema(found).get("x-kubernetes-validations", [])
        assert len(written) == len(found.rules) + sum(bool(f.immutable) for f in found.fields)
        for rule in written:
            assert rule.keys() == {"rule", "fieldPath", "reason", "message"}
            assert rule["fieldPath"].removeprefix(".") in names(found)


@each_kind
def test_lists_that_rules_go_through_are_bounded(kind: Kind) -> None:
    for field in fields(kind.spec):
        if isinstance(field.type, Array) and isinstance(field.type.items, Object):
            assert field.type.max_items
            (key,) = [f for f in field.type.items.fields if f.name == field.type.key]
            assert isinstance(key.type, String)
            assert key.type.max_length


@each_kind
def test_every_field_is_described_in_sentences(kind: Kind) -> None:
    for field in (*fields(kind.spec), *fields(kind.status)):
        assert re.fullmatch(r"[A-Z].*\.", field.description), field.name


@each_kind
def test_patterns_mean_the_same_in_go_and_in_python(kind: Kind) -> None:
    for field in (*fields(kind.spec), *fields(kind.status)):
        if isinstance(field.type, String) and field.type.pattern:
            pattern = field.type.pattern
            assert pattern[0] == "^"
            assert pattern[-1] == "$"
            assert not re.search(r"\(\?|\\[AZbBdwWDS]|\\[0-9]", pattern)


@each_kind
def test_every_kind_reports_in_one_shape(kind: Kind) -> None:
    common = {"instance", "server", "reconcileAt", "observedGeneration", "conditions"}
    assert common <= set(names(kind.status))
    (conditions,) = [f.type for f in kind.status.fields if f.name == "conditions"]
    assert isinstance(conditions, Array)
    assert conditions.key == "type"


@each_kind
def test_E11_tools_that_uninstall_or_prune_leave_the_crd(kind: Kind) -> None:
    annotations = custom_resource_definition(kind)["metadata"]["annotations"]
    assert annotations["helm.sh/resource-policy"] == "keep"
    assert "Prune=false" in annotations["argocd.argoproj.io/sync-options"]
    assert annotations["kustomize.toolkit.fluxcd.io/prune"] == "disabled"


@pytest.mark.parametrize(
    ("value", "fits"),
    [("default", True), ("a" * INSTANCE_MAX_LENGTH, True), ("a" * 41, False), ("", False)],
)
def test_the_pattern_of_an_instance_holds_its_length(value: str, fits: bool) -> None:
    assert bool(re.match(INSTANCE_PATTERN, value)) is fits


def test_the_names_are_those_of_the_documents() -> None:
    assert INSTANCE_LABEL == "lldap-operator.lukidoescode.com/lldap-instance"
    assert api.BUILT_IN_ANNOTATION == "lldap-resources-operator.lukidoescode.com/built-in"
    assert f"{GROUP}/dry-run" == api.DRY_RUN_ANNOTATION
    assert f"{GROUP}/paused" == api.PAUSED_ANNOTATION
    assert f"{GROUP}/reconcile-at" == api.RECONCILE_AT_ANNOTATION
    assert CONDITION_TYPES == ("Ready", "Reconciling", "Stalled")
    assert api.MARK_ATTRIBUTE == "kubernetes-owner"


def test_the_public_names_are_there_and_sorted() -> None:
    assert all(hasattr(api, name) for name in api.__all__)
    constants = [name for name in api.__all__ if name.isupper()]
    assert all(a < b for a, b in pairwise(constants))
