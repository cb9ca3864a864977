"""The indexes of the informers: who claims a target, who names what.

Every function is total: an object that breaks its CRD is in no index. Only objects of this
instance are indexed, so that another instance's can never be a rival.
"""

from collections.abc import Callable, Iterable
from typing import Any

from controller.api import (
    INSTANCE_LABEL,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    READY,
    Kind,
    PasswordPolicy,
    Target,
)
from controller.harness.reasons import Reason
from controller.harness.resource import Object
from lldap.names import attribute_key, email_key, group_key, user_key

TARGET = "target"  # what of lldap an object claims
USER = "user"  # memberships by the user that they name
GROUP = "group"  # memberships by the group that they name
SECRET = "secret"  # noqa: S105 - users by the Secret that they name
ATTRIBUTE = "attribute"  # users and groups by the attributes that they name
EMAIL = "email"  # users that wait for an e-mail address of somebody else, by that address

IndexFunction = Callable[[Object], Iterable[str]]


def pair(user: str, group: str) -> str:
    """The claim of a membership; neither key holds a line break."""
    return f"{user_key(user)}\n{group_key(group)}"


def attribute_claim(target: str, name: str) -> str:
    """The claim of an attribute schema."""
    return f"{target}/{attribute_key(name)}"


def on_other_target(claim: str) -> str:
    """The claim of the attribute of the same name of groups for one of users, and back."""
    target, _, name = claim.partition("/")
    return f"{Target.GROUP if target == Target.USER else Target.USER}/{name}"


def indexes(kind: Kind, instance: str) -> dict[str, IndexFunction]:
    """All indexes of one kind for the objects that carry this instance's label."""

    def ours(function: IndexFunction) -> IndexFunction:
        def indexed(obj: Object) -> Iterable[str]:
            labels = obj["metadata"].get("labels") or {}
            return function(obj) if labels.get(INSTANCE_LABEL) == instance else ()

        return indexed

    return {name: ours(function) for name, function in _FUNCTIONS[kind.kind].items()}


def targets_of(kind: Kind) -> IndexFunction:
    """What an object claims in lldap, whatever its label says."""
    return _FUNCTIONS[kind.kind][TARGET]


def _spec(obj: Object) -> Object:
    spec = obj.get("spec")
    return spec if isinstance(spec, dict) else {}


def _text(value: Any) -> str | None:  # noqa: ANN401 - whatever stands in an object
    return value if isinstance(value, str) else None


def _field(name: str, key: Callable[[str], str]) -> IndexFunction:
    def function(obj: Object) -> Iterable[str]:
        value = _text(_spec(obj).get(name))
        return () if value is None else (key(value),)

    return function


def _membership(obj: Object) -> Iterable[str]:
    user, group = _text(_spec(obj).get("userName")), _text(_spec(obj).get("groupName"))
    return () if user is None or group is None else (pair(user, group),)


def _schema(obj: Object) -> Iterable[str]:
    spec = _spec(obj)
    name, target = _text(spec.get("attributeName")), _text(spec.get("target"))
    return () if name is None or target is None else (attribute_claim(target, name),)


def _secret(obj: Object) -> Iterable[str]:
    spec = _spec(obj)
    if spec.get("passwordPolicy") == PasswordPolicy.IGNORE:
        return ()
    reference = spec.get("passwordSecretRef")
    name = _text(reference.get("name")) if isinstance(reference, dict) else None
    return () if name is None else (f"{obj['metadata'].get('namespace', '')}/{name}",)


def _wanted_email(obj: Object) -> Iterable[str]:
    """Only of who waits for it: an index of all addresses would be memory for nothing."""
    email = _text(_spec(obj).get("email"))
    return (email_key(email),) if email is not None and _waits_for_email(obj) else ()


def _waits_for_email(obj: Object) -> bool:
    status = obj.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    return isinstance(conditions, list) and any(
        isinstance(each, dict)
        and each.get("type") == READY
        and each.get("reason") == Reason.EMAIL_CONFLICT
        for each in conditions
    )


def _attributes(target: Target) -> IndexFunction:
    def function(obj: Object) -> Iterable[str]:
        entries = _spec(obj).get("attributes")
        if not isinstance(entries, list):
            return
        for entry in entries:
            name = _text(entry.get("name")) if isinstance(entry, dict) else None
            if name is not None:
                yield attribute_claim(target, name)

    return function


_FUNCTIONS: dict[str, dict[str, IndexFunction]] = {
    LLDAP_USER.kind: {
        TARGET: _field("username", user_key),
        SECRET: _secret,
        EMAIL: _wanted_email,
        ATTRIBUTE: _attributes(Target.USER),
    },
    LLDAP_GROUP.kind: {
        TARGET: _field("displayName", group_key),
        ATTRIBUTE: _attributes(Target.GROUP),
    },
    LLDAP_MEMBERSHIP.kind: {
        TARGET: _membership,
        USER: _field("userName", user_key),
        GROUP: _field("groupName", group_key),
    },
    LLDAP_ATTRIBUTE_SCHEMA.kind: {TARGET: _schema},
}
