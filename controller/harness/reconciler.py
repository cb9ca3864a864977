"""What the reconciler of every kind offers."""

from typing import Protocol

from controller.api import DeletionPolicy
from controller.harness.handler import Handler
from controller.harness.resource import Resource
from controller.instance import Instance


class Reconciler(Handler[Instance], Protocol):
    """A handler of the harness that knows its deletion policy and can let go without deleting."""

    def deletion_policy(self, resource: Resource) -> DeletionPolicy:
        """See DeletionPolicyProvider."""
        ...

    def let_go(self, resource: Resource) -> None:
        """Take our mark off, if lldap answers; everything else in lldap stays."""
        ...
