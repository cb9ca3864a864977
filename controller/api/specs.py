"""The specs of the four kinds as the reconcilers read them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

from controller.api.attribute_schema import LLDAP_ATTRIBUTE_SCHEMA
from controller.api.group import LLDAP_GROUP
from controller.api.kinds import Kind
from controller.api.membership import LLDAP_MEMBERSHIP
from controller.api.reading import read_object
from controller.api.user import LLDAP_USER
from controller.api.words import AttributeType, DeletionPolicy, PasswordPolicy, Target

Attributes = Mapping[str, tuple[str, ...]]  # by name in lower case, as lldap keeps it


@dataclass(frozen=True, slots=True)
class SecretKey:
    """Where a password is; the namespace is the object's."""

    name: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSpec:
    """spec of an LldapUser. None is "not declared"; an empty text is declared and clears."""

    username: str
    email: str
    display_name: str | None
    first_name: str | None
    last_name: str | None
    attributes: Attributes
    password_policy: PasswordPolicy
    password_secret: SecretKey | None
    deletion_policy: DeletionPolicy | None

    @classmethod
    def parse(cls, obj: Mapping[str, Any]) -> Self:
        """Read it from an object; InvalidSpec if the operator cannot act on it."""
        spec = _spec(LLDAP_USER, obj)
        secret = spec.get("passwordSecretRef")
        return cls(
            username=spec["username"],
            email=spec["email"],
            display_name=spec.get("displayName"),
            first_name=spec.get("firstName"),
            last_name=spec.get("lastName"),
            attributes=_attributes(spec),
            password_policy=PasswordPolicy(spec["passwordPolicy"]),
            password_secret=SecretKey(**secret) if secret else None,
            deletion_policy=_deletion_policy(spec),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpec:
    """spec of an LldapGroup."""

    display_name: str
    attributes: Attributes
    deletion_policy: DeletionPolicy | None

    @classmethod
    def parse(cls, obj: Mapping[str, Any]) -> Self:
        """Read it from an object; InvalidSpec if the operator cannot act on it."""
        spec = _spec(LLDAP_GROUP, obj)
        return cls(
            display_name=spec["displayName"],
            attributes=_attributes(spec),
            deletion_policy=_deletion_policy(spec),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipSpec:
    """spec of an LldapMembership."""

    user_name: str
    group_name: str
    deletion_policy: DeletionPolicy | None

    @classmethod
    def parse(cls, obj: Mapping[str, Any]) -> Self:
        """Read it from an object; InvalidSpec if the operator cannot act on it."""
        spec = _spec(LLDAP_MEMBERSHIP, obj)
        return cls(
            user_name=spec["userName"],
            group_name=spec["groupName"],
            deletion_policy=_deletion_policy(spec),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeSchemaSpec:
    """spec of an LldapAttributeSchema; the name in lower case, as lldap keeps it."""

    attribute_name: str
    attribute_type: AttributeType
    target: Target
    is_list: bool
    is_visible: bool
    is_editable: bool
    deletion_policy: DeletionPolicy | None

    @classmethod
    def parse(cls, obj: Mapping[str, Any]) -> Self:
        """Read it from an object; InvalidSpec if the operator cannot act on it."""
        spec = _spec(LLDAP_ATTRIBUTE_SCHEMA, obj)
        return cls(
            attribute_name=spec["attributeName"].lower(),
            attribute_type=AttributeType(spec["attributeType"]),
            target=Target(spec["target"]),
            is_list=spec["isList"],
            is_visible=spec["isVisible"],
            is_editable=spec["isEditable"],
            deletion_policy=_deletion_policy(spec),
        )


def _spec(kind: Kind, obj: Mapping[str, Any]) -> dict[str, Any]:
    return read_object(kind.spec, obj.get("spec"), "spec")


def _attributes(spec: Mapping[str, Any]) -> Attributes:
    entries = spec.get("attributes", ())
    return MappingProxyType({entry["name"].lower(): tuple(entry["value"]) for entry in entries})


def _deletion_policy(spec: Mapping[str, Any]) -> DeletionPolicy | None:
    word = spec.get("deletionPolicy")
    return DeletionPolicy(word) if word else None
