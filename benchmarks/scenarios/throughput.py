"""Many new or deleted objects: how many a second, at what cost."""

from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks import contestants, objects, watch
from benchmarks.bed import Bed
from benchmarks.contestants import Start
from benchmarks.process import Process
from benchmarks.results import Run

SECONDS_PER_OBJECT = 0.1  # twice what the slowest takes, a password
PATIENCE = 60.0
GROUPS = 100


@dataclass(frozen=True, slots=True)
class Work:
    """Something to do: `prepare` makes it, `kinds` are its objects."""

    name: str
    job: str
    prepare: Callable[[Bed, str, int], None]
    kinds: tuple[tuple[str, float], ...]  # and their share of the size
    done: watch.Judge = watch.ready
    contestants: dict[str, Start] = field(default_factory=dict)


def _users(bed: Bed, namespace: str, size: int) -> None:
    bed.create(namespace, objects.users(bed.names(size)))


def _users_with_passwords(bed: Bed, namespace: str, size: int) -> None:
    names = bed.names(size)
    bed.create(namespace, objects.secrets(names))
    bed.create(namespace, objects.users(names, passwords=True))


def _memberships(bed: Bed, namespace: str, size: int, groups: int) -> None:
    names, group_names = bed.names(size), bed.names(groups, "g")
    bed.create_accounts(names)
    bed.create_groups(group_names)
    bed.create(namespace, objects.memberships(names, group_names))


def _mixed(bed: Bed, namespace: str, size: int) -> None:
    names, group_names = bed.names(size // 2), bed.names(max(1, size // 10), "g")
    bed.create(namespace, objects.groups(group_names))
    bed.create(namespace, objects.users(names))
    bed.create(namespace, objects.memberships(names[: size * 4 // 10], group_names))


def _deletions(bed: Bed, namespace: str, size: int) -> None:
    """Users that are in lldap under the operator's mark, deleted while nobody was there."""
    _users(bed, namespace, size)
    with (
        _watch(bed, namespace, "LldapUser", size) as seen,
        contestants.floor(bed, namespace, "users"),
    ):
        seen.wait(PATIENCE + size * SECONDS_PER_OBJECT)
    api = bed.api()
    api.call("DELETE", objects.collection(namespace, "LldapUser"))
    api.close()


def _watch(
    bed: Bed, namespace: str, kind: str, size: int, done: watch.Judge = watch.ready
) -> watch.Watch:
    return watch.Watch(bed.api, namespace, kind, done=done, expected=size)


_PYTHON: dict[str, Start] = {"operator": contestants.operator, "floor": contestants.floor}
_ALL = _PYTHON | {"kopf": contestants.kopf}
_USERS = (("LldapUser", 1.0),)
_MEMBERSHIPS = (("LldapMembership", 1.0),)

NEW_USERS = Work(
    "new users", "users", _users, _USERS, contestants=_ALL | {"go floor": contestants.go_floor}
)
NEW_USERS_WITH_PASSWORDS = Work(
    "new users with passwords",
    "passwords",
    _users_with_passwords,
    _USERS,
    contestants={
        "operator": contestants.operator,
        "argon2 alone": contestants.argon2,
        "argon2 with large pages": contestants.argon2_as_in_the_image,
    },
)
ONE_GROUP = Work(
    "memberships, one group",
    "memberships",
    lambda bed, namespace, size: _memberships(bed, namespace, size, 1),
    _MEMBERSHIPS,
    contestants=_ALL,
)
MANY_GROUPS = Work(
    "memberships, many groups",
    "memberships",
    lambda bed, namespace, size: _memberships(bed, namespace, size, GROUPS),
    _MEMBERSHIPS,
    contestants=_ALL,
)
MIXED = Work(
    "mixed kinds",
    "mixed",
    _mixed,
    (("LldapUser", 0.5), ("LldapGroup", 0.1), ("LldapMembership", 0.4)),
    contestants=_ALL,
)
DELETIONS = Work("deleted users", "deletions", _deletions, _USERS, watch.deleted, contestants=_ALL)


def run(bed: Bed, work: Work, contestant: str, size: int, repetition: int) -> Run:
    """One contestant does all of the work; lldap is clean before."""
    bed.clean_lldap()
    namespace = bed.namespace()
    work.prepare(bed, namespace, size)
    watches = [
        _watch(bed, namespace, kind, round(size * share), work.done) for kind, share in work.kinds
    ]
    try:
        with work.contestants[contestant](bed, namespace, work.job) as process:
            values = _measured(process, watches, size)
            values |= _calls(size) if contestant == "operator" else {}
    finally:
        for each in watches:
            each.__exit__()
    return Run(work.name, contestant, size, repetition, values)


def _measured(process: Process, watches: list[watch.Watch], size: int) -> dict[str, float]:
    for each in watches:
        each.sample_with(process.sample)
    for each in watches:
        each.wait(PATIENCE + size * SECONDS_PER_OBJECT, check=process.check)
    began = min((w.began for w in watches if w.began), key=lambda sample: sample.time)
    ended = max((w.ended for w in watches if w.ended), key=lambda sample: sample.time)
    values = {
        "objects a second": (size - 1) / (ended.time - began.time),
        "CPU ms an object": (ended.cpu - began.cpu) / size * 1000,
    }
    memory = process.memory()  # not known of one that ends with its last object
    return values | ({"peak MiB": memory} if memory else {})


def _calls(size: int) -> dict[str, float]:
    found = contestants.metrics()
    return {
        "lldap calls an object": contestants.total(found, "lldap_operator_lldap_calls_total")
        / size,
        "API calls an object": contestants.total(found, "rest_client_requests_total") / size,
    }
