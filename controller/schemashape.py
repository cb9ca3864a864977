"""The shape that an LldapAttributeSchema asks for, in lldap's own terms."""

from controller.api import AttributeSchemaSpec, AttributeType, InvalidSpec, Target
from controller.resource import Resource
from lldap import AttributeSchema
from lldap import AttributeType as LldapAttributeType
from lldap import Target as LldapTarget

_TYPES = {
    AttributeType.STRING: LldapAttributeType.STRING,
    AttributeType.INTEGER: LldapAttributeType.INTEGER,
    AttributeType.JPEG_PHOTO: LldapAttributeType.JPEG_PHOTO,
    AttributeType.DATE_TIME: LldapAttributeType.DATE_TIME,
}
_TARGETS = {Target.USER: LldapTarget.USER, Target.GROUP: LldapTarget.GROUP}


def lldap_target(target: Target) -> LldapTarget:
    """Lldap's word for the target."""
    return _TARGETS[target]


def shape_of(spec: AttributeSchemaSpec) -> AttributeSchema:
    """What lldap must have for the spec to be true; every flag counts."""
    return AttributeSchema(
        name=spec.attribute_name,
        attribute_type=_TYPES[spec.attribute_type],
        is_list=spec.is_list,
        is_visible=spec.is_visible,
        is_editable=spec.is_editable,
    )


def declared_shape(resource: Resource) -> AttributeSchema | None:
    """The shape that an object declares; None if its spec cannot be read."""
    try:
        return shape_of(AttributeSchemaSpec.parse(resource.raw))
    except InvalidSpec:
        return None
