"""The shape that an LldapAttributeSchema asks for, in lldap's own terms."""

from controller.api import AttributeSchemaSpec, AttributeType, Target
from controller.harness.resource import Resource
from lldap import AttributeSchema
from lldap import AttributeType as LldapAttributeType
from lldap import Target as LldapTarget

_TYPES = {
    AttributeType.STRING: LldapAttributeType.STRING,
    AttributeType.INTEGER: LldapAttributeType.INTEGER,
    AttributeType.JPEG_PHOTO: LldapAttributeType.JPEG_PHOTO,
    AttributeType.DATE_TIME: LldapAttributeType.DATE_TIME,
}
_WORDS = {theirs: ours for ours, theirs in _TYPES.items()}
_TARGETS = {Target.USER: LldapTarget.USER, Target.GROUP: LldapTarget.GROUP}


def lldap_target(target: Target) -> LldapTarget:
    """Lldap's word for the target."""
    return _TARGETS[target]


def type_word(attribute_type: LldapAttributeType) -> str:
    """The type as a spec says it."""
    return _WORDS[attribute_type].value


def shape_of(spec: AttributeSchemaSpec) -> AttributeSchema:
    """What lldap must have for the spec to be true; every flag counts."""
    return AttributeSchema(
        name=spec.attribute_name,
        attribute_type=_TYPES[spec.attribute_type],
        is_list=spec.is_list,
        is_visible=spec.is_visible,
        is_editable=spec.is_editable,
    )


def declares(resource: Resource, live: AttributeSchema) -> bool:
    """Whether an object, found by the attribute's name and target, declares its very shape.

    Asked for each attribute of each account in each resync: the spec is not checked as a whole.
    """
    spec = resource.spec
    return (
        spec.get("attributeType") == _WORDS[live.attribute_type]
        and bool(spec.get("isList")) is live.is_list
        and bool(spec.get("isVisible")) is live.is_visible
        and bool(spec.get("isEditable")) is live.is_editable
    )
