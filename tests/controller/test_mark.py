"""The mark's text: what is written is read back, and whatever else stands there is another's."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.api import INSTANCE_MAX_LENGTH, MARK_ATTRIBUTE
from controller.configuration.values import MAX_CLUSTER
from controller.ownership.mark import (
    Invitation,
    Mark,
    Origin,
    UnknownMark,
    mark_of,
    owner_uid,
    parse,
)

LONGEST = 450  # what the mark may take, on all three databases
NAME = st.text(string.ascii_lowercase + string.digits + "-.", min_size=1, max_size=253)
UID = st.uuids().map(str)


MARKS = st.builds(
    Mark,
    origin=st.sampled_from(Origin),
    cluster=NAME,
    instance=NAME,
    namespace=NAME,
    name=NAME,
    uid=UID,
)


@given(MARKS)
def test_a_mark_reads_back_as_it_was_written(mark: Mark) -> None:
    assert parse(str(mark)) == mark


@given(NAME, NAME, NAME)
def test_an_invitation_reads_back_as_it_was_written(
    instance: str, namespace: str, name: str
) -> None:
    assert parse(f"invite {instance} {namespace}/{name}") == Invitation(instance, namespace, name)


@given(st.text())
def test_whatever_stands_there_is_read_without_an_error(text: str) -> None:
    found = parse(text)
    assert found is None or isinstance(found, (Mark, Invitation, UnknownMark))
    assert (found is None) == (not text.strip())


@pytest.mark.parametrize(
    "text",
    [
        "created c i n/o",
        "created c i no-slash uid",
        "created c i a/b/c uid",
        "created c i /o uid",
        "created c i n/ uid",
        "created c/d i n/o uid",
        "created c i n/o uid more",
        "Created c i n/o uid",
        "deleted c i n/o uid",
        "invite i no-slash",
        "invite n/o",
        "invite i n/o uid",
        "owned by someone",
        "team-a/alice",
    ],
)
def test_what_is_nearly_a_mark_is_an_unknown_owner(text: str) -> None:
    assert parse(text) == UnknownMark(text)


def test_people_may_type_spaces_too_many() -> None:
    assert parse("  invite  default team-a/alice\n") == Invitation("default", "team-a", "alice")


def test_the_longest_mark_fits() -> None:
    longest = Mark(
        Origin.ADOPTED,
        "c" * MAX_CLUSTER,
        "i" * INSTANCE_MAX_LENGTH,
        "n" * 63,
        "o" * 253,
        "u" * 36,
    )
    assert len(str(longest)) == LONGEST


def test_the_uid_is_found_only_in_a_mark() -> None:
    assert owner_uid({MARK_ATTRIBUTE: ("created c i n/o uid-1",)}) == "uid-1"
    assert owner_uid({MARK_ATTRIBUTE: ("invite i n/o",)}) is None
    assert owner_uid({MARK_ATTRIBUTE: ("something",)}) is None
    assert owner_uid({MARK_ATTRIBUTE: ()}) is None
    assert owner_uid({"department": ("created c i n/o uid-1",)}) is None
    assert mark_of({MARK_ATTRIBUTE: ("",)}) is None
