"""Which write to lldap the object in hand allows: the rules of ownership, told once more."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controller.api import (
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    MARK_ATTRIBUTE,
)
from controller.configuration.values import Adoption
from controller.ownership.mark import Invitation, Mark, mark_of, parse
from lldap.names import BUILT_IN_GROUPS, group_key, user_key
from sandbox.lldap.tables import Row
from tests.faults.stores import (
    Object,
    Stores,
    annotated,
    deleting,
    key_of,
    labelled,
    mark,
    sealed_account,
    sealed_edge,
)

if TYPE_CHECKING:
    from tests.faults.bed import FaultBed

SCHEMA = "LldapAttributeSchema"
OWN = "admin"


@dataclass(frozen=True, slots=True)
class Write:
    """One mutation, or one step of a registration."""

    operation: str
    variables: dict[str, Any]

    def __str__(self) -> str:
        shown = {k: v for k, v in self.variables.items() if v and "registration" not in k}
        shown.pop("server_data", None)
        return f"{self.operation} {shown}"


class Rights:
    """Judges one write for the object whose pass makes it. One thread.

    `guarded` are rows of lldap that nobody in this run may touch, as they were. `registered` are
    those whose password this pass has set: it is set again until it is proved. `is_disturbed`:
    somebody else has changed lldap since the operator has read all of it. `met_a_person`: somebody
    has done something since this pass began.
    """

    def __init__(self, bed: "FaultBed", stores: Stores) -> None:
        self._bed = bed
        self._stores = stores
        self.guarded: dict[str, Row] = {}
        self.registered: set[str] = set()
        self.is_disturbed = False
        self.met_a_person = False

    def guard(self, *users: str) -> None:
        """Nothing of these accounts may change from now on."""
        for user in users:
            row = self._stores.user(user)
            assert row is not None
            self.guarded[user] = copy.deepcopy(row)

    def unguard_changed(self) -> None:
        """A person has changed some of them, who may: what they are now is up to the rules."""
        for user in [u for u, row in self.guarded.items() if self._stores.user(u) != row]:
            del self.guarded[user]

    def damages(self) -> Iterator[str]:
        """What was changed that nobody may change."""
        for user, row in self.guarded.items():
            if self._stores.user(user) != row:
                yield f"user {user} was changed, whom no object may touch"

    # --- by operation ------------------------------------------------------------------------

    def wrongs(self, write: Write, obj: Object | None) -> list[str]:
        """Why the write must not be made; empty if it may."""
        name = write.operation.rpartition("/")[2]
        if name in {"addUserAttribute", "addGroupAttribute"} and _is_mark(write):
            return []
        if obj is None:
            return ["no object asks for it"]
        judge = getattr(self, f"_{name}", None)
        return ["nobody knows this write"] if judge is None else list(judge(write.variables, obj))

    def _createUser(self, variables: Object, obj: Object) -> Iterator[str]:
        user = variables["user"]
        yield from self._claims(obj, LLDAP_USER.kind, user["id"])
        yield from _living(obj)
        yield from self._own_mark(obj, _inserted(user["attributes"]))

    def _updateUser(self, variables: Object, obj: Object) -> Iterator[str]:
        user = variables["user"]
        yield from self._claims(obj, LLDAP_USER.kind, user["id"])
        row = self._stores.user(user["id"])
        if row is not None:
            fields = any(user.get(f) for f in ("email", "displayName", "firstName", "lastName"))
            yield from self._change(obj, row, user, fields=fields)
            yield from self._privilege(obj, row)

    def _deleteUser(self, variables: Object, obj: Object) -> Iterator[str]:
        yield from self._claims(obj, LLDAP_USER.kind, variables["userId"])
        row = self._stores.user(variables["userId"])
        if row is not None:
            yield from self._deletion(obj, row)
            yield from self._privilege(obj, row)

    def _createGroupWithDetails(self, variables: Object, obj: Object) -> Iterator[str]:
        request = variables["request"]
        if obj["kind"] != LLDAP_GROUP.kind or obj["spec"]["displayName"] != request["displayName"]:
            yield "the object declares no such group"
        yield from _living(obj)
        yield from self._own_mark(obj, _inserted(request["attributes"]))

    def _updateGroup(self, variables: Object, obj: Object) -> Iterator[str]:
        group = variables["group"]
        yield from self._groups(obj, group["id"])
        row = self._stores.group(group["id"])
        if row is not None:
            yield from self._change(obj, row, group, fields=bool(group.get("displayName")))

    def _deleteGroup(self, variables: Object, obj: Object) -> Iterator[str]:
        yield from self._groups(obj, variables["groupId"])
        row = self._stores.group(variables["groupId"])
        if row is not None:
            yield from self._deletion(obj, row)

    def _start(self, variables: Object, obj: Object) -> Iterator[str]:
        yield from self._finish(variables, obj)

    def _finish(self, variables: Object, obj: Object) -> Iterator[str]:
        """A registration; the second half of it does not say whose."""
        yield from _living(obj)
        if obj["kind"] != LLDAP_USER.kind:
            yield "no user's object"
            return
        user_id = user_key(obj["spec"]["username"])
        if variables.get("username", user_id) != user_id or user_id == OWN:
            yield "the password of another account"
        row = self._stores.user(user_id)
        if row is None:
            return
        yield from self._held(obj, row)
        yield from self._privilege(obj, row)
        yield from self._policy(obj, row, user_id)

    def _policy(self, obj: Object, row: Row, user_id: str) -> Iterator[str]:
        policy = obj["spec"].get("passwordPolicy", "Manage")
        if policy == "Ignore":
            yield "the policy is Ignore"
        value = self._stores.secret_value(obj)
        known = value is not None and self._stores.logs_in(user_id, value)
        if known and user_id not in self.registered:
            yield "lldap has this password already"
        own_choice = self._stores.password_of(user_id) == f"{user_id}'s own password"
        if policy == "InitialOnly" and own_choice and not self.met_a_person:
            yield "the policy is InitialOnly, and the person has set a password"
        found = mark(row)
        adopted = isinstance(found, Mark) and found.origin.value == "adopted"
        if policy == "InitialOnly" and adopted:
            yield "the policy is InitialOnly, and the account was adopted"

    def _addUserToGroup(self, variables: Object, obj: Object) -> Iterator[str]:
        yield from _living(obj)
        yield from self._edge(obj, variables)
        user, group = variables["userId"], variables["groupId"]
        both = self._stores.user(user) is not None and self._stores.group(group) is not None
        if both and not self._means(obj, user, group):  # else lldap refuses
            yield "the object means another membership"

    def _removeUserFromGroup(self, variables: Object, obj: Object) -> Iterator[str]:
        user, group = variables["userId"], variables["groupId"]
        yield from self._edge(obj, variables)
        means = self._means(obj, user, group)
        if deleting(obj):
            if obj["spec"].get("deletionPolicy") == "Retain" or self._uninstalling(obj):
                yield "the deletion means Retain"
            if not means and sealed_edge(obj) != (user, group):
                yield "the object never stood for this membership"
        elif means or sealed_edge(obj) != (user, group):
            yield "the object did not stand for this membership"
        for other in self._stores.objects(LLDAP_MEMBERSHIP.kind):
            another = _can_inherit(other) and other["metadata"]["uid"] != obj["metadata"]["uid"]
            known = another and not self._bed.is_untold(LLDAP_MEMBERSHIP, other)
            if known and self._means({**other, "kind": LLDAP_MEMBERSHIP.kind}, user, group):
                yield f"{key_of(other)} stands for this membership too"

    def _addUserAttribute(self, variables: Object, obj: Object) -> Iterator[str]:
        yield from _living(obj)
        yield from self._attribute(obj, variables["name"], "User")

    def _addGroupAttribute(self, variables: Object, obj: Object) -> Iterator[str]:
        yield from _living(obj)
        yield from self._attribute(obj, variables["name"], "Group")

    def _deleteUserAttribute(self, variables: Object, obj: Object) -> Iterator[str]:
        rows = self._stores.state.users.rows.values()
        yield from self._attribute_goes(obj, variables["name"], "User", rows)

    def _deleteGroupAttribute(self, variables: Object, obj: Object) -> Iterator[str]:
        rows = self._stores.state.groups.rows.values()
        yield from self._attribute_goes(obj, variables["name"], "Group", rows)

    # --- rules -------------------------------------------------------------------------------

    def _claims(self, obj: Object, kind: str, user_id: str) -> Iterator[str]:
        if user_key(user_id) == OWN:
            yield "the operator's own account"
        if obj["kind"] != kind or user_key(obj["spec"]["username"]) != user_key(user_id):
            yield "the object claims another account"

    def _groups(self, obj: Object, group_id: int) -> Iterator[str]:
        row = self._stores.group(group_id)
        if row is not None and group_key(row.columns["display_name"]) in BUILT_IN_GROUPS:
            yield "a built-in group"
        if obj["kind"] != LLDAP_GROUP.kind:
            yield "no group's object"

    def _held(self, obj: Object, row: Row) -> Iterator[str]:
        """The target is this object's: by its mark, or by the record where that is missing."""
        found = mark(row)
        taken_off = found is None and self.is_disturbed  # since the operator has looked
        if found is None and not taken_off and not sealed_account(obj, row.columns["uuid"]):
            yield "nothing says that the target is this object's"
        if found is not None and not self._is_of(found, obj):
            yield f"the target is another's: {found}"

    def _is_of(self, found: object, obj: Object) -> bool:
        return (
            isinstance(found, Mark)
            and (found.cluster, found.instance) == ("cluster-1", "default")
            and found.uid == obj["metadata"]["uid"]
        )

    def _change(self, obj: Object, row: Row, sent: Object, *, fields: bool) -> Iterator[str]:
        """A change writes the mark alone, or the target is the object's already."""
        inserted = _inserted(sent["insertAttributes"])
        new = inserted.pop(MARK_ATTRIBUTE, None)
        if MARK_ATTRIBUTE in sent["removeAttributes"]:
            yield from self._held(obj, row)
            return
        if new is None:
            yield from self._held(obj, row)
            yield from _living(obj)
            return
        if inserted or fields or sent["removeAttributes"]:
            yield "the mark is not the first write"
        target = mark_of({MARK_ATTRIBUTE: new})
        if target == mark(row):
            return  # the same request once more: it stands there already
        if self._is_of(target, obj):
            yield from self._takes(obj, row)
        else:
            yield from self._hands_over(obj, row, target)

    def _takes(self, obj: Object, row: Row) -> Iterator[str]:
        """Adoption, taking back, or a mark that is put back."""
        yield from _living(obj)
        found = mark(row)
        if isinstance(found, Mark) and not self._is_of(found, obj):
            owner = self._stores.by_uid(found.uid)
            if owner is not None and labelled(owner) and found.instance == "default":
                yield f"it belongs to {found.key}, which lives"
        if isinstance(found, Invitation) and found.key != key_of(obj):
            yield f"it is kept for {found.key}"
        free = found is None and not sealed_account(obj, row.columns["uuid"])
        if free and not self._adoptable(obj, row):
            yield "the rules do not allow to adopt it"

    def _adoptable(self, obj: Object, row: Row) -> bool:
        adoption = self._bed.operator.instance.rules.adoption
        if adoption is Adoption.ALWAYS:
            return True
        rights = bool(row.links) if obj["kind"] == LLDAP_GROUP.kind else self._privileged(row)
        virtual = obj["metadata"]["namespace"] == "lldap-system"
        return adoption is Adoption.IF_UNPRIVILEGED and (virtual or not rights)

    def _hands_over(self, obj: Object, row: Row, target: object) -> Iterator[str]:
        yield from self._held(obj, row)
        heir = self._stores.by_uid(target.uid) if isinstance(target, Mark) else None
        if heir is None:
            yield f"the mark of nobody: {target}"
            return
        if not deleting(obj):
            yield "only what goes is handed over"
        if deleting(heir) or heir["metadata"]["namespace"] != obj["metadata"]["namespace"]:
            yield f"{key_of(heir)} cannot inherit"

    def _deletion(self, obj: Object, row: Row) -> Iterator[str]:
        yield from self._held(obj, row)
        yield from self._goes(obj)
        policy = obj["spec"].get("deletionPolicy")
        found = mark(row)
        origin = found.origin.recorded if isinstance(found, Mark) else obj["status"].get("origin")
        if policy == "Retain" or (policy is None and origin == "Adopted"):
            yield "the deletion means Retain"

    def _goes(self, obj: Object) -> Iterator[str]:
        if not deleting(obj):
            yield "the object is not being deleted"
        if self._uninstalling(obj):
            yield "this is an uninstall"

    def _uninstalling(self, obj: Object) -> bool:
        return self._stores.uninstalling(obj["kind"])

    def _own_mark(self, obj: Object, inserted: dict[str, list[str]]) -> Iterator[str]:
        if not self._is_of(mark_of(inserted), obj):
            yield f"created with the mark {inserted.get(MARK_ATTRIBUTE)}"

    def _privileged(self, row: Row) -> bool:
        groups = self._stores.state.groups.rows
        names = {group_key(groups[link].columns["display_name"]) for link in row.links}
        return bool(names & BUILT_IN_GROUPS)

    def _privilege(self, obj: Object, row: Row) -> Iterator[str]:
        always = self._bed.operator.instance.rules.adoption is Adoption.ALWAYS
        virtual = obj["metadata"]["namespace"] == "lldap-system"
        if self._privileged(row) and not (always or virtual):
            yield "a privileged account, from a namespace that may not write it"

    def _edge(self, obj: Object, variables: Object) -> Iterator[str]:
        if obj["kind"] != LLDAP_MEMBERSHIP.kind:
            yield "no membership's object"
        if user_key(variables["userId"]) == OWN:
            yield "the operator's own account"
        group = self._stores.group(variables["groupId"])
        built_in = group is not None and group_key(group.columns["display_name"]) in BUILT_IN_GROUPS
        if built_in and obj["metadata"]["namespace"] != "lldap-system":
            yield "a right, from a namespace that hands out none"

    def _means(self, obj: Object, user: str, group_id: int) -> bool:
        group, row = self._stores.group(group_id), self._stores.user(user)
        if obj["kind"] != LLDAP_MEMBERSHIP.kind or group is None or row is None:
            return False
        spec = obj["spec"]
        return user_key(spec["userName"]) == user_key(user) and group_key(
            spec["groupName"]
        ) == group_key(group.columns["display_name"])

    def _attribute(self, obj: Object, name: str, target: str) -> Iterator[str]:
        spec = obj["spec"]
        declared = (spec.get("attributeName", "").lower(), spec.get("target"))
        if obj["kind"] != SCHEMA or declared != (name.lower(), target):
            yield "the object declares another attribute"

    def _attribute_goes(self, obj: Object, name: str, target: str, rows: Any) -> Iterator[str]:
        yield from self._attribute(obj, name, target)
        yield from self._goes(obj)
        if obj["spec"].get("deletionPolicy") != "Delete":
            yield "the deletion means Retain"
        if any(name.lower() in row.attributes for row in rows):
            yield "somebody has a value of it"
        for other in self._stores.objects(SCHEMA):
            known = _can_inherit(other) and not self._bed.is_untold(LLDAP_ATTRIBUTE_SCHEMA, other)
            another = other["metadata"]["uid"] != obj["metadata"]["uid"] and labelled(other)
            if known and another and _shape(other) == _shape(obj):
                yield f"{key_of(other)} declares it too"


def _living(obj: Object) -> Iterator[str]:
    if deleting(obj):
        yield "the object is being deleted"


def _can_inherit(obj: Object) -> bool:
    return not deleting(obj) and not annotated(obj, "dry-run") and not annotated(obj, "paused")


def _shape(obj: Object) -> list[Any]:
    spec = obj["spec"]
    flags = [spec.get(flag, False) for flag in ("isList", "isVisible", "isEditable")]
    return [spec["attributeName"].lower(), spec["attributeType"], spec["target"], *flags]


def _inserted(attributes: list[Object]) -> dict[str, list[str]]:
    return {each["name"]: each["value"] for each in attributes}


def _is_mark(write: Write) -> bool:
    return bool(parse(write.variables["name"])) and write.variables["name"] == MARK_ATTRIBUTE
