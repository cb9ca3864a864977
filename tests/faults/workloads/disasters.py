"""What happens to lldap as a whole: restored, installed anew, upgraded; the operator demoted."""

from collections.abc import Iterator

from tests.faults.bed import FaultBed
from tests.faults.workload import workload

USER = "LldapUser"


def _people(bed: FaultBed) -> None:
    bed.secret("pw", b"first-password")
    bed.user("alice", passwordPolicy="Manage", passwordSecretRef={"name": "pw", "key": "password"})
    bed.group("staff")
    bed.settle()
    bed.membership("alice", "staff")
    bed.settle()


@workload(USER)
def lldap_restored_to_an_older_state(bed: FaultBed) -> Iterator[None]:
    """What was made, changed and deleted since comes again."""
    _people(bed)
    bed.user("gone")
    bed.settle()
    before = bed.lldap.snapshot()
    bed.secret("pw", b"second-password")
    bed.user("bob")
    bed.delete(USER, "gone")
    yield
    bed.lldap.restore(before)


@workload(USER)
def lldap_installed_anew(bed: FaultBed) -> Iterator[None]:
    """An empty database, another uuid of the server."""
    _people(bed)
    yield
    bed.lldap.reinstall()


@workload(USER)
def lldap_upgraded(bed: FaultBed) -> Iterator[None]:
    """It speaks another version of OPAQUE from now on."""
    _people(bed)
    yield
    bed.lldap.upgrade()
    bed.secret("pw", b"second-password")


@workload(USER)
def operator_demoted_and_promoted(bed: FaultBed) -> Iterator[None]:
    """Without its rights it changes nothing, and says so; with them it goes on."""
    _people(bed)
    yield
    bed.directory.remove("admin", "lldap_admin")
    bed.user("bob")
    bed.user("alice", lastName="L", passwordPolicy="Ignore")
    yield
    bed.directory.add("admin", "lldap_admin")
