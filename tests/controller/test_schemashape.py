"""The shape that an LldapAttributeSchema asks for."""

from typing import Any

import pytest

from controller.api import AttributeSchemaSpec, AttributeType, Target
from controller.harness.resource import Resource
from controller.reconcilers.schemashape import declares, lldap_target, shape_of
from lldap import AttributeSchema
from lldap import AttributeType as LldapAttributeType
from lldap import Target as LldapTarget

SPEC = {"attributeName": "costCenter", "attributeType": "String", "target": "Group"}
SHAPE = AttributeSchema("costcenter", LldapAttributeType.STRING)


def resource(**spec: Any) -> Resource:
    return Resource({"metadata": {"name": "x"}, "spec": {**SPEC, **spec}})


def test_the_name_is_the_one_that_lldap_keeps() -> None:
    assert shape_of(AttributeSchemaSpec.parse(resource().raw)) == SHAPE


@pytest.mark.parametrize("kind", list(AttributeType))
def test_every_type_has_its_word_in_lldap(kind: AttributeType) -> None:
    spec = AttributeSchemaSpec.parse(resource(attributeType=kind).raw)
    assert shape_of(spec).attribute_type.name.replace("_", "") == kind.upper()
    assert declares(resource(attributeType=kind), shape_of(spec))


def test_every_target_has_its_word_in_lldap() -> None:
    assert {lldap_target(target) for target in Target} == set(LldapTarget)


@pytest.mark.parametrize("flag", ["isList", "isVisible", "isEditable"])
def test_every_flag_counts(flag: str) -> None:
    named = resource(**{flag: True})
    shape = shape_of(AttributeSchemaSpec.parse(named.raw))
    assert shape != SHAPE
    assert declares(named, shape)
    assert not declares(named, SHAPE)
    assert declares(resource(**{flag: None}), SHAPE)
    assert declares(resource(**{flag: False}), SHAPE)


@pytest.mark.parametrize("built_in", ["is_hardcoded", "is_readonly"])
def test_what_lldap_has_built_in_is_nobodys_shape(built_in: str) -> None:
    built = {"is_hardcoded": False, "is_readonly": False, built_in: True}
    live = AttributeSchema("costcenter", LldapAttributeType.STRING, **built)
    assert shape_of(AttributeSchemaSpec.parse(resource().raw)) != live


def test_another_type_is_another_shape() -> None:
    assert not declares(resource(attributeType="Integer"), SHAPE)
    assert not declares(resource(attributeType=None), SHAPE)
