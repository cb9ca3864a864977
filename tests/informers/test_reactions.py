"""The table of errors: controller-contracts 3.3. What comes next, and after which wait."""

import itertools
from dataclasses import dataclass, field

import pytest

from informers import (
    AnswerTooLarge,
    ApiFailure,
    ConnectionFailed,
    DeadlineExceeded,
    GarbledStream,
    ListPage,
    StatusError,
    StreamClosed,
    UnexpectedAnswer,
)
from tests.informers.scripted import (
    BROKEN,
    END,
    EXPIRED,
    FORBIDDEN,
    MISSING,
    REFUSED,
    THROTTLED,
    TOO_LARGE,
    Rig,
    ScriptedListWatch,
    Step,
    bookmark,
    error_event,
    obj,
    page,
)

LATE = DeadlineExceeded("late", sent=True)
RESET = ConnectionFailed("reset", sent=True)
UNAUTHORIZED = StatusError(401, "Unauthorized", body_is_status=True)
AT_ONCE = (0.0, 0.0)
BACKOFF = (0.8, 1.6)
HEADER = (3.0, 3.0)


@dataclass
class Case:
    """After the error comes `then`, not before the lower and not after the upper wait."""

    then: tuple[str, str]
    wait: tuple[float, float]
    lists: list[ListPage | ApiFailure] = field(default_factory=lambda: [page(7), page(8)])
    watches: list[list[Step] | ApiFailure] = field(default_factory=list)


def listing(error: ApiFailure, then: tuple[str, str], wait: tuple[float, float]) -> Case:
    return Case(then, wait, lists=[error, page(8)])


def second_page(error: ApiFailure, then: tuple[str, str], wait: tuple[float, float]) -> Case:
    return Case(then, wait, lists=[page(7, token="t"), error, page(8)])


def opening(error: ApiFailure, then: tuple[str, str], wait: tuple[float, float]) -> Case:
    return Case(then, wait, watches=[error])


RELIST = ("LIST", "7")
REWATCH = ("WATCH", "7")
AGAIN = ("LIST", "0")
LATEST = ("LIST", "")

BEFORE_WATCHING: dict[str, Case] = {
    "list: refused connection": listing(REFUSED, AGAIN, BACKOFF),
    "list: deadline": listing(LATE, AGAIN, BACKOFF),
    "list: 429": listing(THROTTLED, AGAIN, HEADER),
    "list: 401": listing(UNAUTHORIZED, AGAIN, BACKOFF),
    "list: 403": listing(FORBIDDEN, AGAIN, BACKOFF),
    "list: 404, the CRD is missing": listing(MISSING, AGAIN, BACKOFF),
    "list: 500": listing(BROKEN, AGAIN, BACKOFF),
    "list: not understood": listing(UnexpectedAnswer("html"), AGAIN, BACKOFF),
    "list: too large an answer": listing(AnswerTooLarge("huge"), AGAIN, BACKOFF),
    "list: 410": listing(EXPIRED, LATEST, AT_ONCE),
    "list: version too large": listing(TOO_LARGE, LATEST, AT_ONCE),
    "list: 410 though the latest was asked for": Case(
        LATEST, BACKOFF, lists=[EXPIRED, EXPIRED, page(8)]
    ),
    "second page: 410": second_page(EXPIRED, AGAIN, AT_ONCE),
    "second page: 500": second_page(BROKEN, AGAIN, BACKOFF),
    "open: refused connection": opening(REFUSED, REWATCH, BACKOFF),
    "open: reset": opening(RESET, REWATCH, BACKOFF),
    "open: deadline": opening(LATE, REWATCH, BACKOFF),
    "open: 429": opening(THROTTLED, REWATCH, HEADER),
    "open: 410": opening(EXPIRED, RELIST, BACKOFF),
    "open: 401": opening(UNAUTHORIZED, RELIST, BACKOFF),
    "open: 403": opening(FORBIDDEN, RELIST, BACKOFF),
    "open: 404": opening(MISSING, RELIST, BACKOFF),
    "open: 500": opening(BROKEN, RELIST, BACKOFF),
}

