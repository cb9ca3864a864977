"""Adoption, privilege and the operator's own account."""

import pytest

from controller.configuration.values import Adoption
from tests.support.bed import Bed
from tests.support.directory import BUILT_IN, Directory

VIRTUAL = "lldap-system"


def adopted(bed: Bed, kind: str, name: str, namespace: str) -> bool:
    bed.settle()
    status, reason = bed.ready(kind, name, namespace)
    assert (status, reason) in {("True", "Verified"), ("False", "NotAdopted")}
    return status == "True"


@pytest.mark.parametrize("namespace", ["team-a", VIRTUAL])
@pytest.mark.parametrize("built_in", ["", *BUILT_IN])
@pytest.mark.parametrize("adoption", Adoption)
def test_D02_a_hand_made_user_is_adopted_by_the_setting(
    adoption: Adoption, built_in: str, namespace: str
) -> None:
    bed = Bed(adoption=adoption)
    directory = Directory(bed)
    directory.make_user("ceo", *([built_in] if built_in else []))
    before = directory.user("ceo")
    bed.user("ceo", namespace)
    expected = adoption is Adoption.ALWAYS or (
        adoption is Adoption.IF_UNPRIVILEGED and (not built_in or namespace == VIRTUAL)
    )
    assert adopted(bed, "LldapUser", "ceo", namespace) is expected
    assert (directory.user("ceo") == before) is not expected


@pytest.mark.parametrize("namespace", ["team-a", VIRTUAL])
@pytest.mark.parametrize("members", [0, 1])
@pytest.mark.parametrize("adoption", Adoption)
def test_a_hand_made_group_is_adopted_by_the_setting(
    adoption: Adoption, members: int, namespace: str
) -> None:
    bed = Bed(adoption=adoption)
    directory = Directory(bed)
    directory.make_user("boss")
    directory.make_group("board", *["boss"][:members])
    before = directory.group("board")
    bed.group("board", namespace)
    expected = adoption is Adoption.ALWAYS or (
        adoption is Adoption.IF_UNPRIVILEGED and (not members or namespace == VIRTUAL)
    )
    assert adopted(bed, "LldapGroup", "board", namespace) is expected
    assert (directory.group("board") == before) is not expected
    if members:
        assert directory.members("board") == {"boss"}


def test_the_mark_is_the_first_write_of_an_adoption() -> None:
    bed = Bed()
    Directory(bed).make_user("alice")
    bed.user("alice", displayName="Alice")
    bed.settle()
    updates = [
        entry.call.data
        for entry in bed.lldap.log
        if entry.call.caller == "operator" and entry.call.operation == "updateUser"
    ]
    assert [b"kubernetes-owner" in data for data in updates] == [True, False]
    assert b"Alice" not in updates[0]


def test_the_message_says_how_to_be_invited() -> None:
    bed = Bed(adoption=Adoption.NEVER)
    Directory(bed).make_user("alice")
    bed.user("alice")
    bed.settle()
    message = bed.message("LldapUser", "alice")
    assert '"invite default team-a/alice"' in message
    assert "LLDAP_ADOPTION=Never" in message


# --- privilege before every write --------------------------------------------------------


@pytest.mark.parametrize("built_in", BUILT_IN)
def test_an_account_that_became_privileged_is_not_written_from_a_tenants_namespace(
    built_in: str,
) -> None:
    bed = Bed()
    directory = Directory(bed)
    bed.user("alice")
    bed.settle()
    directory.add("alice", built_in)
    before = directory.user("alice")
    bed.user("alice", email="mallory@example.org", displayName="Mallory")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "ProtectedAccount")
    assert directory.user("alice") == before
    bed.delete("LldapUser", "alice")
    bed.settle()
    assert not bed.exists("LldapUser", "alice")
    assert directory.user("alice") == before
    assert "LeftAlone" in bed.events.reasons()


def test_privilege_is_seen_in_a_group_that_nobody_had_read_yet() -> None:
    bed = Bed()
    directory = Directory(bed)
    directory.delete_group("lldap_password_manager")
    bed.user("alice")
    bed.settle()
    directory.make_group("lldap_password_manager", "alice")
    before = directory.user("alice")
    bed.user("alice", email="mallory@example.org")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "ProtectedAccount")
    assert directory.user("alice") == before


def test_a_password_is_not_registered_for_an_account_that_became_privileged() -> None:
    bed = Bed()
    directory = Directory(bed)
    bed.secret("pw", b"first-password")
    reference = {"name": "pw", "key": "password"}
    bed.user("alice", passwordPolicy="Manage", passwordSecretRef=reference)
    bed.settle()
    assert bed.login("alice", "first-password") == 200
    directory.add("alice", "lldap_admin")
    bed.secret("pw", b"takeover-password")
    bed.settle()
    assert bed.login("alice", "takeover-password") == 401
    assert bed.login("alice", "first-password") == 200


