"""What the reconciler of every kind offers."""

from typing import Protocol

from controller.api import DeletionPolicy
from controller.handler import Handler
from controller.instance import Instance
from controller.resource import Resource


class Reconciler(Handler[Instance], Protocol):
    """A handler of the harness that knows its deletion policy and can let go without deleting."""

    def deletion_policy(self, resource: Resource) -> DeletionPolicy:
        """See DeletionPolicyProvider."""
        ...

    def let_go(self, resource: Resource) -> None:
        """Take our mark off, if lldap answers; everything else in lldap stays."""
        ...
