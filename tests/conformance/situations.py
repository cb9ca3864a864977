"""How an object comes by each reason: every kind, every reason that it can have."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from controller.api import (
    DRY_RUN_ANNOTATION,
    INSTANCE_LABEL,
    KINDS,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    MARK_ATTRIBUTE,
    PAUSED_ANNOTATION,
    Kind,
)
from controller.configuration.values import Adoption
from controller.harness.reasons import Reason
from controller.harness.resource import Object
from informers import RawResponse
from sandbox.apiserver.transport import Call as ApiCall
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward, refuse
from sandbox.lldap.tables import Attribute
from tests.support.accounts import attributes, reference, refused
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import VIRTUAL, lift_admission, make_attribute
from tests.support.kubebed import status_answer

USER, GROUP, MEMBERSHIP, SCHEMA = LLDAP_USER, LLDAP_GROUP, LLDAP_MEMBERSHIP, LLDAP_ATTRIBUTE_SCHEMA

NAMES: Final = {USER: "alice", GROUP: "team", MEMBERSHIP: "alice-team", SCHEMA: "badge"}
SPECS: Final[dict[Kind, Object]] = {
    USER: {"username": "alice", "email": "alice@example.org", "passwordPolicy": "Ignore"},
    GROUP: {"displayName": "Team"},
    MEMBERSHIP: {"userName": "alice", "groupName": "Team"},
    SCHEMA: {"attributeName": "badge", "attributeType": "String", "target": "User"},
}
WRONG: Final[dict[Kind, Object]] = {
    USER: {"username": "."},
    GROUP: {"displayName": ""},
    MEMBERSHIP: {"userName": ""},
    SCHEMA: {"attributeName": "cost_center"},
}
MAKING: Final = {
    USER: "createUser",
    GROUP: "createGroupWithDetails",
    MEMBERSHIP: "addUserToGroup",
    SCHEMA: "addUserAttribute",
}


@dataclass
class Stage:
    """A bed with one object that something happens to."""

    kind: Kind
    bed: Bed
    name: str = ""
    namespace: str = "team-a"

    @property
    def obj(self) -> Object:
        """The object as it is now."""
        return self.bed.get(self.kind.kind, self.name, self.namespace)

    def make(self, namespace: str = "team-a", name: str = "", **changes: Any) -> None:
        """Apply the object; `metadata` is among the changes of its spec."""
        metadata = changes.pop("metadata", {})
        self.name, self.namespace = name or NAMES[self.kind], namespace
        spec = {**SPECS[self.kind], **changes}
        self.bed.apply(self.kind.kind, self.name, spec, namespace, **metadata)

    def annotated(self, annotation: str) -> None:
        self.make(metadata={"annotations": {annotation: "true"}})


def stage(kind: Kind, **options: Any) -> Stage:
    """A bed with what the object of that kind needs to be Ready."""
    bed = Bed(**options)
    if kind is MEMBERSHIP:
        bed.user("alice")
        bed.group("Team")
    else:
        bed.user("bystander")  # so lldap has the attribute of the mark
    bed.settle()
    return Stage(kind, bed)


Situation = Callable[[Kind], Stage]


def verified(kind: Kind) -> Stage:
    on = stage(kind)
    on.make()
    on.bed.settle()
    return on


def in_dry_run(kind: Kind) -> Stage:
    on = stage(kind)
    on.annotated(DRY_RUN_ANNOTATION)
    on.bed.settle()
    return on


def paused(kind: Kind) -> Stage:
    on = stage(kind)
    on.annotated(PAUSED_ANNOTATION)
    on.bed.settle()
    return on


def of_another_instance(kind: Kind) -> Stage:
    on = stage(kind)
    on.make(metadata={"labels": {INSTANCE_LABEL: "other"}})
    on.bed.forge(kind.kind, on.name, {"instance": "other"})
    on.make()  # its label comes back to ours, and nobody released it
    on.bed.run(1)
    return on


def rivalled(kind: Kind) -> Stage:
    on = verified(kind)
    on.bed.clock.advance(5)
    on.make(namespace="team-a" if kind is MEMBERSHIP else "team-b", name="second")
    on.bed.settle()
    return on


def without_lldap(kind: Kind) -> Stage:
    on = stage(kind)
    on.bed.lldap.hooks.append(refuse)
    on.bed.start()
    on.make()
    on.bed.settle()
    return on


def without_rights(kind: Kind) -> Stage:
    on = stage(kind)
    Directory(on.bed).remove("admin", "lldap_admin")
    on.bed.start()
    on.make()
    on.bed.settle()
    return on


def with_a_mark_of_another_shape(kind: Kind) -> Stage:
    on = stage(kind)
    with on.bed.lldap.database() as store:
        for table in (store.state.users, store.state.groups):
            table.stored[MARK_ATTRIBUTE] = Attribute(MARK_ATTRIBUTE, is_visible=True)
    on.bed.start()
    on.make()
    on.bed.settle()
    return on


def refused_by_lldap(kind: Kind) -> Stage:
    on = stage(kind)
    on.bed.lldap.hooks.append(refused(MAKING[kind], "The moon is in the wrong place"))
    on.make()
    on.bed.settle()
    return on


def broken_within(kind: Kind) -> Stage:
    on = stage(kind)

    def fails() -> None:
        raise ZeroDivisionError

    object.__setattr__(on.bed.operator.instance, "prepare", fails)
    on.make()
    on.bed.settle()
    return on


def without_finalizers(kind: Kind) -> Stage:
    """The API server fails at that one request, again and again."""
    on = stage(kind)

    def fails(call: ApiCall) -> RawResponse | None:
        about = call.method == "PATCH" and call.path.endswith(f"/{NAMES[kind]}")
        return status_answer(500, "InternalError", "etcd has no leader") if about else None

    on.bed.api_transport.before = fails
    on.make()
    on.bed.run(10)
    return on


def deleted_while_the_crd_cannot_be_read(kind: Kind) -> Stage:
    on = stage(kind)
    on.make(deletionPolicy="Delete")
    on.bed.settle()

    def fails(call: ApiCall) -> RawResponse | None:
        about = "/customresourcedefinitions/" in call.path
        return status_answer(500, "InternalError") if about else None

    on.bed.api_transport.before = fails
    on.bed.delete(kind.kind, on.name)
    on.bed.run(15)
    return on


def against_its_crd(kind: Kind) -> Stage:
    on = stage(kind)
    lift_admission(on.bed, kind)
    on.make(**WRONG[kind])
    on.bed.run(3)
    return on


# --- what only some kinds meet ------------------------------------------------------------------


def gone_in_between(kind: Kind) -> Stage:
    """A user vanishes between a change and the look at it, a membership lacks its group."""
    if kind is MEMBERSHIP:
        on = stage(kind)
        on.make(groupName="Nobody")
        on.bed.settle()
        return on
    on = verified(kind)
    operation = {USER: "updateUser", GROUP: "updateGroup"}[kind]

    def vanishes(call: Call, forward: Forward) -> Response:
        response = forward(call)
        if call.operation == operation:
            directory = Directory(on.bed)
            if kind is USER:
                directory.delete_user("alice")
            else:
                directory.delete_group("Crew")
        return response

    on.bed.lldap.hooks.append(vanishes)
    on.make(**({"displayName": "Crew"} if kind is GROUP else {"displayName": "Al"}))
    on.bed.settle()
    return on


def within_a_second(kind: Kind) -> Stage:
    on = stage(kind, whole_seconds=True)
    on.bed.secret("pw", b"a good password")
    on.make(passwordPolicy="Manage", passwordSecretRef=reference())
    on.bed.settle()
    return on


def without_a_schema(kind: Kind) -> Stage:
    on = stage(kind)
    on.make(attributes=attributes(room=["7"]))
    on.bed.settle()
    return on


def with_a_word_for_a_number(kind: Kind) -> Stage:
    on = stage(kind)
    on.bed.schema("room", target=kind.kind.removeprefix("Lldap"), kind="Integer")
    on.bed.settle()
    on.make(attributes=attributes(room=["seven"]))
    on.bed.settle()
    return on


def with_a_taken_email(kind: Kind) -> Stage:
    on = stage(kind)
    on.make(email="Bystander@example.org")
    on.bed.settle()
    return on


def made_by_hand(kind: Kind) -> Stage:
    on = stage(kind, adoption=Adoption.NEVER)
    directory = Directory(on.bed)
    directory.make_user("alice")
    directory.make_group("Team")
    on.bed.start()
    on.make()
    on.bed.settle()
    return on


def protected(kind: Kind) -> Stage:
    on = stage(kind)
    on.make(**({"username": "admin"} if kind is USER else {"groupName": "lldap_admin"}))
    on.bed.settle()
    return on


def named_like_a_built_in(kind: Kind) -> Stage:
    on = stage(kind)
    on.make(displayName="LLDAP_Admin")
    on.bed.settle()
    return on


def built_in(kind: Kind) -> Stage:
    on = stage(kind)
    return Stage(kind, on.bed, "default--lldap-admin", VIRTUAL)


def of_another_shape(kind: Kind) -> Stage:
    on = stage(kind)
    make_attribute(on.bed, "badge", "INTEGER")
    on.bed.start()
    on.make()
    on.bed.settle()
    return on


def in_use(kind: Kind) -> Stage:
    on = stage(kind)
    on.make(deletionPolicy="Delete")
    on.bed.user("bystander", attributes=attributes(badge=["7"]))
    on.bed.settle()
    on.bed.delete(kind.kind, on.name)
    on.bed.settle()
    return on


def with_secret(**secret: bytes) -> Situation:
    """A user whose Secret `pw` has these keys, or is not there."""

    def situation(kind: Kind) -> Stage:
        on = stage(kind)
        for key, value in secret.items():
            on.bed.secret("pw", value, key=key)
        on.make(passwordPolicy="Manage", passwordSecretRef=reference())
        on.bed.settle()
        return on

    return situation


FOR_ALL: Final[dict[Reason, Situation]] = {
    Reason.VERIFIED: verified,
    Reason.DRY_RUN: in_dry_run,
    Reason.PAUSED: paused,
    Reason.HELD_BY_OTHER_INSTANCE: of_another_instance,
    Reason.CONFLICT: rivalled,
    Reason.LLDAP_UNAVAILABLE: without_lldap,
    Reason.FORBIDDEN: without_rights,
    Reason.UNSUPPORTED_SERVER: with_a_mark_of_another_shape,
    Reason.REFUSED: refused_by_lldap,
    Reason.INTERNAL_ERROR: broken_within,
    Reason.KUBERNETES_UNAVAILABLE: without_finalizers,
    Reason.DELETING: deleted_while_the_crd_cannot_be_read,
    Reason.INVALID_SPEC: against_its_crd,
}
FOR_SOME: Final[dict[tuple[Kind, Reason], Situation]] = {
    (USER, Reason.PENDING): gone_in_between,
    (GROUP, Reason.PENDING): gone_in_between,
    (MEMBERSHIP, Reason.PENDING): gone_in_between,
    (USER, Reason.PROGRESSING): within_a_second,
    (USER, Reason.DEPENDENCY_NOT_READY): without_a_schema,
    (GROUP, Reason.DEPENDENCY_NOT_READY): without_a_schema,
    (USER, Reason.INVALID_VALUE): with_a_word_for_a_number,
    (GROUP, Reason.INVALID_VALUE): with_a_word_for_a_number,
    (USER, Reason.EMAIL_CONFLICT): with_a_taken_email,
    (USER, Reason.NOT_ADOPTED): made_by_hand,
    (GROUP, Reason.NOT_ADOPTED): made_by_hand,
    (USER, Reason.PROTECTED_ACCOUNT): protected,
    (MEMBERSHIP, Reason.PROTECTED_ACCOUNT): protected,
    (GROUP, Reason.BUILT_IN_CONFLICT): named_like_a_built_in,
    (GROUP, Reason.BUILT_IN): built_in,
    (SCHEMA, Reason.SCHEMA_MISMATCH): of_another_shape,
    (SCHEMA, Reason.ATTRIBUTE_IN_USE): in_use,
    (USER, Reason.SECRET_NOT_FOUND): with_secret(),
    (USER, Reason.SECRET_KEY_NOT_FOUND): with_secret(other=b"a good password"),
    (USER, Reason.PASSWORD_REJECTED): with_secret(password=b""),
}
SITUATIONS: Final[dict[tuple[Kind, Reason], Situation]] = {
    **{(kind, reason): each for reason, each in FOR_ALL.items() for kind in KINDS},
    **FOR_SOME,
}
