"""Many deletions at once, on a whole operator: they wait their turn, and nobody asks meanwhile."""

import re

import pytest

from sandbox.lldap.faults import lose_request, on
from tests.support.bed import Bed
from tests.support.directory import Directory

NAMES = [f"user{number:02}" for number in range(12)]


@pytest.fixture
def bed() -> Bed:
    bed = Bed()
    bed.start(max_deletions_per_minute=5)
    for name in NAMES:
        bed.user(name)
    bed.settle(200)
    bed.clear_logs()
    return bed


def delete_all(bed: Bed) -> None:
    for name in NAMES:
        bed.delete("LldapUser", name)
        bed.settle()


def left(directory: Directory) -> list[str]:
    return [name for name in NAMES if directory.has_user(name)]


def place(bed: Bed, name: str) -> int:
    found = re.search(r"waits at place (\d+) ", bed.message("LldapUser", name))
    assert found is not None
    return int(found[1])


def test_they_go_in_the_order_in_which_they_were_deleted(bed: Bed, directory: Directory) -> None:
    delete_all(bed)
    assert left(directory) == NAMES[5:]
    assert bed.ready("LldapUser", NAMES[5]) == ("False", "Deleting")
    assert [place(bed, name) for name in NAMES[5:]] == [1, 2, 3, 4, 5, 6, 7]
    bed.run(61)
    assert left(directory) == NAMES[10:]
    bed.run(61)
    assert left(directory) == []
    assert not any(bed.exists("LldapUser", name) for name in NAMES)


def test_who_waits_costs_nothing(bed: Bed) -> None:
    delete_all(bed)
    bed.clear_logs()
    bed.run(55)
    assert bed.operations() == []
    assert bed.api_writes() == []
    assert bed.operator.instance.brake.waiting == 7
    assert "Deleting" in bed.events.reasons()


def test_other_work_goes_on(bed: Bed) -> None:
    delete_all(bed)
    bed.user("someone")
    bed.settle()
    assert bed.ready("LldapUser", "someone") == ("True", "Verified")


def test_who_is_let_off_makes_room(bed: Bed, directory: Directory) -> None:
    delete_all(bed)
    bed.user(NAMES[5], deletionPolicy="Retain")
    bed.settle()
    assert not bed.exists("LldapUser", NAMES[5])
    assert bed.operator.instance.brake.waiting == 6
    bed.run(61)
    assert left(directory) == [NAMES[5], NAMES[11]]


def test_a_resync_changes_no_order(bed: Bed, directory: Directory) -> None:
    delete_all(bed)
    bed.run(30)
    bed.operator.compare_all()
    bed.settle(100)
    assert left(directory) == NAMES[5:]
    bed.run(31)
    assert left(directory) == NAMES[10:]


def test_a_deletion_that_fails_takes_no_second_turn(bed: Bed, directory: Directory) -> None:
    bed.lldap.hooks.append(on("deleteUser", lose_request, times=1))
    delete_all(bed)
    bed.run(10)
    assert left(directory) == NAMES[5:]
