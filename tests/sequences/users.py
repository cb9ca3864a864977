"""Any spec of an LldapUser but for its password, whose end is not to depend on the last spec."""

from typing import Any

from hypothesis import strategies as st

from tests.sequences.edits import Subject
from tests.sequences.values import (
    NAMES,
    POLICIES,
    Spec,
    bed_with_attributes,
    with_a_bad_value,
    with_attributes,
)
from tests.support.accounts import account
from tests.support.bed import Bed


@st.composite
def _fields(draw: st.DrawFn) -> Spec:
    """Each field absent, null, empty or something."""
    spec: Spec = {"email": draw(st.sampled_from(["%s@example.org", "%s@EXAMPLE.org", "x%s@a.b"]))}
    for name in draw(st.sets(st.sampled_from(("displayName", "firstName", "lastName")))):
        spec[name] = draw(NAMES)
    spec |= draw(POLICIES)
    return spec


def _apply(bed: Bed, name: str, spec: Spec) -> None:
    bed.user(name, **{**spec, "email": spec["email"] % name})


def _told(bed: Bed, name: str) -> dict[str, Any]:
    return {key: str(value).replace(name, "") for key, value in account(bed, name).items()}


_GOOD = with_attributes(_fields())

USERS = Subject(
    kind="LldapUser",
    new_bed=lambda: bed_with_attributes("User"),
    good=_GOOD,
    bad=with_a_bad_value(_GOOD),
    refusals={"InvalidValue": True, "DependencyNotReady": False},
    apply=_apply,
    told=_told,
)
