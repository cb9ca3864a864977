"""Namespaces and CRDs that are deleted."""

from controller.api import KINDS
from controller.configuration.values import Adoption
from tests.behaviour.looks import CRDS, VIRTUAL, alice_in_devs, becomes, delete, served
from tests.support.bed import Bed
from tests.support.directory import Directory


def test_E06_the_deletion_of_a_namespace_carries_out_what_its_objects_say(bed: Bed) -> None:
    directory = alice_in_devs(bed)
    bed.user("bob", deletionPolicy="Retain")
    becomes(bed, "LldapUser", "bob")
    bed.delete_namespace("team-a")
    bed.until(lambda: not any(bed.names(kind.kind, "team-a") for kind in KINDS))
    assert not directory.has_user("alice")
    assert not directory.has_group("devs")
    assert directory.has_user("bob")


def test_E11_the_deletion_of_the_operators_namespace_empties_nothing(bed: Bed) -> None:
    directory = alice_in_devs(bed)
    # A finalizer of somebody else's keeps it Terminating, as a Pod would.
    metadata = {"finalizers": ["example.org/audit"]}
    bed.apply("LldapUser", "keeper", {**KEEPER}, VIRTUAL, **metadata)
    bed.delete_namespace(VIRTUAL)
    delete(bed, "LldapUser", "alice")
    delete(bed, "LldapGroup", "devs")
    assert bed.login("alice", "first-password") == 200
    assert directory.members("devs") == {"alice"}


KEEPER = {"username": "keeper", "email": "keeper@example.org", "passwordPolicy": "Ignore"}


def test_E11_the_deletion_of_the_crds_empties_nothing(bed_of_its_own: Bed) -> None:
    bed = bed_of_its_own
    directory = alice_in_devs(bed)
    bed.schema("costcenter", deletionPolicy="Delete")
    becomes(bed, "LldapAttributeSchema", "user-costcenter")
    for kind in KINDS:
        bed.admin.delete(f"{CRDS}/{kind.crd_name}")
    bed.until(lambda: not any(served(bed, kind.crd_name) for kind in KINDS))
    assert bed.login("alice", "first-password") == 200
    assert directory.members("devs") == {"alice"}
    assert "user attribute costcenter" in directory.dump()
    bed.install_definitions()  # installed again, and told to take everything over
    bed.start(rules={"adoption": Adoption.ALWAYS})
    alice_in_devs(bed)
    assert bed.login("alice", "first-password") == 200
    assert Directory(bed).members("devs") == {"alice"}
