"""The API that the operator serves, described once.

- The four kinds are data: `KINDS`. From it come the CustomResourceDefinitions, the reference
  pages and the reading of objects, so that they cannot disagree.
- `UserSpec.parse(obj)` and its siblings read an object's spec: null is absent, defaults are
  filled in, unknown fields are dropped. What breaks a limit or a rule of the description raises
  `InvalidSpec`, and nothing else is raised for any JSON object.
- Names that the operator shares with its users are constants here.

Everything is immutable and may be used from any thread.
"""

from typing import Final

from controller.api.attribute_schema import LLDAP_ATTRIBUTE_SCHEMA
from controller.api.attributes import GROUP_BUILT_IN, USER_BUILT_IN
from controller.api.group import LLDAP_GROUP
from controller.api.kinds import Kind
from controller.api.membership import LLDAP_MEMBERSHIP
from controller.api.names import (
    API_VERSION,
    BUILT_IN_ANNOTATION,
    CONDITION_TYPES,
    DRY_RUN_ANNOTATION,
    FIELD_MANAGER,
    GROUP,
    INSTANCE_LABEL,
    INSTANCE_MAX_LENGTH,
    INSTANCE_PATTERN,
    MARK_ATTRIBUTE,
    OPERATE_VERB,
    PAUSED_ANNOTATION,
    READY,
    RECONCILE_AT_ANNOTATION,
    RECONCILING,
    STALLED,
    VERSION,
)
from controller.api.reading import InvalidSpec
from controller.api.specs import (
    Attributes,
    AttributeSchemaSpec,
    GroupSpec,
    MembershipSpec,
    SecretKey,
    UserSpec,
)
from controller.api.user import LLDAP_USER
from controller.api.words import AttributeType, DeletionPolicy, Origin, PasswordPolicy, Target

KINDS: Final = (LLDAP_USER, LLDAP_GROUP, LLDAP_MEMBERSHIP, LLDAP_ATTRIBUTE_SCHEMA)

__all__ = [
    "API_VERSION",
    "BUILT_IN_ANNOTATION",
    "CONDITION_TYPES",
    "DRY_RUN_ANNOTATION",
    "FIELD_MANAGER",
    "GROUP",
    "GROUP_BUILT_IN",
    "INSTANCE_LABEL",
    "INSTANCE_MAX_LENGTH",
    "INSTANCE_PATTERN",
    "KINDS",
    "LLDAP_ATTRIBUTE_SCHEMA",
    "LLDAP_GROUP",
    "LLDAP_MEMBERSHIP",
    "LLDAP_USER",
    "MARK_ATTRIBUTE",
    "OPERATE_VERB",
    "PAUSED_ANNOTATION",
    "READY",
    "RECONCILE_AT_ANNOTATION",
    "RECONCILING",
    "STALLED",
    "USER_BUILT_IN",
    "VERSION",
    "AttributeSchemaSpec",
    "AttributeType",
    "Attributes",
    "DeletionPolicy",
    "GroupSpec",
    "InvalidSpec",
    "Kind",
    "MembershipSpec",
    "Origin",
    "PasswordPolicy",
    "SecretKey",
    "Target",
    "UserSpec",
]