def test_an_unmarked_privileged_account_gets_no_mark_from_a_tenants_namespace() -> None:
    bed = Bed()
    directory = Directory(bed)
    bed.user("alice")
    bed.settle()
    directory.add("alice", "lldap_strict_readonly")
    directory.set_mark("alice", None)
    bed.run(700)
    assert bed.ready("LldapUser", "alice") == ("False", "ProtectedAccount")
    assert directory.mark("alice") is None


def test_a_group_of_ours_may_have_members() -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("devs")
    bed.membership("alice", "devs")
    bed.settle()
    bed.apply("LldapGroup", "devs", {"displayName": "engineers"})
    bed.settle()
    assert Directory(bed).members("engineers") == {"alice"}


def test_the_namespace_of_the_virtual_groups_manages_admins() -> None:
    bed = Bed()
    directory = Directory(bed)
    directory.make_user("root", "lldap_admin")
    bed.user("root", VIRTUAL, displayName="Root")
    bed.settle()
    row = directory.user("root")
    assert row is not None
    assert row.columns["display_name"] == "Root"


# --- the operator's own account --------------------------------------------------------------


@pytest.mark.parametrize("namespace", ["team-a", VIRTUAL])
@pytest.mark.parametrize("name", ["admin", "Admin", "ADMIN"])
def test_D03_the_operators_own_account_is_in_no_objects_hands(name: str, namespace: str) -> None:
    bed = Bed(adoption=Adoption.ALWAYS)
    directory = Directory(bed)
    bed.user("bystander")
    bed.settle()
    before = directory.dump()
    bed.secret("pw", b"takeover-password", namespace)
    bed.user(
        name,
        namespace,
        object="me",
        passwordPolicy="Manage",
        passwordSecretRef={"name": "pw", "key": "password"},
        deletionPolicy="Delete",
    )
    bed.membership(name, "lldap_admin", namespace, name="me-admin")
    bed.run(30)
    assert bed.ready("LldapUser", "me", namespace) == ("False", "ProtectedAccount")
    assert bed.ready("LldapMembership", "me-admin", namespace) == ("False", "ProtectedAccount")
    for kind, own in (("LldapUser", "me"), ("LldapMembership", "me-admin")):
        bed.delete(kind, own, namespace)
    bed.settle()
    assert not bed.exists("LldapUser", "me", namespace)
    assert not bed.exists("LldapMembership", "me-admin", namespace)
    assert directory.dump() == before
    assert bed.login("admin", "admin-password-1") == 200
    left = bed.metrics.registry.get_sample_value(
        "lldap_operator_left_in_lldap_total", {"kind": "LldapUser", "reason": "ProtectedAccount"}
    )
    assert left == 1


@pytest.mark.parametrize("name", [*BUILT_IN, "LLDAP_Admin"])
@pytest.mark.parametrize("namespace", ["team-a", VIRTUAL])
def test_D03_a_built_in_group_is_in_no_objects_hands(name: str, namespace: str) -> None:
    bed = Bed(adoption=Adoption.ALWAYS)
    directory = Directory(bed)
    bed.user("bystander")
    bed.settle()
    before = directory.dump()
    spec = {"displayName": name, "deletionPolicy": "Delete"}
    bed.apply("LldapGroup", "mine", spec, namespace)
    bed.settle()
    assert bed.ready("LldapGroup", "mine", namespace) == ("False", "BuiltInConflict")
    bed.delete("LldapGroup", "mine", namespace)
    bed.settle()
    assert not bed.exists("LldapGroup", "mine", namespace)
    assert directory.dump() == before
    assert "LeftAlone" in bed.events.reasons()


@pytest.mark.parametrize(
    "group",
    ["lldap_admin", "LLDAP_Admin", "lldap_admin ", " lldap_admin", "lldap_password_manager", "1"],
)
def test_no_tenant_makes_itself_an_admin(group: str) -> None:
    bed = Bed(allow_unmanaged_references=True)
    directory = Directory(bed)
    bed.user("mallory", "team-a")
    bed.settle()
    members = {name: directory.members(name) for name in BUILT_IN}
    bed.apply("LldapMembership", "up", {"userName": "mallory", "groupName": group}, "team-a")
    bed.run(30)
    assert bed.ready("LldapMembership", "up")[0] == "False"
    bed.delete("LldapMembership", "up")
    bed.settle()
    assert not bed.exists("LldapMembership", "up")
    assert {name: directory.members(name) for name in BUILT_IN} == members
    assert "addUserToGroup" not in bed.operations()
