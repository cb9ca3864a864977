"""However a user's spec was edited before: what counts is what it says now."""

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.accounts import account, resync, status
from tests.support.bed import Bed

Spec = dict[str, Any]

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
NAMES = st.one_of(
    st.none(), st.just(""), TEXTS, st.sampled_from(["Al", "al", "ß", "\u017fs", "I\u0307"])
)
INTEGERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.sampled_from(["007", "7", "+7", "-0", "0", "+0"]),
)
MOMENTS = st.sampled_from(
    [
        "2024-05-01T12:00:00+02:00",
        "2024-05-01T10:00:00Z",
        "2024-05-01t10:00:00.000z",
        "2024-05-01T10:00:00.5Z",
        "2024-05-01T10:00:00.500000000-00:00",
        "2024-02-29 23:59:59.999999999+23:59",
    ]
)
EMPTY = st.just([""])
VALUES = {
    "text": st.one_of(EMPTY, st.tuples(TEXTS).map(list)),
    "email": st.one_of(EMPTY, st.tuples(TEXTS).map(list)),
    "number": st.one_of(EMPTY, st.tuples(INTEGERS).map(list)),
    "moment": st.one_of(EMPTY, st.tuples(MOMENTS).map(list)),
    "texts": st.one_of(EMPTY, st.lists(TEXTS, max_size=3)),
    "numbers": st.one_of(EMPTY, st.lists(INTEGERS, max_size=3)),
    "moments": st.one_of(EMPTY, st.lists(MOMENTS, max_size=3)),
}
BAD: list[dict[str, list[str]]] = [
    {"number": ["1e3"]},
    {"moment": ["2024-05-01"]},
    {"text": []},
    {"numbers": ["1", ""]},
    {"number": ["9223372036854775808"]},
    {"missing-schema": ["x"]},
]


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    """A spec that can be brought about; each field absent, null, empty or something."""
    spec: Spec = {"email": draw(st.sampled_from(["%s@example.org", "%s@EXAMPLE.org", "x%s@a.b"]))}
    for name in draw(st.sets(st.sampled_from(("displayName", "firstName", "lastName")))):
        spec[name] = draw(NAMES)
    chosen = draw(st.sets(st.sampled_from(sorted(VALUES))))
    present: bool = draw(st.booleans())
    if chosen or present:
        spec["attributes"] = [
            {"name": draw(st.sampled_from([n, n.upper(), n.title()])), "value": draw(VALUES[n])}
            for n in sorted(chosen)
        ]
    return spec


@st.composite
def bad_specs(draw: st.DrawFn) -> Spec:
    """A spec with a value that is none, or an attribute that is not there."""
    spec = draw(specs())
    wrong = draw(st.sampled_from(BAD))
    kept = [a for a in spec.get("attributes", []) if a["name"].lower() not in wrong]
    made = [{"name": name, "value": value} for name, value in wrong.items()]
    return {**spec, "attributes": [*kept, *made]}


def new_bed() -> Bed:
    bed = Bed()
    for name in VALUES:
        kind = {"n": "Integer", "m": "DateTime"}.get(name[0], "String")
        bed.schema(name, kind=kind, isList=name.endswith("s"))
    bed.settle()
    return bed


def apply(bed: Bed, name: str, spec: Spec) -> None:
    bed.user(name, **{**spec, "email": spec["email"] % name})
    bed.settle()


def same(bed: Bed, first: str, second: str) -> bool:
    """But for the name itself."""
    one, other = account(bed, first), account(bed, second)
    return {k: str(v).replace(first, "") for k, v in one.items()} == {
        k: str(v).replace(second, "") for k, v in other.items()
    }


@pytest.mark.slow
def test_any_edits_end_as_if_there_had_been_only_the_last() -> None:
    bed = new_bed()
    numbers = itertools.count()

    @settings(max_examples=120)
    @given(before=st.lists(st.one_of(specs(), bad_specs()), max_size=4), last=specs())
    def check(before: list[Spec], last: Spec) -> None:
        number = next(numbers)
        edited, plain = f"edited{number:04}", f"fresh{number:05}"
        for spec in [*before, last]:
            apply(bed, edited, spec)
        apply(bed, plain, last)
        for name in (edited, plain):
            assert bed.ready("LldapUser", name) == ("True", "Verified")
        assert same(bed, edited, plain)
        assert status(bed, edited)["managed"] == status(bed, plain)["managed"]

    check()
    bed.clear_logs()
    bed.start()
    resync(bed, 2)
    assert bed.mutations() == []


@pytest.mark.slow
def test_a_bad_edit_changes_nothing_and_is_undone_by_the_edit_before() -> None:
    bed = new_bed()
    numbers = itertools.count()

    @settings(max_examples=60)
    @given(good=specs(), bad=bad_specs())
    def check(good: Spec, bad: Spec) -> None:
        name = f"user{next(numbers):04}"
        apply(bed, name, good)
        before = account(bed, name)
        apply(bed, name, bad)
        reason = bed.ready("LldapUser", name)[1]
        assert reason in {"InvalidValue", "DependencyNotReady"}
        if reason == "InvalidValue":
            assert account(bed, name) == before
        apply(bed, name, good)
        assert bed.ready("LldapUser", name) == ("True", "Verified")
        assert account(bed, name) == before

    check()
