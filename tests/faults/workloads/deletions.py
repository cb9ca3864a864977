"""What deleting an object means."""

from collections.abc import Iterator
from typing import Any

from tests.faults.bed import FaultBed
from tests.faults.workload import workload
from tests.faults.workloads.users import foreign

USER, GROUP = "LldapUser", "LldapGroup"
SECRET: dict[str, Any] = {
    "passwordPolicy": "Manage",
    "passwordSecretRef": {"name": "pw", "key": "password"},
}


@workload(USER)
def user_deleted(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice")
    yield
    bed.delete(USER, "alice")


@workload(USER)
def user_deleted_soon_after_it_was_created(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    yield
    bed.user("alice", **SECRET)
    bed.step()
    bed.step()
    bed.delete(USER, "alice")


@workload(USER)
def user_retained(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice", deletionPolicy="Retain")
    yield
    bed.delete(USER, "alice")


@workload(USER)
def adopted_user_left(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.directory.make_user("alice")
    bed.user("alice")
    yield
    bed.delete(USER, "alice")


@workload(USER)
def user_created_again(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    bed.user("alice", **SECRET)
    yield
    bed.delete(USER, "alice")
    yield
    bed.user("alice", firstName="New", **SECRET)


@workload(USER)
def user_retained_and_created_again(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice", deletionPolicy="Retain")
    yield
    bed.delete(USER, "alice")
    yield
    bed.user("alice", deletionPolicy="Delete")
    yield
    bed.delete(USER, "alice")


@workload(USER)
def user_whose_policy_changes_late(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice", deletionPolicy="Delete")
    yield
    bed.user("alice", deletionPolicy="Retain")
    bed.delete(USER, "alice")


@workload(GROUP)
def group_deleted(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice")
    bed.group("staff")
    bed.settle()
    bed.membership("alice", "staff")
    yield
    bed.delete(GROUP, "staff")


@workload(GROUP)
def group_retained(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.group("staff", deletionPolicy="Retain")
    yield
    bed.delete(GROUP, "staff")


def one_of_each(bed: FaultBed) -> None:
    foreign(bed)
    bed.schema("room", deletionPolicy="Delete")
    bed.settle()
    bed.user("alice", deletionPolicy="Delete")
    bed.group("staff", deletionPolicy="Delete")
    bed.settle()
    bed.membership("alice", "staff", deletionPolicy="Delete")


@workload(USER, rests=False)
def crds_deleted(bed: FaultBed) -> Iterator[None]:
    """An uninstall: everything stays in lldap."""
    one_of_each(bed)
    yield
    for plural in ("lldapusers", "lldapgroups", "lldapmemberships", "lldapattributeschemas"):
        bed.admin.delete(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
            f"{plural}.lldap-operator.lukidoescode.com"
        )


@workload(USER, rests=False)
def operators_namespace_deleted(bed: FaultBed) -> Iterator[None]:
    """An uninstall as well."""
    one_of_each(bed)
    yield
    bed.admin.delete("/api/v1/namespaces/lldap-system")
    bed.delete("LldapMembership", "alice-staff")
    bed.delete(USER, "alice")
    bed.delete(GROUP, "staff")
    bed.delete("LldapAttributeSchema", "user-room")


@workload(USER)
def tenants_namespace_deleted(bed: FaultBed) -> Iterator[None]:
    """No uninstall: what its objects stood for goes with them."""
    one_of_each(bed)
    bed.user("bob", "team-b")
    yield
    bed.admin.delete("/api/v1/namespaces/team-a")
