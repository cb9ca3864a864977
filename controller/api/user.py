"""LldapUser: a person, or another account, that can log in."""

import unicodedata
from typing import Final

from controller.api.attributes import NAMES_DIFFER, USER_FIELDS, USER_READ_ONLY, attributes
from controller.api.fields import Field, Object, Rule, String
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
from controller.api.words import PasswordPolicy

_NAME: Final = String(max_length=255)
_INVISIBLE: Final = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})  # [\p{Z}\p{Cc}\p{Cf}] of RE2


def _is_visible(text: str) -> bool:
    """Whether there is no space and no invisible character in it."""
    if text.isprintable() and " " not in text:  # implies it, and is much quicker
        return True
    return all(unicodedata.category(c) not in _INVISIBLE for c in text)


_SECRET_REF: Final = Object(
    fields=(
        Field(
            name="name",
            type=String(
                min_length=1,
                max_length=253,
                pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
            ),
            required=True,
            description="Name of a Secret in the object's namespace.",
        ),
        Field(
            name="key",
            type=String(min_length=1, max_length=253, pattern="^[a-zA-Z0-9._-]+$"),
            required=True,
            description=(
                "Key in the Secret. Its exact bytes are the password: UTF-8, not empty, at most "
                "4,096 bytes; a trailing newline counts."
            ),
        ),
    )
)

_SPEC: Final = Object(
    fields=(
        Field(
            name="username",
            type=String(min_length=1, max_length=64, pattern="^[a-zA-Z0-9._-]+$"),
            required=True,
            immutable="create a new LldapUser instead",
            description=(
                "The user id in lldap, with which people log in. lldap keeps it in lower case. "
                "It cannot be changed."
            ),
        ),
        Field(
            name="email",
            type=String(min_length=3, max_length=255, pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$"),
            required=True,
            description=(
                "E-mail address: one @, a dot in the domain. No two users of one lldap have the "
                "same in any letter case."
            ),
        ),
        Field(
            name="displayName",
            type=_NAME,
            nullable=True,
            description="Name to show; left out, lldap's own is left alone.",
        ),
        Field(
            name="firstName",
            type=_NAME,
            nullable=True,
            description="First name; left out, lldap's own is left alone.",
        ),
        Field(
            name="lastName",
            type=_NAME,
            nullable=True,
            description="Last name; left out, lldap's own is left alone.",
        ),
        attributes(
            fields=USER_FIELDS,
            instead="spec.email, displayName, firstName or lastName",
            read_only=USER_READ_ONLY,
            description=(
                "Values of custom attributes, and of avatar. A custom attribute needs an "
                "LldapAttributeSchema with target User that is Ready. Objects with pictures are "
                "too large for client-side apply: use kubectl apply --server-side."
            ),
        ),
        Field(
            name="passwordPolicy",
            type=String(enum=tuple(PasswordPolicy)),
            default=PasswordPolicy.MANAGE.value,
            description=(
                "Manage: lldap's password is kept equal to the Secret's. InitialOnly: it is set "
                "once, for an account that the operator creates, and people change it themselves. "
                "Ignore: the operator never touches it."
            ),
        ),
        Field(
            name="passwordSecretRef",
            type=_SECRET_REF,
            nullable=True,
            description="Where the password is. Required unless passwordPolicy is Ignore.",
        ),
        deletion_policy(
            "What becomes of the user in lldap when this object is deleted. Left out: Delete if "
            "the operator created it, Retain if it adopted it."
        ),
    ),
    rules=(
        Rule(
            field="username",
            expression="!self.username.matches('^[.]+$')",
            holds=lambda spec: bool(spec["username"].strip(".")),
            message="username must not be dots only: add a letter or a digit",
        ),
        Rule(
            field="email",
            expression=r"!self.email.matches('[\\p{Z}\\p{Cc}\\p{Cf}]')",
            holds=lambda spec: _is_visible(spec["email"]),
            message="email must not contain spaces or invisible characters: type it anew",
        ),
        Rule(
            field="passwordSecretRef",
            expression="self.passwordPolicy == 'Ignore' || has(self.passwordSecretRef)",
            holds=lambda spec: (
                spec["passwordPolicy"] == PasswordPolicy.IGNORE or "passwordSecretRef" in spec
            ),
            message=(
                "passwordSecretRef is required: name the Secret and its key, "
                "or set passwordPolicy to Ignore"
            ),
            reason="FieldValueRequired",
        ),
        NAMES_DIFFER,
    ),
)

_STATUS: Final = Object(
    fields=(
        INSTANCE,
        SERVER,
        Field(name="userId", type=String(), description="The user id in lldap."),
        UUID,
        ORIGIN,
        Field(
            name="passwordHash",
            type=String(),
            description=(
                "Fingerprint of the password that lldap was given last: with a hash key "
                "HMAC-SHA-256, without one plain SHA-256."
            ),
        ),
        Field(
            name="passwordSecret",
            type=Object(
                fields=(
                    Field(name="uid", type=String(), description="Its metadata.uid."),
                    Field(
                        name="resourceVersion",
                        type=String(),
                        description="Its metadata.resourceVersion.",
                    ),
                )
            ),
            description="The version of the Secret that was read last.",
        ),
        Field(
            name="passwordModifiedDate",
            type=String(format="date-time"),
            description="When lldap says the password was changed last, as the operator knows it.",
        ),
        MANAGED,
        RECONCILE_AT,
        SEAL,
        OBSERVED_GENERATION,
        CONDITIONS,
    )
)

LLDAP_USER: Final = Kind(
    kind="LldapUser",
    plural="lldapusers",
    short="llu",
    finalizer=f"{GROUP}/user-cleanup",
    description="A user of lldap: a person or another account that can log in.",
    spec=_SPEC,
    status=_STATUS,
    columns=columns(
        Column(name="Username", path=".spec.username"),
        Column(name="Email", path=".spec.email"),
    ),
)
