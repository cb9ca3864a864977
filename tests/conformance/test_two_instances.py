"""Two operators for two instances in one cluster, in the same namespaces, over a whole life."""

import pytest

from controller.api import INSTANCE_LABEL, KINDS
from controller.configuration.values import Adoption
from tests.conformance.edits import standing
from tests.support.accounts import attributes, reference
from tests.support.bed import Bed
from tests.support.beds import BesideBed, another_lldap, run, settle
from tests.support.directory import Directory

NAMESPACES = ("team-a", "team-b")


def fill(bed: Bed, instance: str, *, display_name: str = "") -> None:
    """Objects of all kinds of one instance; both instances declare the very same things."""
    labels = {INSTANCE_LABEL: instance}
    for namespace, name in zip(NAMESPACES, ("alice", "bob"), strict=True):
        key = f"{instance}-{name}"
        bed.secret(f"pw-{instance}", f"the password of {instance}".encode(), namespace)
        spec = {
            "username": name,
            "email": f"{name}@example.org",
            "displayName": display_name,
            "attributes": attributes(room=[instance]),
            "passwordPolicy": "Manage",
            "passwordSecretRef": reference(f"pw-{instance}"),
        }
        bed.apply("LldapUser", key, spec, namespace, labels=labels)
        bed.apply("LldapGroup", key, {"displayName": f"Team of {name}"}, namespace, labels=labels)
        edge = {"userName": name, "groupName": f"Team of {name}"}
        bed.apply("LldapMembership", key, edge, namespace, labels=labels)
    schema = {
        "attributeName": "room",
        "attributeType": "String",
        "target": "User",
        "deletionPolicy": "Delete",
    }
    bed.apply("LldapAttributeSchema", f"{instance}-room", schema, labels=labels)


def names(bed: Bed, instance: str) -> list[tuple[str, str, str]]:
    return [
        (kind.kind, obj["metadata"]["name"], namespace)
        for kind in KINDS
        for namespace in NAMESPACES
        for obj in bed.admin.get(bed.path(kind.kind, namespace))["items"]
        if obj["metadata"]["labels"][INSTANCE_LABEL] == instance
    ]


def written(bed: Bed) -> set[str]:
    """Names of the objects that an operator wrote to."""
    paths = [path.removesuffix("/status") for _, path in bed.api_writes()]
    return {path.rpartition("/")[2] for path in paths}


@pytest.fixture
def two() -> tuple[Bed, Bed]:
    bed = Bed(adoption=Adoption.ALWAYS)
    return bed, BesideBed(
        bed, "other", lldap=another_lldap(), instance="other", adoption=Adoption.ALWAYS
    )


def test_neither_touches_the_others_objects_or_accounts(two: tuple[Bed, Bed]) -> None:
    bed, other = two
    settle(bed, other)
    empty = standing(bed), standing(other)
    fill(bed, "default")
    run(40, bed, other)
    alone = standing(bed)
    assert standing(other) == empty[1]
    fill(bed, "other")
    run(40, bed, other)
    assert standing(bed) == alone
    for instance in ("default", "other"):
        assert {bed.ready(*each) for each in names(bed, instance)} == {("True", "Verified")}
    assert bed.login("alice", "the password of default") == 200
    assert bed.login("alice", "the password of other") == 401
    assert other.login("bob", "the password of other") == 200
    assert Directory(other).members("Team of bob") == {"bob"}

    bed.clear_logs()
    other.clear_logs()
    fill(bed, "other", display_name="Changed")
    run(700, bed, other, step=100)
    assert bed.mutations() == []
    assert bed.api_writes() == []
    assert written(other) <= {name for _, name, _ in names(bed, "other")}
    assert standing(bed) == alone

    for each in names(bed, "other"):
        bed.delete(*each)
    run(90, bed, other)
    assert names(bed, "other") == []
    left = standing(other)
    assert (left["users"], left["groups"]) == (empty[1]["users"], empty[1]["groups"])
    assert "room" not in left["attributes"]["user"]
    assert standing(bed) == alone
    assert bed.mutations() == []
    assert {bed.ready(*each) for each in names(bed, "default")} == {("True", "Verified")}


def test_each_keeps_its_own_virtual_groups_in_one_namespace(two: tuple[Bed, Bed]) -> None:
    bed, other = two
    settle(bed, other)
    found = bed.admin.get(bed.path("LldapGroup", "lldap-system"))["items"]
    owners = {obj["metadata"]["name"]: obj["metadata"]["labels"][INSTANCE_LABEL] for obj in found}
    assert sorted(owners.values()) == ["default"] * 3 + ["other"] * 3
    assert all(name.startswith(f"{instance}--") for name, instance in owners.items())
    bed.clear_logs()
    other.clear_logs()
    bed.delete("LldapGroup", "other--lldap-admin", "lldap-system")
    settle(bed, other)
    assert bed.exists("LldapGroup", "other--lldap-admin", "lldap-system")
    assert bed.api_writes() == []
    assert written(other) == {"other--lldap-admin"}
