"""What the project wants to reach, and what of the results says whether it does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.results import Row

RATE, CPU, PEAK = "objects a second", "CPU ms an object", "peak MiB"


class Found:
    """The medians, for looking up."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._values = {(row.scenario, row.contestant, row.size): row.values for row in rows}
        self.sizes = sorted({row.size for row in rows if row.scenario == "new users"})

    def value(self, scenario: str, contestant: str, size: int, name: str) -> float | None:
        """One number, if it was measured."""
        return self._values.get((scenario, contestant, size), {}).get(name)

    def first(self, scenario: str, contestant: str, name: str) -> float | None:
        """One number of a scenario that was measured at one size, whatever that was."""
        at = (values for (*of, _), values in self._values.items() if of == [scenario, contestant])
        return next((values[name] for values in at if name in values), None)

    def ratio(self, scenario: str, to: str, size: int, name: str = RATE) -> float | None:
        """The operator's number by another's."""
        ours = self.value(scenario, "operator", size, name)
        other = self.value(scenario, to, size, name)
        return None if ours is None or not other else ours / other


@dataclass(frozen=True, slots=True)
class Target:
    """One row of the table: `of` gives what was measured at a size."""

    measure: str
    limit: float
    at_least: bool
    of: Callable[[Found, int], float | None]
    sizes: tuple[int, ...] = (1_000, 10_000, 50_000)

    @property
    def wanted(self) -> str:
        """The target as text."""
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}"

    def met(self, value: float) -> bool:
        """Whether that is enough."""
        return value >= self.limit if self.at_least else value <= self.limit


def _by(scenario: str, to: str) -> Callable[[Found, int], float | None]:
    return lambda found, size: found.ratio(scenario, to, size)


def _own(scenario: str, name: str) -> Callable[[Found, int], float | None]:
    return lambda found, size: found.value(scenario, "operator", size, name)


def _kilobytes_an_object(found: Found, size: int) -> float | None:
    empty = found.value("restart", "operator", 0, "RSS MiB")
    full = found.value("restart", "operator", size, "RSS MiB")
    return None if empty is None or full is None else (full - empty) * 1024 / size


def _restart_ratio(found: Found, size: int) -> float | None:
    """What the objects add to a start, by reading them alone."""
    empty = found.value("restart", "operator", 0, "seconds to idle")
    full = found.value("restart", "operator", size, "seconds to idle")
    alone = "listing and parsing alone"
    parts = [found.value("restart", alone, size, name) for name in ("API server s", "lldap s")]
    seconds = sum(part for part in parts if part is not None)
    return None if empty is None or full is None or not seconds else (full - empty) / seconds


def _change_ratio(scenario: Callable[[int], str]) -> Callable[[Found, int], float | None]:
    def of(found: Found, size: int) -> float | None:
        bare = found.first("one change, quiet", "its bare calls", "p99 ms")
        ours = found.first(scenario(size), "operator", "p99 ms")
        return None if not bare or ours is None else ours / bare

    return of


def _resync_share(found: Found, size: int) -> float | None:
    seconds = found.value("restart", "operator", size, "resync CPU s")
    return None if seconds is None else seconds / 600 * 100


def growth(found: Found, scenario: str, contestant: str, size: int, name: str) -> float | None:
    """How many times the cost of a tenth of the size it has: seconds for RATE, else CPU."""
    small = found.value(scenario, contestant, size // 10, name)
    large = found.value(scenario, contestant, size, name)
    if not small or not large:
        return None
    return 10 * (small / large if name == RATE else large / small)


def _growing(scenario: str, name: str) -> Callable[[Found, int], float | None]:
    return lambda found, size: growth(found, scenario, "operator", size, name)


GROWING = (
    "new users",
    "memberships, one group",
    "memberships, many groups",
    "mixed kinds",
    "deleted users",
)
_COSTS = {RATE: "seconds", CPU: "CPU"}


TARGETS = (
    Target("new users: ratio to bare Python threads", 0.8, True, _by("new users", "floor")),
    Target("new users: ratio to a bare Go loop", 0.7, True, _by("new users", "go floor")),
    Target("new users: ratio to the kopf operator", 1.15, True, _by("new users", "kopf")),
    Target("new users: operator CPU an object, ms", 2.5, False, _own("new users", CPU)),
    Target("new users: peak memory, MiB", 80, False, _own("new users", PEAK), (1_000,)),
    Target("new users: peak memory, MiB", 130, False, _own("new users", PEAK), (10_000,)),
    Target(
        "new users with passwords: ratio to Argon2 alone",
        0.8,
        True,
        _by("new users with passwords", "argon2 alone"),
        (200, 1_000),
    ),
    Target(
        "memberships into one group: ratio to the floor",
        0.9,
        True,
        _by("memberships, one group", "floor"),
    ),
    Target(
        "memberships into many groups: ratio to the floor",
        0.7,
        True,
        _by("memberships, many groups", "floor"),
    ),
    Target("restart: writes to the API server", 0, False, _own("restart", "API writes")),
    Target("restart: calls to lldap", 9, False, _own("restart", "lldap calls")),
    Target("restart: time by listing and parsing alone", 2, False, _restart_ratio),
    Target("memory an object, KB", 8, False, _kilobytes_an_object),
    Target(
        "one change, quiet: p99 by its bare calls",
        3,
        False,
        _change_ratio(lambda _size: "one change, quiet"),
        (1_000,),
    ),
    Target(
        "one change, under others: p99 by its bare calls",
        10,
        False,
        _change_ratio(lambda size: f"one change, under {size:,} others"),
    ),
    Target("resync: % of a core at the default period", 5, False, _resync_share),
    Target("resync: calls to lldap", 4, False, _own("restart", "resync lldap calls")),
    *(
        Target(
            f"{scenario}: {cost} of 10 times the objects by theirs",
            11,
            False,
            _growing(scenario, name),
        )
        for scenario in GROWING
        for name, cost in _COSTS.items()
    ),
)
