"""What somebody tries, field by field: the values behind docs/reference/tenant-safety.md."""

import base64
from collections.abc import Iterator, Mapping
from typing import Any, Final

from controller.api import (
    BUILT_IN_ANNOTATION,
    DRY_RUN_ANNOTATION,
    INSTANCE_LABEL,
    MARK_ATTRIBUTE,
    PAUSED_ANNOTATION,
    RECONCILE_AT_ANNOTATION,
    Kind,
)
from controller.api.fields import Array, Object, Type
from controller.configuration.values import Adoption
from tests.support.bed import Bed
from tests.support.directory import BUILT_IN, Directory, mark

VICTIMS = "team-b"
TENANT = "team-a"
VIRTUAL = "lldap-system"

VICTIMS_SECRET: Final = {"name": "pw", "key": "password"}
TENANTS_SECRET: Final = {"name": "mallorys", "key": "password"}
ADDRESS: Final = "victim@example.org"

# What of others stands in lldap; each is a key of Directory.dump().
OTHERS_USERS: Final = ("admin", "ceo", "root", "svc", "pwm", "far", "beside", "victim", "peer")
OTHERS_GROUPS: Final = (*BUILT_IN, "board", "idle", "farms", "victims", "peers")
OTHERS_ATTRIBUTES: Final = (
    "user attribute costcenter",
    "user attribute salary",
    f"user attribute {MARK_ATTRIBUTE}",
    f"group attribute {MARK_ATTRIBUTE}",
)

# With LLDAP_ADOPTION=IfUnprivileged whoever names these first has them, from a tenant's
# namespace or from that of the virtual groups: by design.
ADOPTABLE: Final = {TENANT: {"ceo", "idle"}, VICTIMS: {"ceo", "idle"}}
ADOPTABLE[VIRTUAL] = {"ceo", "idle", "root", "svc", "pwm", "board"}


def world(adoption: Adoption) -> Bed:
    """A bed with all that belongs to others, at rest."""
    bed = Bed(adoption=adoption, namespaces=None)
    directory = Directory(bed)
    directory.make_attribute("salary")
    directory.make_user("ceo", salary="9")
    for name, group in zip(("root", "pwm", "svc"), BUILT_IN, strict=True):
        directory.make_user(name, group)
    directory.make_user("far", mark=mark("uid-9", "far", cluster="cluster-2"))
    directory.make_user("beside", mark=mark("uid-8", "beside", instance="beside"))
    directory.make_user("peer")
    directory.make_group("board", "root")
    directory.make_group("idle")
    directory.make_group("farms", "far", mark=mark("uid-7", "farms", cluster="cluster-2"))
    directory.make_group("peers", "peer", mark=mark("uid-6", "peers", instance="beside"))
    _managed_by_others(bed)
    for user in ("victim", "peer"):
        directory.add(user, "board")
        directory.set_attribute(user, "salary", "7")
    bed.run(700, step=350)
    bed.clear_logs()
    return bed


def _managed_by_others(bed: Bed) -> None:
    bed.secret("pw", b"victims-password", VICTIMS)
    bed.apply("LldapAttributeSchema", "costcenter", _schema("costcenter"), VICTIMS)
    bed.settle()
    bed.user(
        "victim",
        VICTIMS,
        passwordPolicy="Manage",
        passwordSecretRef=VICTIMS_SECRET,
        attributes=[{"name": "costcenter", "value": ["7"]}],
    )
    bed.apply("LldapUser", "peer", {**_user("peer"), "passwordPolicy": "Ignore"}, VIRTUAL)
    bed.group("victims", VICTIMS)
    bed.membership("victim", "victims", VICTIMS)
    bed.settle()
    assert bed.ready("LldapMembership", "victim-victims", VICTIMS) == ("True", "Verified")


def _schema(name: str) -> dict[str, Any]:
    return {"attributeName": name, "attributeType": "String", "target": "User", "isVisible": True}


def _user(name: str) -> dict[str, Any]:
    return {
        "username": name,
        "email": f"{name}@mallory.example",
        "passwordPolicy": "Manage",
        "passwordSecretRef": TENANTS_SECRET,
        "deletionPolicy": "Delete",
    }


def bases(suffix: str) -> dict[str, dict[str, Any]]:
    """The tenant's harmless objects, by kind; an attempt changes one field of one of them."""
    return {
        "LldapUser": _user(f"mallory{suffix}"),
        "LldapGroup": {"displayName": f"mallets{suffix}", "deletionPolicy": "Delete"},
        "LldapMembership": {
            "userName": f"mallory{suffix}",
            "groupName": f"mallets{suffix}",
            "deletionPolicy": "Delete",
        },
        "LldapAttributeSchema": {**_schema(f"mall{suffix}"), "deletionPolicy": "Delete"},
    }


