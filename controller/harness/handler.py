"""What a kind hands to the harness."""

from typing import Protocol, TypeVar, runtime_checkable

from controller.api import DeletionPolicy
from controller.harness.outcome import Outcome
from controller.harness.resource import Resource

C_contra = TypeVar("C_contra", contravariant=True)


class Handler(Protocol[C_contra]):
    """What differs between kinds. `finalizer` is empty where deletion needs no work."""

    @property
    def finalizer(self) -> str:
        """Its name."""
        ...

    def converge(self, resource: Resource, client: C_contra) -> Outcome:
        """Make it so. Raises ReasonedError, or anything that `HarnessConfig.explain` knows."""
        ...

    def delete(self, resource: Resource, client: C_contra) -> None:
        """Undo it; what is not there is success. Raises as `converge` does."""
        ...

    def plan(self, resource: Resource, client: C_contra) -> list[str]:
        """What `converge` would do, in words; changes and calls nothing. Raises as `converge`."""
        ...


@runtime_checkable
class CleanupHandler(Protocol):
    """A handler with something to tidy on every path of a deletion, that of Retain included."""

    def cleanup(self, resource: Resource) -> None:
        """Runs before the finalizer goes; must not need the remote system.

        What it raises holds the finalizer, as a failed `delete` does. Not called in dry-run.
        """
        ...


@runtime_checkable
class DeletionPolicyProvider(Protocol):
    """A handler whose objects say what their deletion means; without it they mean Delete.

    On the handler, not on the object: an object is plain JSON here.
    """

    def deletion_policy(self, resource: Resource) -> DeletionPolicy:
        """What deleting this object means."""
        ...


@runtime_checkable
class DryRunDeletion(Protocol):
    """A handler that knows whether an object in dry-run owns something that deleting would undo.

    Without it, every object does.
    """

    def owns(self, resource: Resource) -> bool:
        """Whether there is something; calls nothing."""
        ...
