"""Several operators side by side: on one API server, on one lldap, or on both."""

from typing import Any

from tests.support.bed import Bed


class BesideBed(Bed):
    """A second operator beside one that has a bed already.

    It shares the clock, and what is not another's: the API server unless `lldap_only`, the lldap
    unless `api_only`. `caller` is its name in lldap's log.
    """

    def __init__(
        self,
        first: Bed,
        caller: str,
        *,
        api: Bed | None = None,
        lldap: Bed | None = None,
        options: dict[str, Any] | None = None,
        **rules: Any,
    ) -> None:
        """`api`, `lldap`: whose to use instead of the first one's."""
        servers, directory = api or first, lldap or first
        self.caller = caller
        self.clock, self.random, self.stretch = first.clock, first.random, first.stretch
        self.api, self.admin = servers.api, servers.admin
        self.lldap = directory.lldap
        self._rules = rules
        self.start(**(options or {}))


def another_lldap() -> Bed:
    """A bed whose lldap was installed at another time: its uuids are its own."""
    bed = Bed(seed=2)
    bed.clock.advance(77)
    bed.lldap.reinstall()
    bed.start()
    return bed


def settle(*beds: Bed) -> None:
    """Let all of them work until nothing is left to do now; time does not move."""
    quiet = 0
    for _ in range(2000):
        busy = [bed.step() for bed in beds]  # each of them has its turn
        quiet = 0 if any(busy) else quiet + 1
        if quiet > 2:
            return
    raise AssertionError("the operators do not come to rest")


def run(seconds: float, *beds: Bed, step: float = 5.0) -> None:
    """Let time pass, all of them working as it does. They share one clock."""
    settle(*beds)
    passed = 0.0
    while passed < seconds:
        beds[0].clock.advance(step)
        passed += step
        settle(*beds)
