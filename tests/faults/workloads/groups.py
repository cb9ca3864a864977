"""LldapGroup: create, update, rename, built-in."""

from collections.abc import Iterator

from controller.api import API_VERSION
from tests.faults.bed import FaultBed
from tests.faults.workload import workload
from tests.faults.workloads.users import foreign

KIND = "LldapGroup"


def _named(bed: FaultBed, name: str, **spec: object) -> None:
    """The object `team` with another displayName."""
    bed.apply(KIND, "team", {"displayName": name, **spec})


@workload(KIND)
def group_created(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    yield
    bed.group("Staff")


@workload(KIND)
def group_with_attributes_updated(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.schema("floor", target="Group")
    bed.schema("size", target="Group", kind="Integer")
    bed.settle()
    bed.group("staff", attributes=[{"name": "floor", "value": ["1"]}])
    yield
    bed.group("staff", attributes=[{"name": "size", "value": ["007"]}])
    yield
    bed.group("staff")


@workload(KIND)
def group_renamed(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    _named(bed, "staff")
    bed.user("alice")
    bed.settle()
    bed.membership("alice", "staff")
    yield
    _named(bed, "people")


@workload(KIND)
def group_renamed_to_a_taken_name(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    _named(bed, "staff")
    bed.group("people")
    yield
    _named(bed, "People")
    yield
    bed.delete(KIND, "people")


@workload(KIND)
def two_groups_change_names(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    _named(bed, "staff")
    bed.group("people")
    yield
    bed.apply(KIND, "people", {"displayName": "staff"})
    yield
    _named(bed, "people")
    yield
    bed.apply(KIND, "people", {"displayName": "crowd"})


@workload(KIND)
def group_renamed_in_lldap(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    _named(bed, "staff")
    yield
    with bed.lldap.database() as store:
        key = store.state.groups.keys["staff"]
        store.update(
            store.state.groups, key, columns={"display_name": "stuff"}, remove=[], insert={}
        )


@workload(KIND)
def group_deleted_in_lldap(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice")
    _named(bed, "staff")
    bed.settle()
    bed.membership("alice", "staff")
    yield
    bed.directory.delete_group("staff")


@workload(KIND)
def built_in_group_edited_and_deleted(bed: FaultBed) -> Iterator[None]:
    yield
    path = bed.path(KIND, "lldap-system", "default--lldap-admin")
    change = {"spec": {"displayName": "mine"}}
    bed.admin.patch(path, change, content_type="application/merge-patch+json")
    yield
    bed.admin.delete(path)


@workload(KIND)
def object_of_a_built_in_group(bed: FaultBed) -> Iterator[None]:
    """Refused, and gone without a trace."""
    foreign(bed)
    yield
    bed.group("lldap_admin")
    yield
    bed.delete(KIND, "lldap-admin")


@workload(KIND)
def group_created_again(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.group("staff")
    yield
    bed.delete(KIND, "staff")
    yield
    bed.group("staff")


@workload(KIND)
def group_generated(bed: FaultBed) -> Iterator[None]:
    """Made with a field that is null: the same as without."""
    foreign(bed)
    yield
    bed.admin.post(
        bed.path(KIND, "team-a"),
        {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": {
                "name": "staff",
                "labels": {"lldap-operator.lukidoescode.com/lldap-instance": "default"},
            },
            "spec": {"displayName": "staff", "attributes": None},
        },
    )
