"""LldapUser: create, update, drift, attributes, annotations."""

from collections.abc import Iterator

from tests.faults.bed import FaultBed
from tests.faults.workload import workload

KIND = "LldapUser"


def foreign(bed: FaultBed) -> None:
    """People and groups made by hand, whom no object of this run may touch."""
    bed.directory.make_user("ceo")
    bed.directory.make_group("board", "ceo")
    bed.safety.guard("ceo", "admin")


@workload(KIND)
def user_created(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    yield
    bed.user("alice", displayName="Alice", firstName="Al")


@workload(KIND)
def first_user_of_a_new_lldap(bed: FaultBed) -> Iterator[None]:
    """The mark's attributes are made on the way."""
    yield
    bed.user("alice", lastName="Liddell")


@workload(KIND)
def user_with_attributes_created(bed: FaultBed) -> Iterator[None]:
    """The user comes before its schema."""
    foreign(bed)
    yield
    bed.user("alice", attributes=[{"name": "room", "value": ["12"]}])
    yield
    bed.schema("room")


@workload(KIND)
def user_updated(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.schema("room")
    bed.schema("phone")
    bed.settle()
    bed.user("alice", displayName="Alice", attributes=[{"name": "room", "value": ["12"]}])
    yield
    attributes = [{"name": "phone", "value": ["1"]}]
    bed.user("alice", email="new@example.org", lastName="L", attributes=attributes)
    yield
    bed.user("alice", email="newer@example.org")


@workload(KIND)
def user_changed_behind_the_operator(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.schema("room")
    bed.settle()
    bed.user("alice", firstName="Al", attributes=[{"name": "room", "value": ["12"]}])
    yield
    bed.directory.set_attribute("alice", "room", "13")
    yield
    bed.directory.set_attribute("alice", "first_name", "X")


@workload(KIND)
def user_deleted_in_lldap(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.group("staff")
    bed.user("alice")
    bed.settle()
    bed.membership("alice", "staff")
    yield
    bed.directory.delete_user("alice")


@workload(KIND)
def mark_removed_by_its_user(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice")
    yield
    bed.directory.set_mark("alice", None)


@workload(KIND)
def email_conflict_resolved(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice", email="team@example.org")
    yield
    bed.user("bob", email="Team@example.org")
    yield
    bed.user("bob", email="bob@example.org")


@workload(KIND)
def dry_run_ended(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice", annotations={"lldap-operator.lukidoescode.com/dry-run": "true"})
    yield
    bed.user("alice", annotations={"lldap-operator.lukidoescode.com/dry-run": "false"})


@workload(KIND)
def paused_and_resumed(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice")
    bed.settle()
    bed.user("alice", annotations={"lldap-operator.lukidoescode.com/paused": "true"})
    yield
    bed.user("alice", lastName="L", annotations={"lldap-operator.lukidoescode.com/paused": "true"})
    yield
    bed.user("alice", lastName="L", annotations={})


@workload(KIND)
def full_pass_asked(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    bed.user(
        "alice",
        passwordPolicy="Manage",
        passwordSecretRef={"name": "pw", "key": "password"},
    )
    bed.group("staff")
    bed.settle()
    bed.membership("alice", "staff")
    yield
    path = bed.path("LldapUser", "team-a", "alice")
    for each in (path, bed.path("LldapMembership", "team-a", "alice-staff")):
        annotations = {"lldap-operator.lukidoescode.com/reconcile-at": "now"}
        bed.admin.patch(
            each,
            {"metadata": {"annotations": annotations}},
            content_type="application/merge-patch+json",
        )


@workload(KIND)
def spec_refused_by_lldap_and_corrected(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.schema("floor", kind="Integer")
    bed.settle()
    bed.user("alice")
    yield
    bed.user("alice", attributes=[{"name": "floor", "value": ["many"]}])
    yield
    bed.user("alice", attributes=[{"name": "floor", "value": ["3"]}])


@workload(KIND)
def values_declared_and_dropped(bed: FaultBed) -> Iterator[None]:
    """What the object set and names no more goes; what somebody else set stays."""
    foreign(bed)
    bed.schema("room")
    bed.schema("phone")
    bed.settle()
    bed.user("alice")
    yield
    bed.user("alice", firstName="Al", attributes=[{"name": "room", "value": ["12"]}])
    bed.step()
    bed.directory.set_attribute("alice", "phone", "1")
    bed.user("alice")