# How an open watch ends: after some seconds and after one bookmark or none.
IN_THE_STREAM: dict[str, tuple[float, int, Step, tuple[str, str], tuple[float, float]]] = {
    "clean end": (60, 1, END, REWATCH, AT_ONCE),
    "clean end without an event": (60, 0, END, REWATCH, AT_ONCE),
    "very short watch": (0.5, 0, END, RELIST, BACKOFF),
    "very short watch, reset": (0.5, 0, RESET, RELIST, BACKOFF),
    "short watch that brought something: one a second": (0.4, 1, END, REWATCH, (0.6, 0.6)),
    "silent to its end: our version may lie in the future": (300, 0, END, RELIST, AT_ONCE),
    "reset": (60, 1, RESET, REWATCH, AT_ONCE),
    "read deadline": (300, 1, LATE, REWATCH, AT_ONCE),
    "garbage": (60, 1, GarbledStream("x"), RELIST, BACKOFF),
    "closed by somebody else": (60, 1, StreamClosed("x"), RELIST, BACKOFF),
    "410": (60, 1, error_event(410, "Expired"), RELIST, BACKOFF),
    "410 at once": (0, 0, error_event(410, "Expired"), RELIST, BACKOFF),
    "410 by its older name": (60, 1, error_event(0, "Gone"), RELIST, BACKOFF),
    "429": (60, 1, error_event(429, "TooManyRequests"), REWATCH, BACKOFF),
    "429 with a pause": (
        60,
        1,
        error_event(429, "TooManyRequests", details={"retryAfterSeconds": 3}),
        REWATCH,
        HEADER,
    ),
    "500": (60, 1, error_event(500, "InternalError"), RELIST, BACKOFF),
    "an error without metadata or code": (60, 1, error_event(0, ""), RELIST, BACKOFF),
    "an error that is no Status": (
        60,
        1,
        error_event(0, "")._replace(object={"a": None}),
        RELIST,
        BACKOFF,
    ),
}


def watching(seconds: float, signs: int, last: Step) -> tuple[Rig, ScriptedListWatch]:
    source = ScriptedListWatch([page(7), page(8)], [[*[bookmark(7)] * signs, None, last]])
    rig = Rig(source)
    rig.step(2 + signs)
    rig.clock.advance(seconds)
    return rig, source


def check(
    rig: Rig, source: ScriptedListWatch, then: tuple[str, str], wait: tuple[float, float]
) -> None:
    before = len(source.calls)
    failed = rig.clock.monotonic()
    while len(source.calls) == before:
        rig.clock.advance(rig.step())
    assert source.versions[before] == then
    assert wait[0] - 1e-6 <= source.times[before] - failed <= wait[1] + 1e-6


@pytest.mark.parametrize("name", BEFORE_WATCHING)
def test_before_watching(name: str) -> None:
    case = BEFORE_WATCHING[name]
    source = ScriptedListWatch(case.lists, case.watches)
    rig = Rig(source)
    while rig.last_error() is None:
        rig.step()
    if case.wait == BACKOFF and case.then == LATEST:
        rig.step()  # the second 410
    check(rig, source, case.then, case.wait)
    rig.settle(seconds=5)
    assert rig.last_error() is None
    assert source.verbs[-1] == "WATCH"


@pytest.mark.parametrize("name", IN_THE_STREAM)
def test_in_the_stream(name: str) -> None:
    seconds, signs, last, then, wait = IN_THE_STREAM[name]
    rig, source = watching(seconds, signs, last)
    rig.step(2)
    assert source.streams[0].closed
    check(rig, source, then, wait)
    rig.settle(seconds=5)
    assert rig.last_error() is None
    assert rig.told == []


def test_a_source_without_a_socket_is_given_up_when_it_stays_silent() -> None:
    source = ScriptedListWatch([page(7)], [[bookmark(9)]])
    rig = Rig(source)
    rig.settle()
    limit = source.calls[1][2] + 15
    rig.clock.advance(limit)
    rig.settle()
    assert source.verbs == ["LIST", "WATCH"]
    rig.clock.advance(1)
    rig.settle()
    assert source.versions == [("LIST", "0"), ("WATCH", "7"), ("WATCH", "9")]


