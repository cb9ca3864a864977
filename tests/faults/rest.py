"""A steady state: nothing to do means nothing written, however many objects there are (G5)."""

from collections import Counter
from dataclasses import dataclass

from tests.support.bed import Bed

RESYNC_SECONDS = 600.0
RESYNCS = 3
USERS_A_GROUP = 10


@dataclass(frozen=True, slots=True)
class Rest:
    """What the operator asked for while there was nothing to do."""

    objects: int
    api_writes: list[tuple[str, str]]
    mutations: list[str]
    bulk_reads: int

    @property
    def good(self) -> bool:
        """No write, no mutation, and three bulk reads a resync at most."""
        quiet = not self.api_writes and not self.mutations
        return quiet and 0 < self.bulk_reads <= 3 * (RESYNCS + 1)

    def __str__(self) -> str:
        return (
            f"rest: {self.objects} objects over {RESYNCS} resyncs: {len(self.api_writes)} writes "
            f"to Kubernetes, {len(self.mutations)} mutations in lldap, {self.bulk_reads} bulk reads"
        )


def at_rest(objects: int) -> Rest:
    """Bring about so many objects of three kinds, then let three resyncs pass."""
    bed = Bed()
    groups = max(1, objects // (2 * USERS_A_GROUP + 1))
    for number in range(groups):
        bed.group(f"group-{number}")
        for user in range(number * USERS_A_GROUP, (number + 1) * USERS_A_GROUP):
            bed.user(f"user-{user}")
            bed.membership(f"user-{user}", f"group-{number}")
    bed.settle(rounds=100 * groups)
    bed.run(120.0, step=20.0)
    assert not _unready(bed), _unready(bed)
    bed.clear_logs()
    bed.run(RESYNCS * RESYNC_SECONDS * 1.1, step=60.0)
    reads = Counter(bed.operations())
    made = groups * (2 * USERS_A_GROUP + 1)
    return Rest(made, bed.api_writes(), bed.mutations(), reads["users"] + reads["groups"])


def _unready(bed: Bed) -> dict[tuple[str, str, str], int]:
    states = bed.operator.states()
    return {state: count for state, count in states.items() if state[1] != "True"}
