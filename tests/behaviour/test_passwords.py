"""The password policies, and the Secret that comes, changes and goes."""

from tests.behaviour.looks import VERIFIED, becomes, ready
from tests.support.bed import Bed

REFERENCE = {"name": "pw", "key": "password"}


def with_password(bed: Bed, policy: str) -> None:
    bed.user("alice", passwordPolicy=policy, passwordSecretRef=REFERENCE)


def test_a_secret_that_is_not_there_yet_is_waited_for(bed: Bed) -> None:
    with_password(bed, "Manage")
    becomes(bed, "LldapUser", "alice", ("False", "SecretNotFound"))
    assert "Secret team-a/pw" in bed.message("LldapUser", "alice")
    bed.secret("pw", b"another-password", key="other")
    becomes(bed, "LldapUser", "alice", ("False", "SecretKeyNotFound"))
    bed.secret("pw", b"first-password")
    becomes(bed, "LldapUser", "alice")
    assert bed.login("alice", "first-password") == 200


def test_a_managed_password_follows_the_secret(bed: Bed) -> None:
    bed.secret("pw", b"first-password")
    with_password(bed, "Manage")
    becomes(bed, "LldapUser", "alice")
    bed.secret("pw", b"second-password")
    bed.until(lambda: bed.login("alice", "second-password") == 200)
    bed.settle()
    assert bed.login("alice", "first-password") == 401
    assert ready(bed, "LldapUser", "alice") == VERIFIED


def test_a_secret_of_which_only_the_labels_change_registers_nothing(bed: Bed) -> None:
    bed.secret("pw", b"first-password")
    with_password(bed, "Manage")
    becomes(bed, "LldapUser", "alice")
    bed.settle()
    bed.clear_logs()
    path = "/api/v1/namespaces/team-a/secrets/pw"
    change = {"metadata": {"labels": {"team": "blue"}}}
    bed.admin.patch(path, change, content_type="application/merge-patch+json")
    bed.settle()
    assert bed.mutations() == []


def test_an_initial_password_is_set_once(bed: Bed) -> None:
    bed.secret("pw", b"first-password")
    with_password(bed, "InitialOnly")
    becomes(bed, "LldapUser", "alice")
    assert bed.login("alice", "first-password") == 200
    bed.lldap.set_password("alice", "their own password")
    bed.secret("pw", b"second-password")
    bed.settle()
    assert bed.login("alice", "their own password") == 200
    bed.admin.delete("/api/v1/namespaces/team-a/secrets/pw")
    bed.settle()
    assert ready(bed, "LldapUser", "alice") == VERIFIED


def test_a_password_that_is_ignored_is_somebody_elses(bed: Bed) -> None:
    bed.secret("pw", b"first-password")
    with_password(bed, "Ignore")
    becomes(bed, "LldapUser", "alice")
    bed.lldap.set_password("alice", "their own password")
    bed.secret("pw", b"second-password")
    bed.settle()
    assert bed.login("alice", "their own password") == 200


def test_a_policy_that_changes_to_manage_sets_the_password(bed: Bed) -> None:
    bed.secret("pw", b"first-password")
    with_password(bed, "Ignore")
    becomes(bed, "LldapUser", "alice")
    with_password(bed, "Manage")
    becomes(bed, "LldapUser", "alice")
    assert bed.login("alice", "first-password") == 200
