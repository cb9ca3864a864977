"""Drift: lldap is not as an earlier pass had brought it about."""

from dataclasses import dataclass

from controller.harness.conditions import ready_of
from controller.harness.reasons import Reason
from controller.harness.resource import Resource
from controller.harness.statuswriter import is_ready
from controller.metrics.objects import ObjectMetrics

_SEEN = frozenset({Reason.VERIFIED, Reason.PAUSED})


@dataclass(slots=True)
class Drift:
    """What one pass finds of it. One thread."""

    resource: Resource
    metrics: ObjectMetrics
    is_found: bool = False

    def differs(self) -> None:
        """Lldap is not as declared: that is drift if an earlier pass saw it as declared now."""
        if not self.is_found and self._was_verified():
            self.is_found = True
            self.metrics.drift_found(self.resource.kind)

    def repaired(self) -> None:
        """Lldap is as declared: count it if it was not."""
        if self.is_found:
            self.metrics.drift_repaired(self.resource.kind)

    def _was_verified(self) -> bool:
        """Whether an earlier pass saw lldap as the spec declares it now.

        A pause keeps what was seen before it, and for which generation.
        """
        seen = ready_of(self.resource.recorded).get("reason") in _SEEN
        return seen and is_ready(self.resource.raw)
