"""What the tests of groups, memberships and attribute schemas do and count on a bed."""

from collections.abc import Callable
from typing import Any

import pytest

from controller.api import MARK_ATTRIBUTE, Kind
from controller.api.names import GROUP
from controller.harness.resource import Object
from sandbox.apiserver.transport import Call as ApiCall
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward, Hook
from sandbox.lldap.tables import Attribute, Row
from tests.support.bed import Bed
from tests.support.directory import BUILT_IN

VERIFIED = ("True", "Verified")
CONFLICT = ("False", "Conflict")
PENDING = ("False", "Pending")
VIRTUAL = "lldap-system"  # the namespace of the virtual groups

# --- what people do --------------------------------------------------------------------------


def attributes(**values: list[str]) -> list[dict[str, Any]]:
    return [{"name": name.replace("_", "-"), "value": value} for name, value in values.items()]


def group_named(
    bed: Bed, name: str, display_name: str, namespace: str = "team-a", **spec: Any
) -> Object:
    """An LldapGroup whose displayName is not its name, or is changed."""
    return bed.apply("LldapGroup", name, {"displayName": display_name, **spec}, namespace)


def schema_named(bed: Bed, name: str, namespace: str = "team-a", **spec: Any) -> Object:
    whole = {"attributeName": "department", "attributeType": "String", "target": "User", **spec}
    return bed.apply("LldapAttributeSchema", name, whole, namespace)


def annotate(bed: Bed, kind: str, name: str, annotation: str, value: str | None = "true") -> None:
    """Put one of the operator's annotations on an object of team-a; None takes it off."""
    change = {"metadata": {"annotations": {f"{GROUP}/{annotation}": value}}}
    path = bed.path(kind, "team-a", name)
    bed.admin.patch(path, change, content_type="application/merge-patch+json")


def lift_admission(bed: Bed, kind: Kind) -> None:
    """Let the API server take what the CRD refuses: the operator has to be right without it."""
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{kind.crd_name}"
    definition = bed.admin.get(path)
    for version in definition["spec"]["versions"]:
        _drop_rules(version["schema"]["openAPIV3Schema"])
    bed.admin.put(path, definition)


def _drop_rules(schema: dict[str, Any]) -> None:
    for rule in ("x-kubernetes-validations", "pattern", "minLength", "maxLength"):
        schema.pop(rule, None)
    for inner in schema.get("properties", {}).values():
        _drop_rules(inner)
    if "items" in schema:
        _drop_rules(schema["items"])


def alice_in_team(
    *,
    user: str = "Delete",
    group: str = "Delete",
    membership: str = "Delete",
    **rules: Any,
) -> Bed:
    """Alice is in Team by team-a/alice-team, with these deletionPolicies; the logs begin then."""
    bed = Bed(**rules)
    bed.user("alice", deletionPolicy=user)
    bed.group("Team", deletionPolicy=group)
    bed.membership("alice", "Team", deletionPolicy=membership)
    bed.run(15)
    assert bed.ready("LldapMembership", "alice-team") == VERIFIED
    bed.clear_logs()
    bed.events.seen.clear()
    return bed


# --- what happens behind everybody's back ----------------------------------------------------


def rename_by_hand(bed: Bed, name: str, new: str) -> None:
    with bed.lldap.database() as store:
        groups = store.state.groups
        key = groups.keys[name.lower()]
        store.update(groups, key, columns={"display_name": new}, remove=[], insert={})


def set_group_attribute(bed: Bed, group: str, name: str, *values: str) -> None:
    with bed.lldap.database() as store:
        groups = store.state.groups
        key = groups.keys[group.lower()]
        store.update(groups, key, columns={}, remove=[], insert={name: list(values)})


def make_attribute(
    bed: Bed, name: str, kind: str = "STRING", *, group: bool = False, **flags: bool
) -> None:
    shape = {"is_visible": False, "is_editable": False, **flags}
    with bed.lldap.database() as store:
        tables = (store.state.groups, store.state.users)
        first, second = tables if group else tables[::-1]
        first.add_attribute(Attribute(name, kind, **shape), second)


def drop_attribute(bed: Bed, name: str, *, group: bool = False) -> None:
    with bed.lldap.database() as store:
        table = store.state.groups if group else store.state.users
        table.delete_attribute(name)


# --- what stands in lldap --------------------------------------------------------------------


def group_rows(bed: Bed) -> dict[str, Row]:
    """All groups but the built-in ones, by their names as spelled."""
    rows = bed.lldap.snapshot().groups.rows.values()
    named = {row.columns["display_name"]: row for row in rows}
    return {name: row for name, row in named.items() if name not in BUILT_IN}


def group_ids(bed: Bed) -> dict[str, int]:
    return {name: int(row.columns["group_id"]) for name, row in group_rows(bed).items()}


def group_values(bed: Bed, name: str) -> dict[str, list[str]]:
    """A group's custom attributes but the mark."""
    values = group_rows(bed)[name].attributes
    return {key: value for key, value in values.items() if key != MARK_ATTRIBUTE}


def edges(bed: Bed) -> set[tuple[str, str]]:
    """All members of all groups, the admin's own place in lldap_admin aside."""
    rows = bed.lldap.snapshot().groups.rows.values()
    found = {(str(user), row.columns["display_name"]) for row in rows for user in row.links}
    return found - {("admin", "lldap_admin")}


def attribute_names(bed: Bed, *, group: bool = False) -> set[str]:
    """Names of the attributes that somebody has added, the mark's aside."""
    state = bed.lldap.snapshot()
    table = state.groups if group else state.users
    hard = {name for name, attribute in table.stored.items() if attribute.is_hardcoded}
    return set(table.stored) - hard - {MARK_ATTRIBUTE}


def drift_of(bed: Bed, kind: str) -> tuple[int, int]:
    """How often drift of that kind was found, and repaired."""
    values = {
        sample.name: int(sample.value)
        for family in bed.metrics.registry.collect()
        for sample in family.samples
        if sample.labels.get("kind") == kind
    }
    return (
        values["lldap_operator_drift_found_total"],
        values["lldap_operator_drift_repaired_total"],
    )


# --- faults ----------------------------------------------------------------------------------


def database_error(text: str) -> Response:
    """A mutation that lldap's database refused, with these words of the database."""
    message = f"Database transaction error: `Execution Error: error returned from database: {text}`"
    errors = [{"message": message, "locations": [], "path": []}]
    return Response.of_json(200, {"data": None, "errors": errors})


def before(operation: str, action: Callable[[], None], *, times: int = 1) -> Hook:
    """Let something happen in lldap right before the first calls of an operation."""
    left = [times]

    def hook(call: Call, forward: Forward) -> Response:
        if call.operation == operation and left[0]:
            left[0] -= 1
            action()
        return forward(call)

    return hook


class Crash(BaseException):
    """The process dies here."""


def crash_at_status_of(bed: Bed, plural: str) -> None:
    """Work until the operator is about to write a status of that kind, and let it die there."""

    def die(call: ApiCall) -> None:
        if call.method == "PATCH" and f"/{plural}/" in call.path and call.path.endswith("/status"):
            raise Crash

    bed.api_transport.before = die
    with pytest.raises(Crash):
        bed.settle()


def crash_after(bed: Bed, operation: str) -> None:
    """Work until lldap has carried out that operation, and let the operator die there."""

    def die(call: Call, forward: Forward) -> Response:
        response = forward(call)
        if call.operation == operation and call.caller == "operator":
            raise Crash
        return response

    bed.lldap.hooks.append(die)
    with pytest.raises(Crash):
        bed.settle()
    bed.lldap.hooks.remove(die)
