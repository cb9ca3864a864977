"""Echoes of our own writes, and nothing else, are told from other people's."""

import pytest

from controller.harness.resource import Object
from controller.watching.ownwrites import KEPT, OwnWrites


def version(number: int, uid: str = "u", **metadata: object) -> Object:
    return {"metadata": {"uid": uid, "resourceVersion": str(number), **metadata}}


@pytest.fixture
def writes() -> OwnWrites:
    return OwnWrites()


def test_an_echo_is_known_once(writes: OwnWrites) -> None:
    writes.note(version(5))
    assert not writes.is_echo(version(4))
    assert writes.is_echo(version(5))
    assert not writes.is_echo(version(5))
    assert len(writes) == 0


def test_an_object_of_the_same_version_and_another_uid_is_another(writes: OwnWrites) -> None:
    writes.note(version(5))
    assert not writes.is_echo(version(5, uid="other"))


def test_each_of_several_writes_is_known(writes: OwnWrites) -> None:
    for number in (5, 6, 7):
        writes.note(version(number))
    assert [writes.is_echo(version(number)) for number in (5, 6, 7)] == [True] * 3


def test_a_list_that_shows_only_the_last_one_forgets_those_before(writes: OwnWrites) -> None:
    for number in (5, 6, 7):
        writes.note(version(number))
    assert writes.is_echo(version(7))
    assert len(writes) == 0


def test_another_persons_write_in_between_is_theirs(writes: OwnWrites) -> None:
    writes.note(version(5))
    writes.note(version(7))
    assert [writes.is_echo(version(number)) for number in (5, 6, 7)] == [True, False, True]


def test_an_object_whose_echoes_never_come_takes_little(writes: OwnWrites) -> None:
    for number in range(100):
        writes.note(version(number))
    assert writes._versions["u"] == tuple(str(n) for n in range(100 - KEPT, 100))


def test_what_is_gone_is_forgotten(writes: OwnWrites) -> None:
    writes.note(version(5))
    writes.forget("u")
    writes.forget("never seen")
    assert len(writes) == 0


def test_the_write_that_lets_an_object_go_leaves_nothing_behind(writes: OwnWrites) -> None:
    """Its DELETED event may have come before the answer: nobody would forget it."""
    writes.note(version(5))
    writes.note(version(5, deletionTimestamp="now", finalizers=[]))
    assert len(writes) == 0
    writes.note(version(6, deletionTimestamp="now", finalizers=["other"]))
    assert len(writes) == 1
