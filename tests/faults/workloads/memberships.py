"""LldapMembership: create, delete, other ends, hand-over."""

from collections.abc import Iterator

from tests.faults.bed import FaultBed
from tests.faults.workload import workload
from tests.faults.workloads.users import foreign

KIND = "LldapMembership"


def _ends(bed: FaultBed) -> None:
    foreign(bed)
    bed.user("alice")
    bed.group("staff")
    bed.settle()


@workload(KIND)
def membership_created(bed: FaultBed) -> Iterator[None]:
    _ends(bed)
    yield
    bed.membership("alice", "staff")


@workload(KIND)
def membership_before_its_ends(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    yield
    bed.membership("alice", "staff")
    yield
    bed.group("staff")
    yield
    bed.user("alice")


@workload(KIND)
def membership_deleted(bed: FaultBed) -> Iterator[None]:
    _ends(bed)
    bed.membership("alice", "staff")
    yield
    bed.delete(KIND, "alice-staff")


@workload(KIND)
def membership_retained(bed: FaultBed) -> Iterator[None]:
    _ends(bed)
    bed.membership("alice", "staff", deletionPolicy="Retain")
    yield
    bed.delete(KIND, "alice-staff")


@workload(KIND)
def membership_created_again(bed: FaultBed) -> Iterator[None]:
    _ends(bed)
    bed.membership("alice", "staff")
    yield
    bed.delete(KIND, "alice-staff")
    yield
    bed.membership("alice", "staff")


@workload(KIND)
def membership_removed_in_lldap(bed: FaultBed) -> Iterator[None]:
    _ends(bed)
    bed.membership("alice", "staff")
    yield
    bed.directory.remove("alice", "staff")


@workload(KIND)
def membership_follows_a_renamed_group(bed: FaultBed) -> Iterator[None]:
    """First the new memberships, then the old ones are deleted."""
    _ends(bed)
    bed.membership("alice", "staff")
    yield
    bed.apply("LldapGroup", "staff", {"displayName": "people"})
    yield
    bed.membership("alice", "people")
    yield
    bed.delete(KIND, "alice-staff")


@workload(KIND)
def membership_means_another_group(bed: FaultBed) -> Iterator[None]:
    """Its group's name goes to another group: the old edge goes, the new one comes."""
    _ends(bed)
    bed.membership("alice", "staff")
    yield
    bed.apply("LldapGroup", "staff", {"displayName": "people"})
    yield
    bed.apply("LldapGroup", "second", {"displayName": "staff"})


@workload(KIND)
def membership_of_a_group_that_gives_its_name_away(bed: FaultBed) -> Iterator[None]:
    """All at once: the group is renamed, a new one has its name, and who is in both is said."""
    _ends(bed)
    bed.membership("alice", "staff")
    yield
    bed.apply("LldapGroup", "staff", {"displayName": "people"})
    bed.membership("alice", "people")
    bed.apply("LldapGroup", "second", {"displayName": "staff"})


@workload(KIND)
def membership_handed_over(bed: FaultBed) -> Iterator[None]:
    _ends(bed)
    bed.membership("alice", "staff")
    bed.settle()
    bed.membership("alice", "staff", name="heir")
    yield
    bed.delete(KIND, "alice-staff")


@workload(KIND)
def members_of_a_deleted_user(bed: FaultBed) -> Iterator[None]:
    _ends(bed)
    bed.membership("alice", "staff")
    yield
    bed.delete("LldapUser", "alice")
    yield
    bed.user("alice")


@workload(KIND)
def members_of_a_deleted_group(bed: FaultBed) -> Iterator[None]:
    _ends(bed)
    bed.membership("alice", "staff")
    yield
    bed.delete("LldapGroup", "staff")
    yield
    bed.group("staff")
    yield
    bed.delete(KIND, "alice-staff")


@workload(KIND)
def membership_of_a_built_in_group(bed: FaultBed) -> Iterator[None]:
    bed.user("alice", "lldap-system")
    yield
    bed.membership("alice", "lldap_password_manager", "lldap-system")
    yield
    bed.delete(KIND, "alice-lldap-password-manager", "lldap-system")


@workload(KIND)
def membership_of_a_built_in_group_from_a_tenant(bed: FaultBed) -> Iterator[None]:
    _ends(bed)
    yield
    bed.membership("alice", "lldap_admin")
    yield
    bed.delete(KIND, "alice-lldap-admin")


@workload(KIND)
def a_team_comes_and_goes(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.schema("room")
    yield
    bed.group("staff")
    for name in ("alice", "bob"):
        bed.user(name, attributes=[{"name": "room", "value": ["12"]}])
        bed.membership(name, "staff")
    yield
    for name in ("alice", "bob"):
        bed.delete(KIND, f"{name}-staff")
        bed.delete("LldapUser", name)
    bed.delete("LldapGroup", "staff")
