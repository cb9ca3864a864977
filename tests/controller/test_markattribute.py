"""The attribute that holds the marks: there before anything else is written, or nothing is."""

from typing import Any

import pytest

from controller.api import MARK_ATTRIBUTE
from sandbox.lldap.faults import Hook, lose_answer, lose_request, on
from sandbox.lldap.tables import Attribute
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import VERIFIED, before, drop_attribute, group_ids

UNSUPPORTED = ("False", "UnsupportedServer")
OWN = ["addUserAttribute", "addGroupAttribute"]


def put(bed: Bed, *, group: bool, kind: str = "STRING", **flags: bool) -> None:
    shape = {"is_visible": False, "is_editable": False, **flags}
    with bed.lldap.database() as store:
        table = store.state.groups if group else store.state.users
        table.stored[MARK_ATTRIBUTE] = Attribute(MARK_ATTRIBUTE, kind, **shape)


def test_it_is_added_to_both_before_any_other_write_and_never_again() -> None:
    bed = Bed()
    bed.settle()
    assert bed.mutations() == []  # not before there is something to write
    bed.group("Team")
    bed.user("alice")
    bed.run(700)
    assert bed.mutations()[:2] == OWN
    assert sum(bed.mutations().count(name) for name in OWN) == 2
    for table in (bed.lldap.snapshot().users, bed.lldap.snapshot().groups):
        attribute = table.stored[MARK_ATTRIBUTE]
        assert (attribute.kind, attribute.is_list) == ("STRING", False)
        assert not attribute.is_visible
        assert not attribute.is_editable


@pytest.mark.parametrize("group", [False, True])
def test_one_that_is_there_on_one_side_is_kept(group: bool) -> None:
    bed = Bed()
    put(bed, group=group)
    bed.group("Team")
    bed.settle()
    added = "addUserAttribute" if group else "addGroupAttribute"
    assert bed.mutations() == [added, "createGroupWithDetails"]


@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize(
    "shape",
    [{"kind": "INTEGER"}, {"is_list": True}, {"is_visible": True}, {"is_editable": True}],
)
def test_one_of_another_shape_stays_and_no_user_or_group_is_written(
    group: bool, shape: dict[str, Any]
) -> None:
    bed = Bed()
    put(bed, group=group, **shape)
    before_all = Directory(bed).dump()
    bed.group("Team")
    bed.user("alice")
    bed.run(60)
    assert bed.ready("LldapGroup", "team") == UNSUPPORTED
    assert bed.ready("LldapUser", "alice") == UNSUPPORTED
    assert MARK_ATTRIBUTE in bed.message("LldapGroup", "team")
    assert bed.mutations() == []
    assert Directory(bed).dump() == before_all


def test_work_goes_on_when_the_other_attribute_is_deleted() -> None:
    bed = Bed()
    put(bed, group=True, is_list=True)
    bed.group("Team")
    bed.settle()
    drop_attribute(bed, MARK_ATTRIBUTE, group=True)
    bed.run(700)
    assert bed.ready("LldapGroup", "team") == VERIFIED


@pytest.mark.parametrize("fault", [lose_answer, lose_request])
@pytest.mark.parametrize("name", OWN)
def test_C03_a_lost_answer_adds_it_once(name: str, fault: Hook) -> None:
    bed = Bed()
    bed.settle()
    bed.lldap.hooks.append(on(name, fault))
    bed.group("Team")
    bed.run(30)
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert list(group_ids(bed)) == ["Team"]


@pytest.mark.parametrize("shape", [{}, {"is_editable": True}])
def test_one_that_somebody_adds_at_the_same_time_is_read_back(shape: dict[str, Any]) -> None:
    bed = Bed()
    bed.settle()
    bed.lldap.hooks.append(before("addUserAttribute", lambda: put(bed, group=False, **shape)))
    bed.group("Team")
    bed.settle()
    assert bed.ready("LldapGroup", "team") == (UNSUPPORTED if shape else VERIFIED)
    assert bool(group_ids(bed)) is not bool(shape)


def test_one_that_is_deleted_with_every_mark_comes_back_with_them() -> None:
    bed = Bed()
    bed.group("Team")
    bed.user("alice")
    bed.settle()
    directory = Directory(bed)
    marks = directory.group_mark("Team"), directory.mark("alice")
    drop_attribute(bed, MARK_ATTRIBUTE, group=True)
    drop_attribute(bed, MARK_ATTRIBUTE)
    bed.run(700)
    assert (directory.group_mark("Team"), directory.mark("alice")) == marks
    assert bed.events.reasons().count("MarkRestored") == 2
