"""What this package counts; whoever exports metrics implements `Metrics`."""

from typing import Protocol


class Metrics(Protocol):
    """Any thread. Never called with a lock held; must not block or raise."""

    def observe_call(self, operation: str, outcome: str, seconds: float) -> None:
        """One call: GraphQL field or path; "ok" or the name of the error; how long it took."""

    def observe_login(self, outcome: str) -> None:
        """One login: "ok" or the name of the error."""


class NoMetrics:
    """Counts nothing."""

    def observe_call(self, operation: str, outcome: str, seconds: float) -> None:
        """Do nothing."""

    def observe_login(self, outcome: str) -> None:
        """Do nothing."""


NOOP = NoMetrics()
