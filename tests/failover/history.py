"""What the servers saw: who held the Lease since when, and who wrote when."""

from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple


class Holder(NamedTuple):
    """A write of the Lease that the API server took; nobody holds it with "" from then on."""

    at: float
    replica: str


class Write(NamedTuple):
    """A request that changes something, when its first byte was there."""

    at: float
    replica: str
    what: str


def terms(holders: list[Holder]) -> list[Holder]:
    """The changes of holder among all writes of the Lease, in order."""
    found: list[Holder] = []
    for each in sorted(holders):
        if not found or found[-1].replica != each.replica:
            found.append(each)
    return found


def violations(holders: list[Holder], writes: list[Write]) -> list[str]:
    """Writes that began while the Lease was another's, or nobody's."""
    changes = terms(holders)
    moments = [each.at for each in changes]
    found = []
    for write in writes:
        place = bisect_right(moments, write.at)
        holder = changes[place - 1].replica if place else ""
        if holder != write.replica:
            since = write.at - changes[place - 1].at if place else 0.0
            whose = holder or "nobody"
            found.append(f"{write.replica} {write.what}, {since:.3f} s into the term of {whose}")
    return found


def idle_leaders(holders: list[Holder], writes: list[Write]) -> list[str]:
    """The holders of terms that have ended and in which they wrote nothing."""
    changes = terms(holders)
    idle = []
    for begun, ended in pairwise(changes):
        own = [w for w in writes if w.replica == begun.replica and begun.at <= w.at < ended.at]
        if begun.replica and not own:
            idle.append(begun.replica)
    return idle
