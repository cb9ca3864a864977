"""Who may hand out rights by a membership, and what a forged status can do: nothing."""

from typing import Any

import pytest

from tests.support.bed import Bed
from tests.support.directory import BUILT_IN, Directory
from tests.support.groups import PENDING, VERIFIED, VIRTUAL, annotate, edges, group_ids

REFUSED = ("False", "ProtectedAccount")


# --- built-in groups -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("lldap_admin", REFUSED),
        ("LLDAP_Admin", REFUSED),
        ("lldap_password_manager", REFUSED),
        ("lldap_strict_readonly", REFUSED),
        ("lldap_admin ", REFUSED),  # LDAP compares without the spaces
        (" lldap_admin", REFUSED),
        ("1", PENDING),
    ],
)
def test_D04_a_tenant_makes_nobody_an_admin(name: str, answer: tuple[str, str]) -> None:
    bed = Bed()
    bed.user("mallory")
    bed.membership("mallory", name, name="m")
    bed.run(700)
    assert bed.ready("LldapMembership", "m") == answer
    assert edges(bed) == set()
    assert "addUserToGroup" not in bed.mutations()
    bed.delete("LldapMembership", "m")
    bed.run(5)
    assert not bed.exists("LldapMembership", "m")
    assert "removeUserFromGroup" not in bed.mutations()


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_D04_the_virtual_namespace_can(name: str) -> None:
    bed = Bed()
    bed.user("carol", VIRTUAL)
    bed.membership("carol", name.upper(), VIRTUAL, name="m")
    bed.run(15)
    assert bed.ready("LldapMembership", "m", VIRTUAL) == VERIFIED
    assert edges(bed) == {("carol", name)}
    bed.run(700)
    bed.delete("LldapMembership", "m", VIRTUAL)
    bed.run(5)
    assert edges(bed) == set()


def test_D04_no_object_of_a_tenant_stands_for_a_built_in_group() -> None:
    """Neither by its name, nor by the annotation, nor by the name of a virtual object."""
    bed = Bed()
    bed.user("mallory")
    annotation = {"lldap-resources-operator.lukidoescode.com/built-in": "true"}
    for name in ("default--lldap-admin", "mine"):
        bed.apply("LldapGroup", name, {"displayName": "lldap_admin"}, annotations=annotation)
    bed.membership("mallory", "lldap_admin", name="m")
    bed.run(60)
    assert bed.ready("LldapMembership", "m") == REFUSED
    assert bed.ready("LldapGroup", "mine") == ("False", "BuiltInConflict")
    assert bed.ready("LldapGroup", "default--lldap-admin") == ("False", "BuiltInConflict")
    assert edges(bed) == set()


def test_another_object_beside_the_virtual_one_does_not_shadow_it() -> None:
    """Older, in the same namespace, with the same displayName and the annotation."""
    bed = Bed()
    annotation = {"lldap-resources-operator.lukidoescode.com/built-in": "true"}
    bed.apply(
        "LldapGroup", "a-shadow", {"displayName": "lldap_admin"}, VIRTUAL, annotations=annotation
    )
    bed.clock.advance(60)
    bed.user("carol", VIRTUAL)
    bed.membership("carol", "lldap_admin", VIRTUAL, name="m")
    bed.run(15)
    assert bed.ready("LldapGroup", "a-shadow", VIRTUAL) == ("False", "BuiltInConflict")
    assert bed.ready("LldapMembership", "m", VIRTUAL) == VERIFIED
    assert edges(bed) == {("carol", "lldap_admin")}


@pytest.mark.parametrize("unmanaged", [False, True])
def test_nothing_but_the_virtual_object_stands_for_a_built_in_group(unmanaged: bool) -> None:
    """While it is in dry-run it claims nothing: neither another object nor the bare name counts."""
    bed = Bed(allow_unmanaged_references=unmanaged)
    bed.settle()
    dry = {"lldap-operator.lukidoescode.com/dry-run": "true"}
    virtual = "default--lldap-admin"
    bed.apply("LldapGroup", virtual, {"displayName": "lldap_admin"}, VIRTUAL, annotations=dry)
    bed.user("carol", VIRTUAL)
    if not unmanaged:
        bed.apply("LldapGroup", "shadow", {"displayName": "lldap_admin"}, VIRTUAL)
    bed.membership("carol", "lldap_admin", VIRTUAL, name="m")
    bed.run(30)
    assert bed.ready("LldapMembership", "m", VIRTUAL) == PENDING
    assert edges(bed) == set()


def test_an_edge_in_a_built_in_group_that_was_made_by_hand_stays() -> None:
    bed = Bed()
    directory = Directory(bed)
    directory.make_user("hand", "lldap_admin")
    bed.user("alice")
    bed.group("Team")
    bed.membership("alice", "Team")
    bed.run(700)
    assert ("hand", "lldap_admin") in edges(bed)


def test_a_namespace_that_is_no_longer_the_virtual_one_changes_no_built_in_edge() -> None:
    bed = Bed(virtual_group_namespace="team-b")
    bed.user("carol", "team-b")
    bed.membership("carol", "lldap_password_manager", "team-b", name="m")
    bed.run(15)
    assert edges(bed) == {("carol", "lldap_password_manager")}
    bed.start(rules={"virtual_group_namespace": VIRTUAL})
    bed.run(15)
    assert bed.ready("LldapMembership", "m", "team-b") == REFUSED
    bed.delete("LldapMembership", "m", "team-b")
    bed.run(5)
    assert not bed.exists("LldapMembership", "m", "team-b")
    assert edges(bed) == {("carol", "lldap_password_manager")}
    assert "LeftAlone" in bed.events.reasons()


