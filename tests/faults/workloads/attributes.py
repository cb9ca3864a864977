"""LldapAttributeSchema."""

from collections.abc import Iterator

from tests.faults.bed import FaultBed
from tests.faults.workload import workload
from tests.faults.workloads.users import foreign

KIND = "LldapAttributeSchema"


@workload(KIND)
def attribute_created(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    yield
    bed.schema("costCenter", isList=True, isVisible=True)


@workload(KIND)
def attribute_of_both_targets(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    yield
    bed.schema("room")
    bed.schema("room", target="Group")


@workload(KIND)
def attribute_of_another_shape(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.directory.make_attribute("room")
    yield
    bed.schema("room", kind="Integer")
    yield
    bed.delete(KIND, "user-room")
    yield
    bed.schema("room", isVisible=True)


@workload(KIND)
def attribute_retained(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.schema("room")
    yield
    bed.delete(KIND, "user-room")


@workload(KIND)
def attribute_deleted(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.schema("room", deletionPolicy="Delete")
    yield
    bed.delete(KIND, "user-room")


@workload(KIND)
def attribute_deleted_while_used(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.schema("room", deletionPolicy="Delete")
    bed.settle()
    bed.user("alice", attributes=[{"name": "room", "value": ["12"]}])
    yield
    bed.delete(KIND, "user-room")
    yield
    bed.user("alice")


@workload(KIND)
def attribute_deleted_with_a_value_by_hand(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.schema("room", deletionPolicy="Delete")
    bed.user("alice")
    bed.settle()
    bed.directory.set_attribute("alice", "room", "12")
    yield
    bed.delete(KIND, "user-room")
    yield
    with bed.lldap.database() as store:
        store.update(store.state.users, "alice", columns={}, remove=["room"], insert={})


@workload(KIND)
def attribute_handed_over(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.schema("room", deletionPolicy="Delete")
    bed.settle()
    spec = {"attributeName": "room", "attributeType": "String", "target": "User"}
    bed.apply(KIND, "heir", spec, "team-b")
    yield
    bed.delete(KIND, "user-room")


@workload(KIND)
def attribute_deleted_in_lldap(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.schema("room")
    bed.settle()
    bed.user("alice", attributes=[{"name": "room", "value": ["12"]}])
    yield
    with bed.lldap.database() as store:
        users = store.state.users
        del users.stored["room"]
        for row in users.rows.values():
            row.attributes.pop("room", None)
