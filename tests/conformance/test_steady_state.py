"""What is settled costs nothing: no write, no mutation, a handful of queries a resync."""

from typing import Any

from controller.api import DRY_RUN_ANNOTATION, KINDS, PAUSED_ANNOTATION
from tests.support.accounts import attributes, reference
from tests.support.bed import Bed

ATTRIBUTES, GROUPS, USERS, MEMBERSHIPS = 20, 60, 210, 210
RESYNCS = 5
QUERIES_A_RESYNC = 4


def fill(bed: Bed) -> None:
    """500 objects of all kinds; every tenth user has a password, some are paused or in dry-run."""
    bed.secret("pw", b"a good password")
    for number in range(ATTRIBUTES):
        target = "User" if number % 4 else "Group"
        kind = ("String", "Integer", "DateTime")[number % 3]
        bed.schema(f"attribute-{number}", target, kind, isList=number % 2 == 0)
    for number in range(GROUPS):
        values = attributes(attribute_0=["x", "y"]) if number % 3 == 0 else []
        bed.group(f"Group-{number}", "team-b" if number % 2 else "team-a", attributes=values)
    for number in range(USERS):
        secret: dict[str, Any] = {"passwordPolicy": "Manage", "passwordSecretRef": reference()}
        more = secret if number % 10 == 0 else {}
        values = attributes(attribute_1=["007"], attribute_5=["2024-05-01T12:00:00+02:00"])
        annotation = {3: PAUSED_ANNOTATION, 4: DRY_RUN_ANNOTATION}.get(number % 100)
        annotations = {annotation: "true"} if annotation else {}
        bed.user(f"user-{number}", attributes=values, annotations=annotations, **more)
    for number in range(MEMBERSHIPS):
        bed.membership(f"user-{number}", f"Group-{number * 2 % GROUPS}")


def test_five_hundred_settled_objects_cost_nothing_over_five_resyncs() -> None:
    bed = Bed()
    fill(bed)
    bed.settle(400)
    bed.run(700, step=100)
    found = [
        bed.admin.get(bed.path(kind.kind, namespace))["items"]
        for kind in KINDS
        for namespace in ("team-a", "team-b")
    ]
    assert sum(map(len, found)) == ATTRIBUTES + GROUPS + USERS + MEMBERSHIPS == 500
    reads = bed.operator.instance.mirror.generation
    bed.clear_logs()
    bed.run(RESYNCS * 660.0, step=220)
    assert bed.api_writes() == []
    assert bed.mutations() == []
    assert bed.operator.instance.mirror.generation != reads
    assert 0 < len(bed.operations()) <= QUERIES_A_RESYNC * RESYNCS
