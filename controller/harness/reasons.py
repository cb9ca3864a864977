"""The closed table of reasons: whose, what each means, what to do, when it is looked at again.

Nothing else decides how a failure is retried. The page docs/reference/reasons.md is generated
from this table.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from controller.api import (
    KINDS,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    Kind,
)
from controller.harness.taxonomy import Cadences, Disposition, Rule, Taxonomy

TERMINAL = Disposition.TERMINAL
FIXED = Disposition.FIXED_REQUEUE
BACKOFF = Disposition.BACKOFF

CADENCES = Cadences(ready=0.0, progressing=5.0, transient=30.0, terminal=600.0)
ORDINARY_WAIT_SECONDS = 60.0  # of objects that were applied together: no event says that they wait


class Reason(enum.StrEnum):
    """The reasons of the Ready condition."""

    VERIFIED = "Verified"
    BUILT_IN = "BuiltIn"
    DRY_RUN = "DryRun"
    PAUSED = "Paused"
    PENDING = "Pending"
    PROGRESSING = "Progressing"
    DELETING = "Deleting"
    DEPENDENCY_NOT_READY = "DependencyNotReady"
    CONFLICT = "Conflict"
    EMAIL_CONFLICT = "EmailConflict"
    NOT_ADOPTED = "NotAdopted"
    PROTECTED_ACCOUNT = "ProtectedAccount"
    BUILT_IN_CONFLICT = "BuiltInConflict"
    HELD_BY_OTHER_INSTANCE = "HeldByOtherInstance"
    INVALID_SPEC = "InvalidSpec"
    INVALID_VALUE = "InvalidValue"
    SCHEMA_MISMATCH = "SchemaMismatch"
    ATTRIBUTE_IN_USE = "AttributeInUse"
    SECRET_NOT_FOUND = "SecretNotFound"  # noqa: S105 - the name of a reason
    SECRET_KEY_NOT_FOUND = "SecretKeyNotFound"  # noqa: S105 - the name of a reason
    PASSWORD_REJECTED = "PasswordRejected"  # noqa: S105 - the name of a reason
    LLDAP_UNAVAILABLE = "LldapUnavailable"
    FORBIDDEN = "Forbidden"
    UNSUPPORTED_SERVER = "UnsupportedServer"
    REFUSED = "Refused"
    KUBERNETES_UNAVAILABLE = "KubernetesUnavailable"
    INTERNAL_ERROR = "InternalError"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the table. `ready` is the status of the Ready condition that goes with it.

    `kinds` are those whose objects can have the reason.
    """

    reason: Reason
    ready: str
    rule: Rule | None
    meaning: str
    action: str
    kinds: tuple[Kind, ...] = KINDS


_ACCOUNTS = (LLDAP_USER, LLDAP_GROUP)

