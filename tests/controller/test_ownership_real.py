"""Ownership and uninstall on a real API server."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.api import KINDS
from controller.config_values import Adoption
from informers import StatusError
from sandbox.controlplane import ASSETS_VARIABLE, ControlPlane
from tests.support.directory import Directory
from tests.support.realbed import RealBed

pytestmark = [pytest.mark.envtest, pytest.mark.slow]

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FOLDER = Path(__file__).parents[2] / "deploy/crds"


def fill(bed: RealBed) -> None:
    bed.secret("pw", b"first-password")
    reference = {"name": "pw", "key": "password"}
    for name in ("alice", "bob"):
        bed.user(name, passwordPolicy="Manage", passwordSecretRef=reference)
    bed.group("devs", deletionPolicy="Delete")
    bed.membership("alice", "devs")
    bed.schema("costcenter", deletionPolicy="Delete")
    bed.until(lambda: bed.ready("LldapMembership", "alice-devs") == ("True", "Verified"))
    bed.until(lambda: bed.ready("LldapUser", "bob") == ("True", "Verified"))
    bed.settle()


def test_D01_of_two_objects_the_older_has_the_account_and_hands_it_over(crds: ControlPlane) -> None:
    with RealBed(crds) as bed:
        directory = Directory(bed)
        fill(bed)
        uuid = directory.uuid("alice")
        spec = {"username": "alice", "email": "b@example.org", "passwordPolicy": "Ignore"}
        bed.apply("LldapUser", "second", spec)
        bed.until(lambda: bed.ready("LldapUser", "second") == ("False", "Conflict"))
        bed.delete("LldapUser", "alice")
        bed.until(lambda: not bed.exists("LldapUser", "alice"))
        bed.until(lambda: bed.ready("LldapUser", "second") == ("True", "Verified"))
        assert directory.uuid("alice") == uuid
        assert bed.login("alice", "first-password") == 200
        assert directory.members("devs") == {"alice"}


def test_a_deletion_deletes(crds: ControlPlane) -> None:
    with RealBed(crds) as bed:
        fill(bed)
        bed.delete("LldapUser", "bob")
        bed.delete("LldapGroup", "devs")
        bed.until(lambda: not bed.exists("LldapUser", "bob"))
        bed.until(lambda: not bed.exists("LldapGroup", "devs"))
        assert not Directory(bed).has_user("bob")
        assert not Directory(bed).has_group("devs")


def test_E06_the_deletion_of_a_namespace_carries_out_what_its_objects_say(
    crds: ControlPlane,
) -> None:
    with RealBed(crds) as bed:
        fill(bed)
        bed.admin.delete("/api/v1/namespaces/team-a")
        for kind in KINDS:  # as the namespace controller does, which this server has not
            bed.admin.delete(bed.path(kind.kind, "team-a"))
        bed.until(lambda: not any(items(bed, kind.kind) for kind in KINDS))
        assert not Directory(bed).has_user("alice")
        assert not Directory(bed).has_group("devs")


def items(bed: RealBed, kind: str) -> list[object]:
    found: list[object] = bed.admin.get(bed.path(kind, "team-a"))["items"]
    return found


def test_the_deletion_of_the_operators_namespace_empties_nothing(crds: ControlPlane) -> None:
    with RealBed(crds) as bed:
        fill(bed)
        bed.admin.delete("/api/v1/namespaces/lldap-system")
        bed.delete("LldapUser", "bob")
        bed.delete("LldapGroup", "devs")
        bed.until(lambda: not bed.exists("LldapUser", "bob"))
        bed.until(lambda: not bed.exists("LldapGroup", "devs"))
        assert bed.login("bob", "first-password") == 200
        assert Directory(bed).members("devs") == {"alice"}


# --- the CRDs ----------------------------------------------------------------------------------


@pytest.fixture
def own_plane() -> Iterator[ControlPlane]:
    """A server whose CRDs this test may delete."""
    with ControlPlane(Path(os.environ[ASSETS_VARIABLE])) as plane:
        plane.install(FOLDER)
        yield plane


def test_E11_the_deletion_of_the_crds_empties_nothing(own_plane: ControlPlane) -> None:
    with RealBed(own_plane) as bed:
        fill(bed)
        for kind in KINDS:
            bed.admin.delete(f"{CRDS}/{kind.crd_name}")
        bed.until(lambda: not any(served(bed, kind.crd_name) for kind in KINDS), 60.0)
        directory = Directory(bed)
        assert bed.login("alice", "first-password") == 200
        assert bed.login("bob", "first-password") == 200
        assert directory.members("devs") == {"alice"}
        assert "user attribute costcenter" in directory.dump()
        own_plane.install(FOLDER)  # installed again, and told to take everything over
        bed.start(rules={"adoption": Adoption.ALWAYS})
        fill(bed)
        assert bed.login("alice", "first-password") == 200
        assert directory.members("devs") == {"alice"}


def served(bed: RealBed, crd: str) -> bool:
    try:
        bed.admin.get(f"{CRDS}/{crd}")
    except StatusError as error:
        if error.code != 404:
            raise
        return False
    return True
