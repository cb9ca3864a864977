"""One pass over one LldapGroup: what was read of it, and what came of it so far."""

from dataclasses import dataclass

from controller.api import GroupSpec
from controller.harness.resource import Resource
from controller.reconcilers.attributes import Wanted
from controller.reconcilers.drift import Drift
from controller.reconcilers.groupchange import NAME
from lldap.names import group_key


@dataclass(slots=True)
class GroupPass:
    """One thread. `created`: this pass made the group."""

    resource: Resource
    spec: GroupSpec
    wanted: Wanted
    drift: Drift
    created: bool = False

    @property
    def name(self) -> str:
        """The declared displayName."""
        return self.spec.display_name

    @property
    def claim(self) -> str:
        """The name as lldap compares it."""
        return group_key(self.name)

    @property
    def managed(self) -> frozenset[str]:
        """What this object has applied, or begun to."""
        return frozenset(self.resource.status.get("managed") or ())

    @property
    def declared(self) -> frozenset[str]:
        """What the object owns once this is applied; what waits for its schema stays ours."""
        waiting = self.managed & frozenset(self.wanted.missing)
        return frozenset({NAME}) | self.wanted.names | waiting
