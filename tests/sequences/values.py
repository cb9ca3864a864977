"""Values of fields and attributes: absent, null, empty, at a bound, odd, and some that are none."""

from typing import Any

from hypothesis import strategies as st

from tests.support.bed import Bed

Spec = dict[str, Any]

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
NAMES = st.one_of(
    st.none(), st.just(""), TEXTS, st.sampled_from(["Al", "al", "ß", "\u017fs", "I\u0307"])
)
POLICIES: st.SearchStrategy[Spec] = st.sampled_from(
    ({}, {"deletionPolicy": "Delete"}, {"deletionPolicy": "Retain"})
)
_INTEGERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.sampled_from(["007", "7", "+7", "-0", "0", "+0"]),
)
_MOMENTS = st.sampled_from(
    [
        "2024-05-01T12:00:00+02:00",
        "2024-05-01T10:00:00Z",
        "2024-05-01t10:00:00.000z",
        "2024-05-01T10:00:00.5Z",
        "2024-05-01T10:00:00.500000000-00:00",
        "2024-02-29 23:59:59.999999999+23:59",
    ]
)
_EMPTY = st.just([""])
ATTRIBUTES = {
    "text": st.one_of(_EMPTY, st.tuples(TEXTS).map(list)),
    "email": st.one_of(_EMPTY, st.tuples(TEXTS).map(list)),
    "number": st.one_of(_EMPTY, st.tuples(_INTEGERS).map(list)),
    "moment": st.one_of(_EMPTY, st.tuples(_MOMENTS).map(list)),
    "texts": st.one_of(_EMPTY, st.lists(TEXTS, max_size=3)),
    "numbers": st.one_of(_EMPTY, st.lists(_INTEGERS, max_size=3)),
    "moments": st.one_of(_EMPTY, st.lists(_MOMENTS, max_size=3)),
}
_BAD: list[dict[str, list[str]]] = [
    {"number": ["1e3"]},
    {"moment": ["2024-05-01"]},
    {"text": []},
    {"numbers": ["1", ""]},
    {"number": ["9223372036854775808"]},
    {"missing-schema": ["x"]},
]


def bed_with_attributes(target: str) -> Bed:
    """A bed whose users (or groups) can have every one of ATTRIBUTES."""
    bed = Bed()
    for name in ATTRIBUTES:
        kind = {"n": "Integer", "m": "DateTime"}.get(name[0], "String")
        bed.schema(name, target=target, kind=kind, isList=name.endswith("s"))
    bed.settle()
    return bed


@st.composite
def with_attributes(draw: st.DrawFn, spec: st.SearchStrategy[Spec]) -> Spec:
    """Such a spec with some attributes, with none or with an empty list of them."""
    whole = dict(draw(spec))
    chosen = draw(st.sets(st.sampled_from(sorted(ATTRIBUTES))))
    present: bool = draw(st.booleans())
    if chosen or present:
        whole["attributes"] = [
            {"name": draw(st.sampled_from([n, n.upper(), n.title()])), "value": draw(ATTRIBUTES[n])}
            for n in sorted(chosen)
        ]
    return whole


@st.composite
def with_a_bad_value(draw: st.DrawFn, spec: st.SearchStrategy[Spec]) -> Spec:
    """Such a spec with a value that is none, or an attribute that is not there."""
    whole = draw(spec)
    wrong = draw(st.sampled_from(_BAD))
    kept = [a for a in whole.get("attributes", []) if a["name"].lower() not in wrong]
    made = [{"name": name, "value": value} for name, value in wrong.items()]
    return {**whole, "attributes": [*kept, *made]}