def others(bed: Bed, but: set[str]) -> dict[str, Any]:
    """All that is not the tenant's, to the byte; `but` is handed out by design."""
    directory = Directory(bed)
    dump = directory.dump()
    found: dict[str, Any] = {
        f"user {name}": dump[f"user {name}"] for name in OTHERS_USERS if name not in but
    }
    for name in OTHERS_GROUPS:
        if name not in but:
            found[f"group {name}"] = directory.group(name)
    return found | {name: dump.get(name) for name in OTHERS_ATTRIBUTES}


# --- the attempts --------------------------------------------------------------------------


_USERNAMES: Final = (*OTHERS_USERS, "VICTIM", "Admin", "CEO")
_PATHS: Final = ("..", "../victim", "victim/../ceo", "victim\n", " victim", "victim ", "*")
_NAMES: Final = ("victim", "<b>victim</b>", "*)(uid=*", "x" * 255, "")
_ATTRIBUTES: Final = (
    MARK_ATTRIBUTE,
    MARK_ATTRIBUTE.upper(),
    "uuid",
    "user-id",
    "mail",
    "salary",
    "nosuch",
)
_MARKS: Final = (
    mark("uid-9", "far", cluster="cluster-2"),
    "invite default team-a/mallory",
    "x" * 4096,
    "",
)
_SEALS: Final = ("", "0" * 64, "ä" * 64, "x" * 70_000, "stolen")
_METADATA: Final[Mapping[str, tuple[Any, ...]]] = {
    "metadata.labels": (
        {INSTANCE_LABEL: "beside"},
        {INSTANCE_LABEL: "default", "app": "x"},
        {INSTANCE_LABEL: None},
    ),
    "metadata.annotations": (
        {BUILT_IN_ANNOTATION: "true"},
        {DRY_RUN_ANNOTATION: "true"},
        {PAUSED_ANNOTATION: "true"},
        {RECONCILE_AT_ANNOTATION: "now"},
    ),
    "metadata.finalizers": (
        ["lldap-operator.lukidoescode.com/user-cleanup"],
        ["lldap-operator.lukidoescode.com/group-cleanup"],
        ["lldap-operator.lukidoescode.com/membership-cleanup"],
        ["lldap-operator.lukidoescode.com/attribute-schema-cleanup"],
    ),
}
_CONDITION: Final = {
    "type": "Ready",
    "status": "True",
    "reason": "Verified",
    "message": "all is well",
    "lastTransitionTime": "2020-01-01T00:00:00Z",
    "observedGeneration": 1,
}


def _condition(**changes: Any) -> list[dict[str, Any]]:
    return [{**_CONDITION, **changes}]


_STATUS: Final[Mapping[str, tuple[Any, ...]]] = {
    "status.instance": ("beside", "", "default"),
    "status.server": ("another", "", "x" * 70_000),
    "status.reconcileAt": ("now", "x" * 4096),
    "status.observedGeneration": (0, 2**62),
    "status.conditions[].type": (_condition(type="Mine"), _condition(type="Stalled")),
    "status.conditions[].status": (_condition(status="True"), _condition(status="Unknown")),
    "status.conditions[].reason": (_condition(reason="Verified"), _condition(reason="BuiltIn")),
    "status.conditions[].message": (_condition(message="<script>"), _condition(message="x" * 9999)),
    "status.conditions[].lastTransitionTime": (
        _condition(lastTransitionTime="1970-01-01T00:00:00Z"),
        _condition(lastTransitionTime="2999-01-01T00:00:00Z"),
    ),
    "status.conditions[].observedGeneration": (_condition(observedGeneration=2**62),),
}
_ACCOUNT_STATUS: Final[Mapping[str, tuple[Any, ...]]] = {
    **_STATUS,
    "status.uuid": ("uuid of victim", "uuid of ceo", "uuid of admin", "", "x" * 70_000),
    "status.origin": ("Created", "Adopted"),
    "status.managed": (
        [MARK_ATTRIBUTE],
        ["email", "displayName", "firstName", "lastName", "avatar"],
        ["salary", "costcenter", "uuid", "user_id", "mail", "creation_date"],
        [],
        ["x" * 4096],
    ),
    "status.seal": _SEALS,
}

