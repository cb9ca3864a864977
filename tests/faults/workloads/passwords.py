"""LldapUser's password under the three policies."""

from collections.abc import Iterator
from typing import Any

from tests.faults.bed import FaultBed
from tests.faults.workload import workload
from tests.faults.workloads.users import KIND, foreign

REFERENCE = {"name": "pw", "key": "password"}


def _user(bed: FaultBed, policy: str, **spec: Any) -> None:
    bed.user("alice", passwordPolicy=policy, passwordSecretRef=REFERENCE, **spec)


def _own_password(bed: FaultBed) -> None:
    """As its owner does, in lldap's own page."""
    bed.lldap.set_password("alice", "alice's own password")


@workload(KIND)
def password_managed(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    yield
    _user(bed, "Manage")


@workload(KIND, whole_seconds=True)
def password_managed_where_dates_are_whole_seconds(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    yield
    _user(bed, "Manage")
    yield
    bed.secret("pw", b"second-password")


@workload(KIND)
def password_before_its_secret(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    yield
    _user(bed, "Manage")
    yield
    bed.secret("pw", b"first-password")


@workload(KIND)
def password_rotated(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    _user(bed, "Manage")
    yield
    bed.secret("pw", b"second-password")


@workload(KIND)
def secret_deleted_and_made_again(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    _user(bed, "Manage")
    yield
    bed.admin.delete("/api/v1/namespaces/team-a/secrets/pw")
    yield
    bed.secret("pw", b"second-password")


@workload(KIND)
def managed_password_changed_by_its_user(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    _user(bed, "Manage")
    yield
    _own_password(bed)


@workload(KIND)
def initial_password(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    yield
    _user(bed, "InitialOnly")


@workload(KIND, whole_seconds=True)
def initial_password_where_dates_are_whole_seconds(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    yield
    _user(bed, "InitialOnly")


@workload(KIND)
def initial_password_changed_by_its_user(bed: FaultBed) -> Iterator[None]:
    """Neither the person's own choice nor another Secret is undone or followed."""
    foreign(bed)
    bed.secret("pw", b"first-password")
    _user(bed, "InitialOnly")
    yield
    _own_password(bed)
    bed.secret("pw", b"second-password")
    yield
    _user(bed, "InitialOnly", lastName="L")


@workload(KIND)
def initial_password_of_an_adopted_account(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.directory.make_user("alice")
    bed.secret("pw", b"first-password")
    yield
    _user(bed, "InitialOnly")


@workload(KIND)
def password_ignored(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    yield
    _user(bed, "Ignore")


@workload(KIND)
def policies_one_after_the_other(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    _user(bed, "Manage")
    yield
    _user(bed, "Ignore")
    yield
    bed.secret("pw", b"second-password")
    _user(bed, "InitialOnly")
    yield
    _user(bed, "Manage")


@workload(KIND)
def password_refused_and_corrected(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"\xff\xfe")
    yield
    _user(bed, "Manage")
    yield
    bed.secret("pw", b"first-password")
