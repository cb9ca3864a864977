"""Every plan with one fault: each workload, each point, each thing that can go wrong there."""

from collections.abc import Iterator
from itertools import product

from tests.faults.plan import Fault, Plan
from tests.faults.points import WRITES, Category, Point
from tests.faults.run import Outcome, undisturbed

GROUPS = ("crash", "ambiguous", "late", "stale", "event")
"""G1, G2 (two of them), G3 and G4 of the goals."""

_UNKNOWN = ("refuse", "lose-request", "lose-answer", "timeout", "timeout-done")
_UNREAD = ("refuse", "lose-answer", "timeout")  # whether a read was carried out says nothing
_BODIES = ("half", "null", "empty")

LLDAP_WRITE = (
    *_UNKNOWN,
    "twice",
    "twice-first",
    *_BODIES,
    *("500", "500-done", "502", "502-done", "html", "html-done", "401", "401-done", "404-done"),
    *("locked", "deadlock"),
)
LLDAP_READ = (*_UNREAD, *_BODIES, "500", "502", "html", "401", "404")

_STATUSES = ("status-500", "status-429", "status-503", "status-403", "status-409")
API_WRITE = (
    *_UNKNOWN,
    "twice",
    "twice-first",
    *_BODIES,
    *("502", "502-done", "html", "html-done", "401", "404", "404-done"),
    *_STATUSES,
    "status-500-done",
)
API_READ = (*_UNREAD, *_BODIES, "502", "html", "401", "404", *_STATUSES)
LIST = (*_UNREAD, *_BODIES, "502", "html", "401", "404", "status-410", *_STATUSES)
WATCH = ("refuse", "timeout", "502", "html", "401", "404", "status-410", *_STATUSES)
EVENT = ("drop", "cut", "twice", "garble", "expired")

DEEDS = {
    Category.LLDAP_WRITE: LLDAP_WRITE,
    Category.LLDAP_READ: LLDAP_READ,
    Category.API_WRITE: API_WRITE,
    Category.API_READ: API_READ,
    Category.LIST: LIST,
    Category.WATCH: WATCH,
}

LANDING_SECONDS = (2.0, 40.0, 400.0)  # after the operator has looked, tried again, resynced
HELD_SECONDS = (10.0, 100.0)
PASTS = ((0.0, 1), (0.0, 3), (25.0, 1))
"""How long watches lag behind, and how many changes ago lists are from, if that is let happen."""

LISTED_AGAIN_BY = "a-team-comes-and-goes"


def plans(workload: str, group: str) -> Iterator[Plan]:
    """All plans of one group for one workload."""
    outcome = undisturbed(workload)
    for faults in _MAKERS[group](outcome):
        yield Plan(workload, faults)


def _points(outcome: Outcome) -> list[Point]:
    """Those until the end was reached, and of what follows one of each label.

    Lists and watches that come again when all is done are left to one workload: they know nothing
    of what was done before.
    """
    before, after = outcome.points[: outcome.reached], outcome.points[outcome.reached :]
    if outcome.plan.workload != LISTED_AGAIN_BY:
        after = [p for p in after if p.category not in {Category.WATCH, Category.LIST}]
    seen = {point.label for point in before}
    first_of_each = {point.label: point for point in reversed(after) if point.label not in seen}
    return [*before, *first_of_each.values()]


def _crashes(outcome: Outcome) -> Iterator[tuple[Fault, ...]]:
    """G1: the operator dies before and after every call."""
    for point in _points(outcome):
        yield (Fault(point.address, "crash-before"),)
        if point.category is not Category.EVENT:
            yield (Fault(point.address, "crash-after"),)


def _ambiguous(outcome: Outcome) -> Iterator[tuple[Fault, ...]]:
    """G2: every call is lost, doubled or answered with something else."""
    for point in _points(outcome):
        for deed in DEEDS.get(point.category, ()):
            yield (Fault(point.address, deed),)


def _late(outcome: Outcome) -> Iterator[tuple[Fault, ...]]:
    """G2: every write takes effect when its sender has given it up, or is no more."""
    for point, seconds in product(_points(outcome), LANDING_SECONDS):
        if point.category in WRITES:
            yield (Fault(point.address, "late", seconds=seconds),)
            yield (Fault(point.address, "crash-late", seconds=seconds),)


def _stale(outcome: Outcome) -> Iterator[tuple[Fault, ...]]:
    """G3: the operator dies, and the next one is shown an older state of one kind, or of all."""
    kinds = _changed(outcome)
    deaths = [p for p in _points(outcome) if p.category in WRITES]
    for point, (seconds, back) in product(deaths, PASTS):
        death = Fault(point.address, "crash-after")
        old = [
            Fault(f"api LIST {what}#1", "stale", seconds, min(back, changes))
            for what, changes in kinds.items()
        ]
        yield from ((death, each) for each in old)
        if len(old) > 1:
            yield (death, *old)


def _changed(outcome: Outcome) -> dict[str, int]:
    """How many events there are of each resource."""
    found: dict[str, int] = {}
    for point in outcome.points:
        if point.category is Category.EVENT:
            what = point.label.split(" ")[1]
            found[what] = found.get(what, 0) + 1
    return found


def _events(outcome: Outcome) -> Iterator[tuple[Fault, ...]]:
    """G4: each event of a watch is dropped, held back, doubled or broken."""
    for point in _points(outcome):
        if point.category is Category.EVENT:
            for deed in EVENT:
                yield (Fault(point.address, deed),)
            for seconds in HELD_SECONDS:
                yield (Fault(point.address, "hold", seconds=seconds),)


_MAKERS = {
    "crash": _crashes,
    "ambiguous": _ambiguous,
    "late": _late,
    "stale": _stale,
    "event": _events,
}
