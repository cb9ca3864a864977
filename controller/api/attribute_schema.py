"""LldapAttributeSchema: a custom attribute of users or groups."""

from collections.abc import Mapping
from typing import Any, Final

from controller.api.attributes import GROUP_BUILT_IN, USER_BUILT_IN, cel_list
from controller.api.fields import Boolean, Field, Object, Rule, String
from controller.api.kinds import Column, Kind, columns
from controller.api.names import GROUP, MARK_ATTRIBUTE
from controller.api.shared import (
    CONDITIONS,
    INSTANCE,
    OBSERVED_GENERATION,
    RECONCILE_AT,
    SERVER,
    deletion_policy,
)
from controller.api.words import AttributeType, Target

_INSTEAD: Final = "lldap cannot change an attribute, create one of another name instead"


def _flag(name: str, description: str) -> Field:
    return Field(
        name=name,
        type=Boolean(),
        default=False,
        immutable=_INSTEAD,
        description=f"{description} It cannot be changed.",
    )


def _not_built_in(spec: Mapping[str, Any]) -> bool:
    taken = USER_BUILT_IN if spec["target"] == Target.USER else GROUP_BUILT_IN
    return spec["attributeName"].lower() not in taken


_SPEC: Final = Object(
    fields=(
        Field(
            name="attributeName",
            type=String(min_length=1, max_length=64, pattern="^[a-zA-Z0-9][a-zA-Z0-9-]*$"),
            required=True,
            immutable=_INSTEAD,
            description=(
                "Name of the attribute: letters, digits and dashes. lldap keeps it in lower case. "
                "It cannot be changed."
            ),
        ),
        Field(
            name="attributeType",
            type=String(enum=tuple(AttributeType)),
            required=True,
            immutable=_INSTEAD,
            description="Type of its values. It cannot be changed.",
        ),
        Field(
            name="target",
            type=String(enum=tuple(Target)),
            required=True,
            immutable=_INSTEAD,
            description="Whether users or groups have it. It cannot be changed.",
        ),
        _flag("isList", "Whether it holds any number of values instead of one."),
        _flag("isVisible", "Whether people see it on their own page in lldap."),
        _flag("isEditable", "Whether people can change their own value in lldap."),
        deletion_policy(
            "Whether the attribute, and with it everybody's values, is removed from lldap when "
            "this object is deleted. Left out: Retain. Delete waits while somebody has a value."
        ),
    ),
    rules=(
        Rule(
            field="attributeName",
            expression=(
                f"!(self.attributeName.lowerAscii() in (self.target == '{Target.USER}' ? "
                f"{cel_list(USER_BUILT_IN)} : {cel_list(GROUP_BUILT_IN)}))"
            ),
            holds=_not_built_in,
            message="lldap has a built-in attribute of this name: choose another",
        ),
        Rule(
            field="attributeName",
            expression=f"self.attributeName.lowerAscii() != '{MARK_ATTRIBUTE}'",
            holds=lambda spec: spec["attributeName"].lower() != MARK_ATTRIBUTE,
            message="the operator keeps its mark in the attribute of this name: choose another",
        ),
    ),
)

_STATUS: Final = Object(
    fields=(INSTANCE, SERVER, RECONCILE_AT, OBSERVED_GENERATION, CONDITIONS),
)

LLDAP_ATTRIBUTE_SCHEMA: Final = Kind(
    kind="LldapAttributeSchema",
    plural="lldapattributeschemas",
    short="llas",
    finalizer=f"{GROUP}/attribute-schema-cleanup",
    description="A custom attribute that users or groups of lldap can have.",
    spec=_SPEC,
    status=_STATUS,
    columns=columns(
        Column(name="Name", path=".spec.attributeName"),
        Column(name="Type", path=".spec.attributeType"),
        Column(name="Target", path=".spec.target"),
    ),
)