TABLE = (
    Entry(
        Reason.VERIFIED,
        "True",
        None,
        "lldap holds what the object asks for; this was read back or confirmed by lldap's answer.",
        "Nothing.",
    ),
    Entry(
        Reason.BUILT_IN,
        "True",
        None,
        "The object stands for one of lldap's three built-in groups; the operator keeps it.",
        "Use it in memberships of its namespace; its spec belongs to the operator.",
        (LLDAP_GROUP,),
    ),
    Entry(
        Reason.DRY_RUN,
        "True",
        None,
        "The dry-run annotation is set; the message says what would be done. Nothing was called.",
        "Remove the annotation to let it happen.",
    ),
    Entry(
        Reason.PAUSED,
        "Unknown",
        None,
        "The paused annotation is set; nothing is done for the object, deletion included. Whether "
        "it is Ready stays as it was; an object that is new is Unknown.",
        "Remove the annotation to go on.",
    ),
    Entry(
        Reason.PENDING,
        "False",
        Rule(FIXED, 10.0),
        "Something that the object names is not there yet; the message names it.",
        "Create it, or wait: the object is looked at again when it appears. An event says so only "
        "after a minute.",
        (LLDAP_USER, LLDAP_GROUP, LLDAP_MEMBERSHIP),
    ),
    Entry(
        Reason.PROGRESSING,
        "False",
        None,
        "The change is on its way and not confirmed yet.",
        "Wait a few seconds.",
        (LLDAP_USER,),
    ),
    Entry(
        Reason.DELETING,
        "False",
        Rule(FIXED, 5.0),
        "The object is being deleted and its clean-up in lldap waits; the message says for what.",
        "Do what the message says; with deletionPolicy Retain it goes at once.",
    ),
    Entry(
        Reason.DEPENDENCY_NOT_READY,
        "False",
        Rule(FIXED, 30.0),
        "A custom attribute has no LldapAttributeSchema that is Ready.",
        "Create the LldapAttributeSchema, or mend the one that the message names. An event says so "
        "only after a minute.",
        _ACCOUNTS,
    ),
    Entry(
        Reason.CONFLICT,
        "False",
        Rule(TERMINAL),
        "Another object, cluster or instance holds the target; nothing was changed.",
        "Delete one of the two, or rename; the message names the holder. If an object of this "
        "operator frees a group's name, who waits for it goes on at once.",
    ),
    Entry(
        Reason.EMAIL_CONFLICT,
        "False",
        Rule(BACKOFF),
        "The e-mail address belongs to another account in lldap.",
        "Give this user another address, or change that of the account that has it: if its object "
        "does so, this one goes on at once. To swap two, give one a temporary address first.",
        (LLDAP_USER,),
    ),
    Entry(
        Reason.NOT_ADOPTED,
        "False",
        Rule(TERMINAL),
        "The target exists in lldap, nobody manages it, and the adoption rules do not allow it.",
        "Ask an lldap administrator to invite it, or run once with LLDAP_ADOPTION=Always.",
        _ACCOUNTS,
    ),
    Entry(
        Reason.PROTECTED_ACCOUNT,
        "False",
        Rule(TERMINAL),
        "The account is the operator's own, or a member of a built-in group.",
        "Manage it from the namespace of the virtual groups; never the operator's own account.",
        (LLDAP_USER, LLDAP_MEMBERSHIP),
    ),
    Entry(
        Reason.BUILT_IN_CONFLICT,
        "False",
        Rule(TERMINAL),
        "The name is that of a built-in group of lldap.",
        "Choose another name; use the virtual group's object for memberships.",
        (LLDAP_GROUP,),
    ),
    Entry(
        Reason.HELD_BY_OTHER_INSTANCE,
        "False",
        Rule(FIXED, 30.0),
        "The object was served by the operator of another instance, which has not let go of it.",
        "Wait for that operator; if it is gone, run the command that the message gives, and after "
        "two minutes an event too.",
    ),
    Entry(
        Reason.INVALID_SPEC,
        "False",
        Rule(TERMINAL),
        "The spec breaks a rule of the CRD (it is older than the rule, or the CRD is), or the API "
        "server takes no change of the object.",
        "Correct the field that the message names.",
    ),
    Entry(
        Reason.INVALID_VALUE,
        "False",
        Rule(TERMINAL),
        "A value does not fit its attribute's type or arity, or lldap refused it.",
        "Correct the attribute that the message names.",
        _ACCOUNTS,
    ),
    Entry(
        Reason.SCHEMA_MISMATCH,
        "False",
        Rule(TERMINAL),
        "lldap has an attribute of that name with another type or other flags.",
        "Choose another name, or declare what is there: lldap cannot change an attribute.",
        (LLDAP_ATTRIBUTE_SCHEMA,),
    ),
    Entry(
        Reason.ATTRIBUTE_IN_USE,
        "False",
        Rule(FIXED, 10.0),
        "The attribute is not deleted while an account or a group has a value or names it.",
        "Remove the values that the message names, or set deletionPolicy Retain.",
        (LLDAP_ATTRIBUTE_SCHEMA,),
    ),
    Entry(
        Reason.SECRET_NOT_FOUND,
        "False",
        Rule(FIXED, 30.0),
        "The Secret of passwordSecretRef does not exist in the object's namespace.",
        "Create the Secret; the object is looked at again when it appears.",
        (LLDAP_USER,),
    ),
    Entry(
        Reason.SECRET_KEY_NOT_FOUND,
        "False",
        Rule(FIXED, 30.0),
        "The Secret has no such key.",
        "Add the key, or correct passwordSecretRef.key.",
        (LLDAP_USER,),
    ),
    Entry(
        Reason.PASSWORD_REJECTED,
        "False",
        Rule(TERMINAL),
        "The password is empty, longer than 4,096 bytes or not UTF-8; nothing was registered.",
        "Put another password into the Secret.",
        (LLDAP_USER,),
    ),
    Entry(
        Reason.LLDAP_UNAVAILABLE,
        "False",
        Rule(BACKOFF),
        "lldap could not be reached, or gave an answer that was not understood.",
        "Check that lldap runs and LLDAP_URL; the object goes on as soon as lldap answers.",
    ),
    Entry(
        Reason.FORBIDDEN,
        "False",
        Rule(BACKOFF),
        "lldap refused the operator's login or its rights, or the API server refused a request.",
        "Check the operator's password, its membership in lldap_admin, and its Roles.",
    ),
    Entry(
        Reason.UNSUPPORTED_SERVER,
        "False",
        Rule(TERMINAL),
        "This lldap, or the CRDs of this cluster, lack something that the object needs.",
        "Upgrade lldap to 0.6 or later, or apply the CRDs of the operator's release; the message "
        "says which.",
    ),
    Entry(
        Reason.REFUSED,
        "False",
        Rule(BACKOFF),
        "lldap refused the change; the message holds its words.",
        "Do what the message says; the change is tried again ever more rarely.",
    ),
    Entry(
        Reason.KUBERNETES_UNAVAILABLE,
        "False",
        Rule(BACKOFF),
        "The API server did not answer a request that the object needs.",
        "Nothing: the request is tried again.",
    ),
    Entry(
        Reason.INTERNAL_ERROR,
        "False",
        Rule(BACKOFF),
        "The operator failed in a way that it does not know.",
        "Look into its log and report it.",
    ),
)

BY_REASON = {entry.reason: entry for entry in TABLE}

TAXONOMY = Taxonomy({e.reason: e.rule for e in TABLE if e.rule is not None})

PATIENCE: Mapping[str, float] = {
    Reason.PENDING: ORDINARY_WAIT_SECONDS,
    Reason.DEPENDENCY_NOT_READY: ORDINARY_WAIT_SECONDS,
}
