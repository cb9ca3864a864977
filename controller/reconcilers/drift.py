"""Drift: lldap is not as an earlier pass had brought it about."""

from dataclasses import dataclass

from controller.api import READY
from controller.harness.conditions import find
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
        if not self.is_found and was_verified(self.resource):
            self.is_found = True
            self.metrics.drift_found(self.resource.kind)

    def repaired(self) -> None:
        """Lldap is as declared: count it if it was not."""
        if self.is_found:
            self.metrics.drift_repaired(self.resource.kind)


def was_verified(resource: Resource) -> bool:
    """Whether an earlier pass saw lldap as the spec declares it now.

    A pause keeps what was seen before it, and for which generation.
    """
    ready = find(resource.recorded, READY) or {}
    return is_ready(resource.raw) and ready.get("reason") in _SEEN
