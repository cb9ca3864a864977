"""User, group, membership and attribute in every order: all Ready, then nothing of them left."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

from controller.api import MARK_ATTRIBUTE
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import VERIFIED, attributes

OBJECTS = {
    "user": ("LldapUser", "alice"),
    "group": ("LldapGroup", "team"),
    "membership": ("LldapMembership", "alice-team"),
    "schema": ("LldapAttributeSchema", "user-department"),
}
ORDERS = list(itertools.permutations(OBJECTS))
PAIRS = list(itertools.product(ORDERS, ORDERS))
SAMPLE = random.Random(9).sample(PAIRS, 24)


def make(bed: Bed) -> dict[str, Callable[[], object]]:
    wanted = attributes(department=["42"])
    return {
        "user": lambda: bed.user("alice", attributes=wanted),
        "group": lambda: bed.group("Team"),
        "membership": lambda: bed.membership("alice", "Team"),
        "schema": lambda: bed.schema("department", deletionPolicy="Delete"),
    }


def with_strangers() -> tuple[Bed, dict[str, Any]]:
    """A bed whose lldap has things that no object names, and all that stands there."""
    bed = Bed()
    directory = Directory(bed)
    directory.make_attribute("hand-made")
    directory.make_attribute("hand-made-too", group=True)
    directory.make_group("Hand")
    directory.make_user("hand", "Hand", "lldap_strict_readonly", **{"hand-made": "1"})
    bed.settle()
    return bed, standing(bed)


def standing(bed: Bed) -> dict[str, Any]:
    dump = Directory(bed).dump()
    return {key: value for key, value in dump.items() if not key.endswith(MARK_ATTRIBUTE)}


def run_through(made: tuple[str, ...], deleted: tuple[str, ...], wait: float) -> None:
    bed, before = with_strangers()
    steps = make(bed)
    for name in made:
        steps[name]()
        bed.run(wait)
    bed.run(45)
    assert {bed.ready(*OBJECTS[name]) for name in OBJECTS} == {VERIFIED}
    assert Directory(bed).members("Team") == {"alice"}
    for name in deleted:
        bed.delete(*OBJECTS[name])
        bed.run(wait)
    bed.run(45)
    assert [name for name in OBJECTS if bed.exists(*OBJECTS[name])] == []
    assert standing(bed) == before


@pytest.mark.parametrize("wait", [0, 15], ids=["at once", "one by one"])
@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_E09_any_order_of_creation_and_the_same_of_deletion(
    order: tuple[str, ...], wait: float
) -> None:
    run_through(order, order, wait)


@pytest.mark.parametrize("wait", [0, 15], ids=["at once", "one by one"])
@pytest.mark.parametrize(("made", "deleted"), SAMPLE, ids=map(repr, range(len(SAMPLE))))
def test_E09_any_order_of_creation_with_any_other_of_deletion(
    made: tuple[str, ...], deleted: tuple[str, ...], wait: float
) -> None:
    run_through(made, deleted, wait)


@pytest.mark.slow
@pytest.mark.parametrize("made", ORDERS, ids="-".join)
def test_E09_each_order_of_creation_with_all_of_deletion(made: tuple[str, ...]) -> None:
    for deleted in ORDERS:
        run_through(made, deleted, 0)


@pytest.mark.parametrize("order", random.Random(3).sample(ORDERS, 6), ids="-".join)
def test_with_retain_everywhere_everything_stays_unmarked(order: tuple[str, ...]) -> None:
    bed, _ = with_strangers()
    bed.user("alice", deletionPolicy="Retain", attributes=attributes(department=["42"]))
    bed.group("Team", deletionPolicy="Retain")
    bed.membership("alice", "Team", deletionPolicy="Retain")
    bed.schema("department", deletionPolicy="Retain")
    bed.run(45)
    before = standing(bed)
    for name in order:
        bed.delete(*OBJECTS[name])
        bed.settle()
    directory = Directory(bed)
    assert [name for name in OBJECTS if bed.exists(*OBJECTS[name])] == []
    assert directory.mark("alice") is None
    assert directory.group_mark("Team") is None
    assert directory.members("Team") == {"alice"}
    assert set(standing(bed)) == set(before)