def test_how_long_a_watch_has_been_silent_counts_from_its_opening() -> None:
    source = ScriptedListWatch([page(7)], [REFUSED] * 100)
    rig = Rig(source)
    rig.settle(seconds=1000)
    source.watches.clear()
    rig.settle(seconds=60)
    assert rig.last_error() is None
    opened = len(source.calls)
    rig.clock.advance(200)
    rig.settle()
    assert len(source.calls) == opened


def test_each_failure_waits_longer_up_to_half_a_minute_also_with_good_lists_between() -> None:
    source = ScriptedListWatch([page(n) for n in range(1, 20)], [FORBIDDEN] * 12)
    rig = Rig(source)
    rig.settle(seconds=600)
    lists = [when for when, verb in zip(source.times, source.verbs, strict=True) if verb == "LIST"]
    waits = [b - a for a, b in itertools.pairwise(lists)][:12]
    nominal = [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30, 30, 30, 30, 30]
    assert all(n <= w < 2 * n for n, w in zip(nominal, waits, strict=True))
    assert len({round(w / n, 3) for n, w in zip(nominal, waits, strict=True)}) > 6


def test_two_quiet_minutes_start_the_backoff_over() -> None:
    ends: list[Step] = [None, error_event(500, "InternalError")]
    source = ScriptedListWatch([page(n) for n in range(1, 20)], [ends] * 5)
    rig = Rig(source)
    waits = []
    for quiet in (1.0, 1.0, 119.0, 121.0, 1.0):
        rig.settle()
        rig.clock.advance(quiet)
        waits.append(rig.step())
        rig.clock.advance(waits[-1])
    assert [next(n for n in (0.8, 1.6, 3.2) if n <= w < 2 * n) for w in waits] == [
        0.8,
        1.6,
        3.2,
        0.8,
        1.6,
    ]


def test_a_pause_of_days_is_cut_to_ten_minutes() -> None:
    source = ScriptedListWatch([StatusError(429, retry_after=86400.0)])
    assert Rig(source).step() == 600.0


def test_a_step_before_its_time_does_nothing() -> None:
    source = ScriptedListWatch([THROTTLED])
    rig = Rig(source)
    assert rig.step() == 3.0
    rig.clock.advance(1.0)
    assert rig.step() == pytest.approx(2.0)
    assert len(source.calls) == 1


def test_the_error_is_shown_until_a_watch_is_open() -> None:
    source = ScriptedListWatch([MISSING, page(7, obj("a", 5))], [FORBIDDEN])
    rig = Rig(source)
    assert rig.last_error() is None
    rig.step()
    assert rig.last_error() is MISSING
    rig.clock.advance(1.6)
    rig.step()
    assert rig.last_error() is MISSING
    assert rig.informer.has_synced()
    rig.step()
    assert rig.last_error() is FORBIDDEN
    rig.settle(seconds=10)
    assert rig.last_error() is None


def test_lists_that_always_expire_in_the_middle_are_slowed_down() -> None:
    pages: list[ListPage | ApiFailure] = [page(1, token="t"), EXPIRED] * 50
    source = ScriptedListWatch(pages)
    rig = Rig(source)
    rig.settle(seconds=60)
    assert len(source.calls) < 40


def test_stop_ends_the_stream_and_all_steps() -> None:
    source = ScriptedListWatch([page(7)])
    rig = Rig(source)
    rig.settle()
    rig.informer.stop()
    assert source.streams[0].closed
    assert rig.step() == float("inf")
    assert rig.step() == float("inf")
    assert rig.reflector.state.name == "STOPPED"
    assert source.verbs == ["LIST", "WATCH"]


def test_stop_while_a_watch_is_being_opened_closes_it() -> None:
    source = ScriptedListWatch([page(7)])
    rig = Rig(source)
    rig.step()
    opened = source.watch

    def stopping(resource_version: str, timeout_seconds: int) -> object:
        rig.informer.stop()
        return opened(resource_version, timeout_seconds)

    source.watch = stopping  # type: ignore[method-assign, assignment]
    rig.step()
    rig.step()
    assert source.streams[0].closed
    assert rig.step() == float("inf")
