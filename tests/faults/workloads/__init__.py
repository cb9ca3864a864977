"""All workloads, by name. Importing a module registers what is in it."""

from tests.faults.workload import REGISTRY, Workload
from tests.faults.workloads import (
    attributes,
    claims,
    deletions,
    disasters,
    groups,
    instances,
    memberships,
    passwords,
    starts,
    users,
)

__all__ = [
    "REGISTRY",
    "Workload",
    "attributes",
    "claims",
    "deletions",
    "disasters",
    "groups",
    "instances",
    "memberships",
    "passwords",
    "starts",
    "users",
]