# --- the operator's own account --------------------------------------------------------------


@pytest.mark.parametrize("namespace", ["team-a", VIRTUAL])
@pytest.mark.parametrize("group", ["lldap_admin", "Team"])
def test_D03_the_own_account_is_in_no_membership(namespace: str, group: str) -> None:
    bed = Bed()
    bed.group("Team", namespace)
    bed.membership("ADMIN", group, namespace, name="m")
    bed.run(60)
    assert bed.ready("LldapMembership", "m", namespace) == REFUSED
    bed.delete("LldapMembership", "m", namespace)
    bed.run(5)
    assert not bed.exists("LldapMembership", "m", namespace)
    assert Directory(bed).members("lldap_admin") == {"admin"}
    assert not {"addUserToGroup", "removeUserFromGroup"} & set(bed.mutations())


# --- a status that somebody has written ------------------------------------------------------


def bed_with_hand_made_edge(**options: Any) -> Bed:
    """Bob is in Hand by hand; alice is in Team by team-a/alice-team."""
    bed = Bed()
    if options:
        bed.start(**options)
    directory = Directory(bed)
    directory.make_group("Hand")
    directory.make_user("bob", "Hand", "lldap_admin")
    bed.user("alice")
    bed.group("Team")
    bed.membership("alice", "Team")
    bed.run(15)
    bed.clear_logs()
    return bed


def forged_records(bed: Bed) -> dict[str, dict[str, Any]]:
    directory = Directory(bed)
    real = bed.get("LldapMembership", "alice-team")["status"]
    bob = {
        "userId": "bob",
        "userUuid": directory.uuid("bob"),
        "groupId": group_ids(bed)["Hand"],
        "groupUuid": directory.group_uuid("Hand"),
    }
    admin_group = {**bob, "groupId": 1, "groupUuid": directory.group_uuid("lldap_admin")}
    return {
        "another's edge, the seal of another record": bob,
        "another's edge, no seal": {**bob, "seal": None},
        "another's edge, a seal of zeros": {**bob, "seal": "0" * 64},
        "an admin, the seal of another record": admin_group,
        "the group alone": {"groupId": 1, "groupUuid": directory.group_uuid("lldap_admin")},
        "the user's id alone": {"userId": "bob"},
        "the operator's own rights": {
            "userId": "admin",
            "userUuid": directory.uuid("admin"),
            "groupId": 1,
            "groupUuid": directory.group_uuid("lldap_admin"),
            "seal": real["seal"],
        },
    }


FORGERIES = (
    "another's edge, the seal of another record",
    "another's edge, no seal",
    "another's edge, a seal of zeros",
    "an admin, the seal of another record",
    "the group alone",
    "the user's id alone",
    "the operator's own rights",
)


@pytest.mark.parametrize("then", ["kept", "deleted", "pending and deleted", "restarted"])
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_record_takes_nobody_out_of_a_group(forgery: str, then: str) -> None:
    bed = bed_with_hand_made_edge()
    bed.forge("LldapMembership", "alice-team", forged_records(bed)[forgery])
    before = edges(bed) - {("alice", "Team")}
    if then == "restarted":
        bed.start()
    if then == "pending and deleted":
        annotate(bed, "LldapUser", "alice", "dry-run", "true")
        bed.settle()
    if "deleted" in then:
        bed.delete("LldapMembership", "alice-team")
    bed.run(30)
    assert edges(bed) - {("alice", "Team")} == before
    assert Directory(bed).members("lldap_admin") == {"admin", "bob"}
    if then in ("kept", "restarted"):
        assert bed.mutations() == []
        assert bed.ready("LldapMembership", "alice-team") == VERIFIED
        real = bed.get("LldapMembership", "alice-team")["status"]
        assert (real["userId"], real["groupId"]) == ("alice", group_ids(bed)["Team"])


def test_without_a_hash_key_a_record_removes_nothing_and_what_is_meant_now_does() -> None:
    bed = bed_with_hand_made_edge(hash_key=None)
    assert "seal" not in bed.get("LldapMembership", "alice-team")["status"]
    bed.forge("LldapMembership", "alice-team", forged_bob(bed))
    bed.run(15)
    assert ("bob", "Hand") in edges(bed)
    bed.delete("LldapMembership", "alice-team")
    bed.run(5)
    assert edges(bed) == {("bob", "Hand"), ("bob", "lldap_admin")}


def forged_bob(bed: Bed) -> dict[str, Any]:
    directory = Directory(bed)
    return {
        "userId": "bob",
        "userUuid": directory.uuid("bob"),
        "groupId": group_ids(bed)["Hand"],
        "groupUuid": directory.group_uuid("Hand"),
    }


def test_a_record_of_another_lldap_removes_nothing() -> None:
    bed = bed_with_hand_made_edge()
    bed.lldap.reinstall()
    directory = Directory(bed)
    directory.make_group("x")
    directory.make_user("alice", "x")
    bed.run(1300)
    assert ("alice", "x") in edges(bed)
    assert "removeUserFromGroup" not in bed.mutations()
