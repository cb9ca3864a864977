"""Random edits of objects of all four kinds, good and bad ones, and what is left of them."""

from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from tests.support.bed import Bed
from tests.support.directory import Directory

Spec = dict[str, Any]
ObjectKey = tuple[str, str]  # kind and name

# --- what a spec may say -----------------------------------------------------------------------

TEXTS: Final = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
NAMES: Final = st.one_of(
    st.none(), st.just(""), TEXTS, st.sampled_from(["Al", "al", "ß", "\u017fs", "I\u0307"])
)
INTEGERS: Final = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(str), st.sampled_from(["007", "+5", "-0"])
)
MOMENTS: Final = st.sampled_from(
    ["2024-05-01T12:00:00+02:00", "2024-05-01T10:00:00Z", "2024-05-01 10:00:00.50Z"]
)
EMPTY: Final = st.just([""])
# Attributes that both targets have, by name: its type, and its values.
ATTRIBUTES: Final[dict[str, tuple[str, bool, st.SearchStrategy[list[str]]]]] = {
    "text": ("String", False, st.one_of(EMPTY, st.tuples(TEXTS).map(list))),
    "number": ("Integer", False, st.one_of(EMPTY, st.tuples(INTEGERS).map(list))),
    "moment": ("DateTime", False, st.one_of(EMPTY, st.tuples(MOMENTS).map(list))),
    "texts": ("String", True, st.one_of(EMPTY, st.lists(TEXTS, max_size=3))),
    "numbers": ("Integer", True, st.lists(INTEGERS, max_size=3)),
}
WRONG: Final[list[list[dict[str, Any]]]] = [
    [{"name": "number", "value": ["1e3"]}],
    [{"name": "moment", "value": ["2024-05-01"]}],
    [{"name": "text", "value": []}],
    [{"name": "text", "value": ["a", "b"]}],
    [{"name": "numbers", "value": ["1", ""]}],
    [{"name": "number", "value": ["9223372036854775808"]}],
    [{"name": "missing-schema", "value": ["x"]}],
]
EMAILS: Final = {"alice": ["a@example.org", "A@Example.org"], "bob": ["b@example.org", "ß@b.org"]}
DISPLAY_NAMES: Final = {"one": ["Red", "RED", "Rot 王"], "two": ["Blue", "blue", "Ärzte"]}
COPIES: Final = ("first", "second", "third")
BADGES: Final = ("String", "Integer", "JpegPhoto")


@st.composite
def attribute_lists(draw: st.DrawFn) -> list[dict[str, Any]] | None:
    chosen = draw(st.sets(st.sampled_from(sorted(ATTRIBUTES))))
    present: bool = draw(st.booleans())
    entries: list[dict[str, Any]] = [
        {
            "name": draw(st.sampled_from([name, name.upper(), name.title()])),
            "value": draw(ATTRIBUTES[name][2]),
        }
        for name in sorted(chosen)
    ]
    return entries if entries or present else None


@st.composite
def users(draw: st.DrawFn, name: str, *, bad: bool = False) -> Spec:
    """Any user of that name; a bad one may want another's address or has a wrong value."""
    everybodys = [each for emails in EMAILS.values() for each in emails]
    spec: Spec = {
        "username": name,
        "email": draw(st.sampled_from(everybodys if bad else EMAILS[name])),
        "passwordPolicy": "Ignore",
        "deletionPolicy": "Delete",
        "attributes": draw(st.sampled_from(WRONG)) if bad else draw(attribute_lists()),
    }
    for field in draw(st.sets(st.sampled_from(("displayName", "firstName", "lastName")))):
        spec[field] = draw(NAMES)
    return spec


@st.composite
def groups(draw: st.DrawFn, name: str, *, bad: bool = False) -> Spec:
    """Any group of that object; a bad one may want another's name or has a wrong value."""
    everybodys = [each for names in DISPLAY_NAMES.values() for each in names]
    return {
        "displayName": draw(
            st.sampled_from([*everybodys, "LLDAP_Admin"] if bad else DISPLAY_NAMES[name])
        ),
        "deletionPolicy": "Delete",
        "attributes": draw(st.sampled_from(WRONG)) if bad else draw(attribute_lists()),
    }


@st.composite
def memberships(draw: st.DrawFn, group_names: list[str]) -> Spec:
    user, group = draw(st.sampled_from(sorted(EMAILS))), draw(st.sampled_from(group_names))
    spelled = draw(st.sampled_from([group, group.upper(), group.lower()]))
    return {"userName": draw(st.sampled_from([user, user.upper()])), "groupName": spelled}