ATTEMPTS: Final[Mapping[str, Mapping[str, tuple[Any, ...]]]] = {
    "LldapUser": {
        **_METADATA,
        "spec.username": (*_USERNAMES, *_PATHS),
        "spec.email": (ADDRESS, ADDRESS.upper(), "ceo@by-hand.example", "a@b", "a b@c.d"),
        "spec.displayName": _NAMES,
        "spec.firstName": _NAMES,
        "spec.lastName": _NAMES,
        "spec.attributes[].name": tuple([{"name": n, "value": ["1"]}] for n in _ATTRIBUTES),
        "spec.attributes[].value": (
            *([{"name": "costcenter", "value": [m]}] for m in _MARKS),
            [{"name": "costcenter", "value": []}],
            [{"name": "avatar", "value": [base64.b64encode(b"no picture").decode()]}],
        ),
        "spec.passwordPolicy": ("Manage", "InitialOnly", "Ignore"),
        "spec.passwordSecretRef.name": ("../pw", "team-b/pw", "team-b.pw", "pw\n", "none"),
        "spec.passwordSecretRef.key": ("../password", "none", "password/x", "."),
        "spec.deletionPolicy": ("Delete", "Retain"),
        **_ACCOUNT_STATUS,
        "status.userId": ("victim", "ceo", "admin", "root", "far", ""),
        "status.passwordHash": ("0" * 64, "", "x" * 70_000),
        "status.passwordSecret.uid": ({"uid": "x", "resourceVersion": "1"}, {"uid": ""}),
        "status.passwordSecret.resourceVersion": ({"resourceVersion": "1"},),
        "status.passwordModifiedDate": ("1970-01-01T00:00:00Z", "2999-01-01T00:00:00Z"),
    },
    "LldapGroup": {
        **_METADATA,
        "spec.displayName": (
            *OTHERS_GROUPS,
            "VICTIMS",
            "LLDAP_ADMIN",
            "lldap_admin ",
            " board",
            "1",
            "../victims",
            "*)(cn=*",
        ),
        "spec.attributes[].name": tuple(
            [{"name": n, "value": ["1"]}] for n in (*_ATTRIBUTES, "display-name", "group-id")
        ),
        "spec.attributes[].value": tuple([{"name": "costcenter", "value": [m]}] for m in _MARKS),
        "spec.deletionPolicy": ("Delete", "Retain"),
        **_ACCOUNT_STATUS,
        "status.groupId": (1, 2, 3, 4, 5, -1, 2**31 - 1),
    },
    "LldapMembership": {
        **_METADATA,
        "spec.userName": _USERNAMES,
        "spec.groupName": (*OTHERS_GROUPS, "VICTIMS", "LLDAP_ADMIN", "lldap_admin ", "1"),
        "spec.deletionPolicy": ("Delete", "Retain"),
        **_STATUS,
        "status.userId": ("victim", "ceo", "admin", ""),
        "status.userUuid": ("uuid of victim", "uuid of ceo", ""),
        "status.groupId": (1, 2, 3, 4, 5, 6, 7, -1),
        "status.groupUuid": ("uuid of victims", "uuid of board", ""),
        "status.seal": _SEALS,
    },
    "LldapAttributeSchema": {
        **_METADATA,
        "spec.attributeName": (
            "costcenter",
            "CostCenter",
            "salary",
            "SALARY",
            MARK_ATTRIBUTE,
            "Kubernetes-Owner",
            "mail",
            "avatar",
            "uuid",
        ),
        "spec.attributeType": ("Integer", "DateTime", "JpegPhoto"),
        "spec.target": ("Group", "User"),
        "spec.isList": (True,),
        "spec.isVisible": (False,),
        "spec.isEditable": (True,),
        "spec.deletionPolicy": ("Delete", "Retain"),
        **_STATUS,
    },
}

# Other fields of an attribute are tried on these names of others.
AIMED: Final = (
    "spec.attributeType",
    "spec.target",
    "spec.isList",
    "spec.isVisible",
    "spec.isEditable",
    "spec.deletionPolicy",
)
AIMED_NAMES: Final = ("costcenter", "salary")


def fields(kind: Kind) -> Iterator[str]:
    """Every leaf of the schema, and what of the metadata people may write."""
    yield from ("metadata.labels", "metadata.annotations", "metadata.finalizers")
    yield from _leaves(kind.spec, "spec")
    yield from _leaves(kind.status, "status")


def _leaves(of: Type, path: str) -> Iterator[str]:
    if isinstance(of, Object):
        for field in of.fields:
            yield from _leaves(field.type, f"{path}.{field.name}")
    elif isinstance(of, Array) and isinstance(of.items, Object):
        yield from _leaves(of.items, f"{path}[]")
    else:
        yield path
