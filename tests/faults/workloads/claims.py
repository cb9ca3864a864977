"""Conflict, hand-over and adoption of users and groups."""

from collections.abc import Iterator

from controller.configuration.values import Adoption
from tests.faults.bed import FaultBed
from tests.faults.workload import workload
from tests.faults.workloads.users import foreign

USER, GROUP = "LldapUser", "LldapGroup"
REFERENCE = {"name": "pw", "key": "password"}


def _two(bed: FaultBed, namespace: str, policy: str | None = None) -> None:
    """Two objects that claim alice; the second one in `namespace`."""
    foreign(bed)
    first = {} if policy is None else {"deletionPolicy": policy}
    bed.user("alice", **first)
    bed.group("staff")
    bed.settle()
    bed.membership("alice", "staff")
    bed.settle()
    bed.user("alice", namespace, object="second", email="second@example.org")


@workload(USER)
def user_conflict(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice")
    yield
    bed.user("Alice", "team-b", object="second", email="second@example.org")
    yield
    bed.delete(USER, "second", "team-b")


@workload(USER)
def user_handed_over(bed: FaultBed) -> Iterator[None]:
    _two(bed, "team-a")
    yield
    bed.delete(USER, "alice")


@workload(USER)
def user_handed_over_with_its_password(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.secret("pw", b"first-password")
    policy = "Manage"
    bed.user("alice", passwordPolicy=policy, passwordSecretRef=REFERENCE)
    bed.settle()
    bed.user("alice", object="second", passwordPolicy=policy, passwordSecretRef=REFERENCE)
    yield
    bed.delete(USER, "alice")


@workload(USER)
def user_deleted_and_made_by_another_namespace(bed: FaultBed) -> Iterator[None]:
    _two(bed, "team-b", "Delete")
    yield
    bed.delete(USER, "alice")


@workload(USER)
def user_retained_and_adopted_by_another_namespace(bed: FaultBed) -> Iterator[None]:
    _two(bed, "team-b", "Retain")
    yield
    bed.delete(USER, "alice")


@workload(USER)
def user_adopted(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.directory.make_user("alice", "board", last_name="By hand")
    yield
    bed.user("alice", firstName="Al")


@workload(USER)
def user_adopted_with_a_managed_password(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.directory.make_user("alice")
    bed.secret("pw", b"first-password")
    yield
    bed.user("alice", passwordPolicy="Manage", passwordSecretRef=REFERENCE)


@workload(USER, adoption=Adoption.NEVER)
def user_not_adopted_then_invited(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.directory.make_user("alice")
    yield
    bed.user("alice", firstName="Al")
    yield
    bed.directory.set_mark("alice", "invite default team-a/alice")
    bed.annotate(USER, "alice", **{"lldap-operator.lukidoescode.com__reconcile-at": "now"})


@workload(USER)
def privileged_user_not_adopted(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.directory.make_user("svc", "lldap_strict_readonly")
    bed.safety.guard("svc")
    yield
    bed.user("svc", firstName="Mallory")
    yield
    bed.delete(USER, "svc")


@workload(USER)
def user_becomes_privileged(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice")
    bed.settle()
    bed.directory.add("alice", "lldap_admin")
    bed.safety.guard("alice")
    bed.work(700)
    yield
    bed.user("alice", firstName="Mallory")
    yield
    bed.delete(USER, "alice")


@workload(USER)
def the_operators_own_account(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    yield
    bed.user("Admin", object="admin", firstName="Mallory", deletionPolicy="Delete")
    yield
    bed.delete(USER, "admin")


@workload(USER)
def account_of_another_cluster(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.directory.make_user("far", mark="created cluster-2 default team-a/far 1-2-3")
    bed.safety.guard("far")
    yield
    bed.user("far", firstName="Mallory", deletionPolicy="Delete")
    yield
    bed.delete(USER, "far")


@workload(GROUP)
def group_adopted(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.directory.make_group("Staff")
    yield
    bed.group("staff")


@workload(GROUP)
def group_with_members_not_adopted(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    yield
    bed.group("board")
    yield
    bed.delete(GROUP, "board")


@workload(GROUP, adoption=Adoption.ALWAYS)
def group_with_members_adopted(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    yield
    bed.group("board")
    yield
    bed.delete(GROUP, "board")


@workload(GROUP)
def group_conflict_and_hand_over(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.user("alice")
    bed.group("staff")
    bed.settle()
    bed.membership("alice", "staff")
    bed.settle()
    bed.apply(GROUP, "second", {"displayName": "STAFF"})
    yield
    bed.delete(GROUP, "staff")


@workload(GROUP)
def group_deleted_and_made_by_another_namespace(bed: FaultBed) -> Iterator[None]:
    foreign(bed)
    bed.group("staff")
    bed.settle()
    bed.apply(GROUP, "second", {"displayName": "staff"}, "team-b")
    yield
    bed.delete(GROUP, "staff")
