"""The table of resourceVersions: controller-contracts 3.1."""

import pytest

from informers import ApiFailure, ListPage, Object
from tests.informers.scripted import (
    BROKEN,
    END,
    EXPIRED,
    REFUSED,
    TOO_LARGE,
    Rig,
    ScriptedListWatch,
    Step,
    added,
    bookmark,
    deleted,
    error_event,
    modified,
    obj,
    page,
)

A5 = obj("a", 5)
CASES: dict[
    str, tuple[list[ListPage | ApiFailure], list[list[Step] | ApiFailure], list[tuple[str, str]]]
] = {
    "the first list takes any state, the watch starts where the list ended": (
        [page(7, A5)],
        [],
        [("LIST", "0"), ("WATCH", "7")],
    ),
    "a failed first list is repeated with 0": (
        [BROKEN, page(7)],
        [],
        [("LIST", "0"), ("LIST", "0"), ("WATCH", "7")],
    ),
    "a new watch starts at the last event": (
        [page(7, A5)],
        [[added(obj("b", 8)), modified(obj("a", 9)), deleted(obj("b", 10)), END]],
        [("LIST", "0"), ("WATCH", "7"), ("WATCH", "10")],
    ),
    "a bookmark moves the version": (
        [page(7)],
        [[bookmark(20), END]],
        [("LIST", "0"), ("WATCH", "7"), ("WATCH", "20")],
    ),
    "a later list asks for at least the last version": (
        [page(7), page(9)],
        [[bookmark(8), error_event(410, "Expired")]],
        [("LIST", "0"), ("WATCH", "7"), ("LIST", "8"), ("WATCH", "9")],
    ),
    "an expired list is repeated with the latest version": (
        [page(7), EXPIRED, page(9)],
        [EXPIRED],
        [("LIST", "0"), ("WATCH", "7"), ("LIST", "7"), ("LIST", ""), ("WATCH", "9")],
    ),
    "a version in the server's future is given up": (
        [page(7), TOO_LARGE, page(3)],
        [[error_event(410, "Expired")]],
        [("LIST", "0"), ("WATCH", "7"), ("LIST", "7"), ("LIST", ""), ("WATCH", "3")],
    ),
    "the latest version is asked for until a list is good, and then no more": (
        [page(7), EXPIRED, BROKEN, page(9), page(10)],
        [EXPIRED, EXPIRED],
        [
            ("LIST", "0"),
            ("WATCH", "7"),
            ("LIST", "7"),
            ("LIST", ""),
            ("LIST", ""),
            ("WATCH", "9"),
            ("LIST", "9"),
            ("WATCH", "10"),
        ],
    ),
    "a watch that was not opened is tried again at the same version": (
        [page(7)],
        [REFUSED, REFUSED],
        [("LIST", "0"), ("WATCH", "7"), ("WATCH", "7"), ("WATCH", "7")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_versions_sent(name: str) -> None:
    lists, watches, expected = CASES[name]
    source = ScriptedListWatch(lists, watches)
    Rig(source).settle(seconds=20)
    assert source.versions == expected


def without(item: Object, *path: str) -> Object:
    *parents, last = path
    inner = item
    for parent in parents:
        inner = inner[parent]
    del inner[last]
    return item


@pytest.mark.parametrize(
    "strange",
    [
        added(without(obj("x", 1), "metadata")),
        added(without(obj("x", 1), "metadata", "name")),
        added(obj("x", 1) | {"kind": "Status"}),
        added({"metadata": None}),
        added({"metadata": {"name": None, "resourceVersion": "99"}}),
        added({"metadata": {"name": "x", "namespace": 3, "resourceVersion": "99"}}),
        modified({"metadata": []}),
        deleted({}),
        bookmark("0"),
        bookmark(""),
        bookmark(99)._replace(object={"metadata": {"resourceVersion": None}}),
        bookmark(99)._replace(object={"metadata": {"resourceVersion": 99}}),
        bookmark(99)._replace(type="NEWS"),
    ],
)
def test_an_event_that_is_not_understood_neither_ends_the_watch_nor_becomes_a_version(
    strange: Step,
) -> None:
    source = ScriptedListWatch([page(7, A5)], [[strange, added(obj("b", 8)), strange, END]])
    rig = Rig(source)
    rig.settle(seconds=1)
    assert source.versions == [("LIST", "0"), ("WATCH", "7"), ("WATCH", "8")]
    assert rig.told == [("add", "a/a", "5", True), ("add", "a/b", "8", False)]


@pytest.mark.parametrize("version", ["", "0"])
def test_a_list_without_a_version_is_a_failed_list(version: str) -> None:
    source = ScriptedListWatch([page(7, A5), page(version), page(9, A5)], [EXPIRED])
    rig = Rig(source)
    rig.settle(seconds=10)
    assert source.versions == [
        ("LIST", "0"),
        ("WATCH", "7"),
        ("LIST", "7"),
        ("LIST", "7"),
        ("WATCH", "9"),
    ]
    assert rig.told == [("add", "a/a", "5", True)]


def test_a_list_with_something_else_in_it_empties_nothing() -> None:
    status: Object = {"kind": "Status", "metadata": {"name": "x"}}
    source = ScriptedListWatch([page(7, A5), page(8, status), page(9, A5)], [EXPIRED])
    rig = Rig(source)
    rig.settle(seconds=10)
    assert source.verbs == ["LIST", "WATCH", "LIST", "LIST", "WATCH"]
    assert rig.told == [("add", "a/a", "5", True)]


def test_pages_are_asked_for_where_the_server_can_still_answer_from_its_cache() -> None:
    source = ScriptedListWatch([page(7), page(8)], [EXPIRED])
    Rig(source).settle(seconds=3)
    lists = [call for call in source.calls if call[0] == "LIST"]
    assert lists == [("LIST", "0", 500, ""), ("LIST", "7", 0, "")]


def test_a_server_that_cuts_lists_into_pages_is_asked_for_pages_again() -> None:
    source = ScriptedListWatch([page(7, token="t"), page(7), page(8)], [EXPIRED])
    Rig(source).settle(seconds=3)
    lists = [call for call in source.calls if call[0] == "LIST"]
    assert lists == [("LIST", "0", 500, ""), ("LIST", "0", 500, "t"), ("LIST", "7", 500, "")]


def test_a_watch_lasts_between_five_and_ten_minutes() -> None:
    source = ScriptedListWatch([page(7)], [REFUSED] * 200)
    rig = Rig(source)
    rig.settle(seconds=200 * 60)
    seconds = [call[2] for call in source.calls if call[0] == "WATCH"]
    assert len(seconds) > 150
    assert all(300 <= s < 600 and isinstance(s, int) for s in seconds)
    assert max(seconds) - min(seconds) > 200
