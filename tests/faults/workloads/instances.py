"""Objects that come from, or go to, the operator of another instance."""

from collections.abc import Iterator
from typing import Any

from controller.api import INSTANCE_LABEL
from tests.faults.bed import FaultBed
from tests.faults.workload import workload
from tests.faults.workloads.users import foreign

USER, GROUP = "LldapUser", "LldapGroup"
SECRET: dict[str, Any] = {
    "passwordPolicy": "Manage",
    "passwordSecretRef": {"name": "pw", "key": "password"},
}


def _relabel(bed: FaultBed, kind: str, name: str, instance: str | None) -> None:
    change = {"metadata": {"labels": {INSTANCE_LABEL: instance}}}
    path = bed.path(kind, "team-a", name)
    bed.admin.patch(path, change, content_type="application/merge-patch+json")


@workload(USER)
def user_goes_to_another_instance(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    bed.user("alice", **SECRET)
    yield
    _relabel(bed, USER, "alice", "beside")


@workload(USER)
def user_goes_and_comes_back(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice")
    yield
    _relabel(bed, USER, "alice", "beside")
    yield
    _relabel(bed, USER, "alice", "default")


@workload(GROUP)
def group_goes_to_another_instance(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice")
    bed.group("staff")
    bed.settle()
    bed.membership("alice", "staff")
    yield
    _relabel(bed, "LldapMembership", "alice-staff", None)
    _relabel(bed, GROUP, "staff", "beside")


@workload("LldapAttributeSchema")
def attribute_goes_to_another_instance(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.schema("room", deletionPolicy="Delete")
    yield
    _relabel(bed, "LldapAttributeSchema", "user-room", "beside")


@workload(USER)
def user_held_by_another_instance(bed: FaultBed) -> Iterator[None]:
    """Its operator has not let go of it; at last somebody clears what it recorded."""
    foreign(bed)
    bed.user("alice", labels={INSTANCE_LABEL: "beside"})
    bed.settle()
    bed.forge(USER, "alice", {"instance": "beside"})
    yield
    _relabel(bed, USER, "alice", "default")
    yield
    bed.forge(USER, "alice", {"instance": None})


@workload(USER)
def held_user_deleted(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice", labels={INSTANCE_LABEL: "beside"})
    bed.settle()
    bed.forge(USER, "alice", {"instance": "beside"})
    yield
    _relabel(bed, USER, "alice", "default")
    yield
    bed.delete(USER, "alice")
