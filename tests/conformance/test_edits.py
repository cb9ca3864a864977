"""However the objects were edited before: what counts is what they say now."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controller.api import KINDS
from tests.conformance.edits import WRONG, Edit, apply, edits, ends, new_bed, standing
from tests.support.accounts import reference, refused
from tests.support.bed import Bed

Moves = list[tuple[Edit, int]]  # an edit, and the seconds that pass after it


def moves() -> st.SearchStrategy[Moves]:
    return st.lists(st.tuples(edits(), st.sampled_from((0, 0, 0, 3, 40))), max_size=8)


def bring_about(bed: Bed, last: list[Edit]) -> None:
    for edit in last:
        apply(bed, edit)
    bed.run(60, step=10)
    bed.run(700, step=100)


def states(bed: Bed, last: list[Edit]) -> dict[str, tuple[str, str]]:
    return {
        f"{edit.kind} {edit.name}": bed.ready(edit.kind, edit.name)
        for edit in last
        if edit.spec is not None
    }


def check(before: Moves, last: list[Edit]) -> None:
    edited, fresh = new_bed(), new_bed()
    for edit, seconds in before:
        apply(edited, edit)
        edited.run(seconds, step=max(1.0, seconds / 4))
    bring_about(edited, last)
    bring_about(fresh, last)
    assert standing(edited) == standing(fresh)
    ready = states(edited, last)
    assert {state for state in ready.values() if state[0] != "True"} <= {("False", "Conflict")}
    assert sorted(ready.values()) == sorted(states(fresh, last).values())


quickly = settings(max_examples=8, suppress_health_check=list(HealthCheck))
thoroughly = settings(max_examples=150, suppress_health_check=list(HealthCheck))


@pytest.mark.timeout(300)
@quickly
@given(before=moves(), last=ends())
def test_any_edits_end_as_if_there_had_been_only_the_last(before: Moves, last: list[Edit]) -> None:
    check(before, last)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@thoroughly
@given(before=moves(), last=ends())
def test_many_edits_end_as_if_there_had_been_only_the_last(before: Moves, last: list[Edit]) -> None:
    check(before, last)


def test_what_was_created_while_it_was_edited_keeps_nothing_of_the_old_spec() -> None:
    """The status of a pass that was overtaken is not written: what it created has to be known."""
    wrong, empty = [{"name": "text", "value": ["a", "b"]}], [{"name": "numbers", "value": []}]
    before = [(_group("one", "Blue", wrong), 0), (_group("two", "Blue", empty), 0)]
    alice = {"username": "alice", "email": "a@example.org", "passwordPolicy": "Ignore"}
    members = [{"userName": "alice", "groupName": name} for name in ("Red", "Blue")]
    last = [
        Edit("LldapUser", "alice", alice),
        _group("one", "Red"),
        _group("two", "Blue"),
        *(Edit("LldapMembership", f"m{n}", spec) for n, spec in enumerate(members)),
    ]
    check(before, last)


def test_what_is_handed_over_keeps_nothing_that_only_the_former_object_declared() -> None:
    moment = [{"name": "moment", "value": ["2024-05-01T12:00:00+02:00"]}]
    wrong = [{"name": "number", "value": ["1e3"]}]
    before = [
        (_group("two", "Blue", moment), 0),
        (_group("one", "Blue", wrong), 0),
        (Edit("LldapGroup", "two", None), 0),
    ]
    check(before, [_group("one", "Red"), _group("two", "Blue")])


def _group(name: str, display_name: str, attributes: list[dict[str, Any]] | None = None) -> Edit:
    spec = {"displayName": display_name, "deletionPolicy": "Delete", "attributes": attributes}
    return Edit("LldapGroup", name, spec)


# --- a bad edit, undone ------------------------------------------------------------------------


def undone(good: list[Edit], bad: Edit) -> None:
    bed = new_bed()
    bring_about(bed, good)
    before, ready = standing(bed), states(bed, good)
    apply(bed, bad)
    bed.run(60, step=10)
    accounts = [e for e in good if e.kind in {"LldapUser", "LldapGroup"} and e.name != bad.name]
    assert {state[0] for state in states(bed, accounts).values()} == {"True"}
    bring_about(bed, good)
    assert standing(bed) == before
    assert sorted(states(bed, good).values()) == sorted(ready.values())


@quickly
@given(good=ends(), bad=edits())
def test_any_edit_is_undone_by_the_one_before(good: list[Edit], bad: Edit) -> None:
    undone(good, bad)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@thoroughly
@given(good=ends(), bad=edits())
def test_many_edits_are_undone_by_the_ones_before(good: list[Edit], bad: Edit) -> None:
    undone(good, bad)


# --- nobody waits for another's fault ----------------------------------------------------------


def bad_objects(bed: Bed) -> None:
    """Objects of all kinds that fail in every way that is their own."""
    for number, wrong in enumerate(WRONG):
        bed.user(f"wrong-{number}", attributes=wrong)
        bed.group(f"Wrong-{number}", attributes=wrong)
        bed.schema(f"wrong-{number}", kind="Integer", deletionPolicy="Delete")
        bed.membership(f"wrong-{number}", f"Wrong-{number}")
    for number in range(5):
        secret = reference(f"missing-{number}")
        bed.user(f"waits-{number}", passwordPolicy="Manage", passwordSecretRef=secret)
        bed.group("LLDAP_Admin", f"team-{'ab'[number % 2]}")
        bed.user("same", f"team-{'ab'[number % 2]}", object=f"same-{number}")
        bed.user(f"taken-{number}", email="same@example.org")
        bed.membership("same", "lldap_admin", name=f"up-{number}")
    bed.user("admin")
    bed.secret("bad", b"\xff")
    bed.user("odd", passwordPolicy="Manage", passwordSecretRef=reference("bad"))


@pytest.mark.parametrize("text", ["", "The moon is in the wrong place", "database is locked"])
def test_bad_objects_never_delay_the_others(text: str) -> None:
    bed = new_bed()
    bad_objects(bed)
    if text:  # lldap refuses these in its own words
        bed.lldap.hooks.append(refused("addGroupAttribute", text))
        for number in range(5):
            bed.schema(f"refused-{number}", "Group")
    bed.run(400, step=20)  # all of them have failed many times
    began = bed.clock.monotonic()
    bed.schema("good", deletionPolicy="Delete")
    bed.secret("pw", b"a good password")
    secret: dict[str, Any] = {"passwordPolicy": "Manage", "passwordSecretRef": reference()}
    bed.user("good", attributes=[{"name": "text", "value": ["x"]}], **secret)
    bed.group("Good")
    bed.membership("good", "Good")
    bed.settle()
    names = ("good", "good", "good-good", "user-good")
    good = list(zip((kind.kind for kind in KINDS), names, strict=True))
    assert {bed.ready(*each) for each in good} == {("True", "Verified")}
    bed.user("good", displayName="Better", **secret)
    bed.settle()
    assert bed.get("LldapUser", "good")["status"]["observedGeneration"] == 2
    for each in reversed(good):
        bed.delete(*each)
    bed.settle()
    assert [each for each in good if bed.exists(*each)] == []
    assert bed.clock.monotonic() == began
