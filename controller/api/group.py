"""LldapGroup: a group of users."""

from typing import Final

from controller.api.attributes import GROUP_FIELDS, GROUP_READ_ONLY, NAMES_DIFFER, attributes
from controller.api.fields import Field, Integer, Object, String
from controller.api.kinds import Column, Kind, columns
from controller.api.names import GROUP
from controller.api.shared import (
    CONDITIONS,
    INSTANCE,
    MANAGED,
    OBSERVED_GENERATION,
    ORIGIN,
    RECONCILE_AT,
    SEAL,
    SERVER,
    UUID,
    deletion_policy,
)

_SPEC: Final = Object(
    fields=(
        Field(
            name="displayName",
            type=String(min_length=1, max_length=128),
            required=True,
            description=(
                "The group's name in lldap; no two groups of one lldap have the same in any letter "
                "case. A change renames the group in place, its members stay."
            ),
        ),
        attributes(
            fields=GROUP_FIELDS,
            instead="spec.displayName",
            read_only=GROUP_READ_ONLY,
            description=(
                "Values of custom attributes. Each needs an LldapAttributeSchema with target Group "
                "that is Ready."
            ),
        ),
        deletion_policy(
            "What becomes of the group in lldap when this object is deleted. Left out: Delete if "
            "the operator created it, Retain if it adopted it."
        ),
    ),
    rules=(NAMES_DIFFER,),
)

_STATUS: Final = Object(
    fields=(
        INSTANCE,
        SERVER,
        Field(
            name="groupId",
            type=Integer(format="int32"),
            description="The number of the group in lldap.",
        ),
        UUID,
        ORIGIN,
        MANAGED,
        RECONCILE_AT,
        SEAL,
        OBSERVED_GENERATION,
        CONDITIONS,
    )
)

LLDAP_GROUP: Final = Kind(
    kind="LldapGroup",
    plural="lldapgroups",
    short="llg",
    finalizer=f"{GROUP}/group-cleanup",
    description="A group of lldap. Who is in it is said by LldapMembership objects.",
    spec=_SPEC,
    status=_STATUS,
    columns=columns(
        Column(name="DisplayName", path=".spec.displayName"),
        Column(name="GroupId", path=".status.groupId", type="integer"),
    ),
)