@st.composite
def schemas(draw: st.DrawFn) -> Spec:
    """An attribute that no user or group names."""
    spec: Spec = {
        "attributeName": draw(st.sampled_from(["badge", "Badge"])),
        "attributeType": draw(st.sampled_from(BADGES)),
        "target": draw(st.sampled_from(["User", "Group"])),
        "deletionPolicy": "Delete",
    }
    for flag in draw(st.sets(st.sampled_from(("isList", "isVisible", "isEditable")))):
        spec[flag] = draw(st.booleans())
    return spec


@dataclass(frozen=True)
class Edit:
    """What a person does to one object; no spec: delete it."""

    kind: str
    name: str
    spec: Spec | None


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    """Any edit of any object; half of those of users and groups are bad ones."""
    kind = draw(st.sampled_from(KINDS))
    name = draw(st.sampled_from(OBJECTS[kind]))
    if draw(st.integers(0, 5)) == 0:
        return Edit(kind, name, None)
    bad = draw(st.booleans())
    if kind == "LldapUser":
        return Edit(kind, name, draw(users(name, bad=bad)))
    if kind == "LldapGroup":
        return Edit(kind, name, draw(groups(name, bad=bad)))
    if kind == "LldapMembership":
        names = [each for names in DISPLAY_NAMES.values() for each in names]
        return Edit(kind, name, draw(memberships([*names, "lldap_admin", "Nobody"])))
    return Edit(kind, name, draw(schemas()))


@st.composite
def ends(draw: st.DrawFn) -> list[Edit]:
    """The last word about every object: something that can be brought about, or nothing."""
    found = [Edit("LldapUser", name, draw(users(name))) for name in OBJECTS["LldapUser"]]
    named: list[str] = []
    for name in OBJECTS["LldapGroup"]:
        spec = draw(groups(name))
        named.append(spec["displayName"])
        found.append(Edit("LldapGroup", name, spec))
    for name in OBJECTS["LldapMembership"]:
        spec = draw(st.one_of(st.none(), memberships(named)))
        found.append(Edit("LldapMembership", name, spec))
    found.append(Edit("LldapAttributeSchema", "badge", draw(st.one_of(st.none(), schemas()))))
    return found


OBJECTS: Final = {
    "LldapUser": tuple(EMAILS),
    "LldapGroup": tuple(DISPLAY_NAMES),
    "LldapMembership": COPIES,
    "LldapAttributeSchema": ("badge",),
}
KINDS: Final = tuple(OBJECTS)
_FIXED: Final = {  # what cannot be edited: such an edit is a deletion and a new object
    "LldapUser": (),
    "LldapGroup": (),
    "LldapMembership": ("userName", "groupName"),
    "LldapAttributeSchema": (
        "attributeName",
        "attributeType",
        "target",
        "isList",
        "isVisible",
        "isEditable",
    ),
}

# --- what becomes of it ------------------------------------------------------------------------


def new_bed() -> Bed:
    """A bed whose lldap has the attributes."""
    bed = Bed()
    for target in ("User", "Group"):
        for name, (kind, is_list, _) in ATTRIBUTES.items():
            bed.schema(name, target, kind, isList=is_list)
    bed.settle()
    return bed


def apply(bed: Bed, edit: Edit) -> None:
    """As a person does it, with kubectl."""
    if edit.spec is None:
        if bed.exists(edit.kind, edit.name):
            bed.delete(edit.kind, edit.name)
        return
    if bed.exists(edit.kind, edit.name):
        there = bed.get(edit.kind, edit.name)
        changed = any(
            there["spec"].get(field) != edit.spec.get(field) for field in _FIXED[edit.kind]
        )
        if changed or "deletionTimestamp" in there["metadata"]:
            bed.delete(edit.kind, edit.name)
            bed.run(70, step=35)  # the brake, and what waits for something else
            assert not bed.exists(edit.kind, edit.name), f"{edit.kind} {edit.name} does not go"
    bed.apply(edit.kind, edit.name, edit.spec)


def standing(bed: Bed) -> dict[str, Any]:
    """What people see in lldap: no ids, dates and marks."""
    directory = Directory(bed)
    state = bed.lldap.snapshot()
    users = {
        key: (_seen(row.columns), _seen(row.attributes)) for key, row in state.users.rows.items()
    }
    groups = {
        row.columns["display_name"]: (
            _seen(row.attributes),
            sorted(directory.members(str(row.columns["display_name"]))),
        )
        for row in state.groups.rows.values()
    }
    shapes = {"user": dict(state.users.stored), "group": dict(state.groups.stored)}
    return {"users": users, "groups": groups, "attributes": shapes}


def _seen(values: Any) -> dict[str, Any]:
    hidden = ("uuid", "kubernetes-owner", "group_id")
    return {
        name: value
        for name, value in values.items()
        if name not in hidden and not name.endswith("_date")
    }
