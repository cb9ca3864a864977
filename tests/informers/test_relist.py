"""What is listed again from time to time, for the sake of events that never came."""

import random
from collections.abc import Callable

from tests.informers.scripted import END, Rig, ScriptedListWatch, bookmark, obj, page


class Always(random.Random):
    """Always at the same place of a range: 0 is its beginning, 0.5 its middle."""

    def __init__(self, place: float) -> None:
        super().__init__()
        self._place = place

    def random(self) -> float:
        return self._place


def _rig(source: ScriptedListWatch, seconds: float, place: float = 0.5) -> Rig:
    return Rig(source, rng=Always(place), relist_seconds=seconds)


def _passing(rigs: list[Rig], seconds: float) -> Callable[[], None]:
    return lambda: rigs[0].clock.advance(seconds)


def test_an_event_that_never_came_is_made_up_for_by_a_list_when_it_is_due() -> None:
    rigs: list[Rig] = []
    source = ScriptedListWatch(
        [page(7, obj("a", 5), obj("b", 6)), page(9, obj("a", 8))],
        [[bookmark(7), _passing(rigs, 450), END], [bookmark(7), _passing(rigs, 150), END]],
    )
    rigs.append(_rig(source, 600))
    rigs[0].settle()
    assert source.calls == [
        ("LIST", "0", 500, ""),
        ("WATCH", "7", 450),
        ("WATCH", "7", 150),  # no longer than until the list is due
        ("LIST", "7", 0, ""),
        ("WATCH", "9", 450),
    ]
    assert rigs[0].told[2:] == [("delete", "a/b", "6", True), ("update", "a/a", "5", "8")]


def test_it_may_be_due_a_tenth_of_the_period_sooner() -> None:
    rigs: list[Rig] = []
    source = ScriptedListWatch(
        [page(7)], [[bookmark(7), _passing(rigs, 300), END], [_passing(rigs, 240), END]]
    )
    rigs.append(_rig(source, 600, place=0))
    rigs[0].settle()
    assert [call for call in source.calls if call[0] == "WATCH"][:2] == [
        ("WATCH", "7", 300),
        ("WATCH", "7", 240),
    ]
    assert source.verbs == ["LIST", "WATCH", "WATCH", "LIST", "WATCH"]


def test_it_says_when_the_first_list_is_there() -> None:
    rig = _rig(ScriptedListWatch([page(7)], [[bookmark(7)]]), 600)
    assert not rig.reflector.has_listed
    rig.settle()
    assert rig.reflector.has_listed


def test_without_a_period_only_what_the_server_says_leads_to_a_list() -> None:
    rigs: list[Rig] = []
    source = ScriptedListWatch([page(7)], [[_passing(rigs, 100_000), END]])
    rigs.append(Rig(source, rng=Always(0.5)))
    rigs[0].settle()
    assert source.verbs == ["LIST", "WATCH", "LIST", "WATCH"]  # silent far too long


def test_a_list_that_is_due_soon_still_leaves_a_watch_a_second() -> None:
    rigs: list[Rig] = []
    source = ScriptedListWatch([page(7)], [[bookmark(7), _passing(rigs, 2), END]])
    rigs.append(_rig(source, 0.5))
    rigs[0].settle()
    assert [call for call in source.calls if call[0] == "WATCH"] == [
        ("WATCH", "7", 1),
        ("WATCH", "999", 1),
    ]
