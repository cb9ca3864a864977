"""Any spec of an LldapGroup; a change of its name is a rename."""

from typing import Any

from hypothesis import strategies as st

from tests.sequences.edits import Subject
from tests.sequences.values import (
    POLICIES,
    Spec,
    bed_with_attributes,
    with_a_bad_value,
    with_attributes,
)
from tests.support.bed import Bed
from tests.support.directory import Directory

TAKEN = "Somebody's"
_NAMES = ("%s", "%S", "%s staff", "%s STAFF", "ß %s", "%s \u017f", "I\u0307%s", "%s" + 100 * "x")


@st.composite
def _fields(draw: st.DrawFn) -> Spec:
    spec: Spec = {"displayName": draw(st.sampled_from(_NAMES))}
    spec |= draw(POLICIES)
    return spec


@st.composite
def _with_a_bad_name(draw: st.DrawFn, spec: st.SearchStrategy[Spec]) -> Spec:
    """A name that another group has, or that is kept for one that lldap brings."""
    return {
        **draw(spec),
        "displayName": draw(st.sampled_from((TAKEN, "lldap_admin", " LLDAP_admin"))),
    }


def _new_bed() -> Bed:
    bed = bed_with_attributes("Group")
    directory = Directory(bed)
    directory.make_user("stranger")
    directory.make_group(TAKEN)
    directory.add("stranger", TAKEN)
    return bed


def _apply(bed: Bed, name: str, spec: Spec) -> None:
    whole = spec["displayName"].replace("%s", name).replace("%S", name.upper())
    bed.apply("LldapGroup", name, {**spec, "displayName": whole})


def _told(bed: Bed, name: str) -> dict[str, Any]:
    """The group that the object holds, but for the mark and the dates."""
    number = bed.get("LldapGroup", name)["status"]["groupId"]
    with bed.lldap.database() as store:
        row = store.state.groups.rows[number]
        columns = {k: v for k, v in row.columns.items() if not k.endswith("date")}
        values = {k: list(v) for k, v in row.attributes.items() if k != "kubernetes-owner"}
    told = {**columns, **values, "links": sorted(row.links)}
    return {k: str(v).replace(name, "").replace(name.upper(), "") for k, v in told.items()}


_GOOD = with_attributes(_fields())

GROUPS = Subject(
    kind="LldapGroup",
    new_bed=_new_bed,
    good=_GOOD,
    bad=st.one_of(with_a_bad_value(_GOOD), _with_a_bad_name(_GOOD)),
    refusals={
        "InvalidValue": True,
        "DependencyNotReady": False,
        "Conflict": True,
        "BuiltInConflict": True,
    },
    apply=_apply,
    told=_told,
    own=("group_id", "uuid"),
)
