"""LldapMembership: one user in one group."""

from typing import Final

from controller.api.fields import Field, Integer, Object, String
from controller.api.kinds import Column, Kind, columns
from controller.api.names import GROUP
from controller.api.shared import (
    CONDITIONS,
    INSTANCE,
    OBSERVED_GENERATION,
    RECONCILE_AT,
    SEAL,
    SERVER,
    deletion_policy,
)

_INSTEAD: Final = "create a new LldapMembership instead, then delete this one"

_SPEC: Final = Object(
    fields=(
        Field(
            name="userName",
            type=String(min_length=1, max_length=64),
            required=True,
            immutable=_INSTEAD,
            description=(
                "The user's name in lldap, that is spec.username of an LldapUser in this "
                "namespace, not its metadata.name. It cannot be changed."
            ),
        ),
        Field(
            name="groupName",
            type=String(min_length=1, max_length=128),
            required=True,
            immutable=_INSTEAD,
            description=(
                "The group's name in lldap, that is spec.displayName of an LldapGroup in this "
                "namespace, not its metadata.name. It cannot be changed."
            ),
        ),
        deletion_policy(
            "Whether the user leaves the group when this object is deleted. Left out: Delete, the "
            "user leaves."
        ),
    )
)

_STATUS: Final = Object(
    fields=(
        INSTANCE,
        SERVER,
        Field(name="userId", type=String(), description="The user's id in lldap."),
        Field(name="userUuid", type=String(), description="The uuid that lldap gave the user."),
        Field(
            name="groupId",
            type=Integer(format="int32"),
            description="The number of the group in lldap.",
        ),
        Field(name="groupUuid", type=String(), description="The uuid that lldap gave the group."),
        RECONCILE_AT,
        SEAL,
        OBSERVED_GENERATION,
        CONDITIONS,
    )
)

LLDAP_MEMBERSHIP: Final = Kind(
    kind="LldapMembership",
    plural="lldapmemberships",
    short="llm",
    finalizer=f"{GROUP}/membership-cleanup",
    description="One user in one group of lldap.",
    spec=_SPEC,
    status=_STATUS,
    columns=columns(
        Column(name="User", path=".spec.userName"),
        Column(name="Group", path=".spec.groupName"),
    ),
)
