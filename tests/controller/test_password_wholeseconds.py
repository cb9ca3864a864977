"""When the second of a date is over, by the operator's own clock alone."""

import pytest

from controller.reconcilers.wholeseconds import KEPT, SECOND, WholeSeconds
from lldap import Directory, GroupWithMembers, Mirror, Schema
from tests.support.clock import FakeClock

DATE, LATER = "2030-01-01T00:00:05+00:00", "2030-01-01T00:00:06+00:00"


class Source:
    def __init__(self, fraction: str) -> None:
        self._date = f"2030-01-01T00:00:00{fraction}+00:00"

    def read_directory(self, known: object = ()) -> Directory:
        del known
        admin = GroupWithMembers(1, "lldap_admin", "u", self._date, members=frozenset({"admin"}))
        return Directory([], [admin], Schema())


def seconds(fraction: str = "") -> tuple[WholeSeconds, FakeClock]:
    clock = FakeClock()
    mirror = Mirror("admin", lambda _: None, clock=clock)
    mirror.refresh(Source(fraction))
    return WholeSeconds(mirror, clock.monotonic), clock


def test_a_second_is_over_one_second_after_its_date_was_first_seen() -> None:
    whole, clock = seconds()
    assert whole.left("a", DATE) == pytest.approx(SECOND)
    clock.advance(0.5)
    assert 0 < whole.left("a", DATE) < SECOND
    clock.advance(SECOND)
    assert whole.left("a", DATE) == 0


def test_another_date_begins_anew() -> None:
    whole, clock = seconds()
    whole.left("a", DATE)
    clock.advance(SECOND)
    assert whole.left("a", LATER) == pytest.approx(SECOND)
    assert whole.left("b", DATE) == pytest.approx(SECOND)


def test_a_date_with_a_fraction_is_one_moment() -> None:
    whole, _ = seconds()
    assert whole.left("a", "2030-01-01T00:00:05.000000001+00:00") == 0
    assert len(whole) == 0


def test_where_lldap_keeps_fractions_a_date_may_happen_to_have_none() -> None:
    whole, _ = seconds(".5")
    assert whole.left("a", DATE) == 0


def test_what_nobody_asks_for_any_more_is_forgotten() -> None:
    whole, clock = seconds()
    for number in range(100):
        whole.left(str(number), DATE)
    clock.advance(KEPT + 1)
    whole.left("new", DATE)
    assert len(whole) == 1
