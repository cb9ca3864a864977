"""The operator starts on what is there already: each of its first calls is a point."""

from collections.abc import Iterator

from tests.faults.bed import FaultBed
from tests.faults.workload import workload
from tests.faults.workloads.deletions import one_of_each
from tests.faults.workloads.users import foreign

USER = "LldapUser"


@workload(USER)
def operator_started(bed: FaultBed) -> Iterator[None]:
    """With nothing to do."""
    one_of_each(bed)
    yield
    bed.start()


@workload(USER)
def operator_started_late(bed: FaultBed) -> Iterator[None]:
    """With something of everything to do."""
    one_of_each(bed)
    bed.secret("pw", b"first-password")
    bed.user("bob", passwordPolicy="Manage", passwordSecretRef={"name": "pw", "key": "password"})
    bed.user("carol")
    yield
    bed.directory.delete_user("alice")
    bed.secret("pw", b"second-password")
    bed.delete(USER, "carol")
    bed.group("people")
    bed.start()


@workload(USER)
def operator_started_on_an_empty_lldap(bed: FaultBed) -> Iterator[None]:
    """As after an installation."""
    foreign(bed)
    bed.user("alice")
    bed.user("bob", displayName="Bob")
    yield
    bed.start()
