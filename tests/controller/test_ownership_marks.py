"""The states of a mark: ours, dead, missing, an invitation, another's."""

import pytest
from urllib3 import HTTPHeaderDict

from controller.api import DRY_RUN_ANNOTATION, INSTANCE_LABEL, MARK_ATTRIBUTE
from controller.config_values import Adoption
from informers import DeadlineExceeded
from informers.transport import RawResponse
from sandbox.apiserver.transport import Call
from tests.support.bed import CLUSTER, Bed
from tests.support.directory import Directory, mark

ALICE = "/namespaces/team-a/lldapusers/"


@pytest.fixture
def bed() -> Bed:
    return Bed()


@pytest.fixture
def directory(bed: Bed) -> Directory:
    return Directory(bed)


def uid(bed: Bed, kind: str, name: str, namespace: str = "team-a") -> str:
    return str(bed.get(kind, name, namespace)["metadata"]["uid"])


def recreated(bed: Bed, kind: str, name: str, namespace: str = "team-a") -> None:
    """The object as a backup restores it: the same name and spec, another uid, no status."""
    spec = bed.get(kind, name, namespace)["spec"]
    bed.admin.patch(
        bed.path(kind, namespace, name),
        {"metadata": {"finalizers": None}},
        content_type="application/merge-patch+json",
    )
    bed.delete(kind, name, namespace)
    bed.clock.advance(5)
    bed.apply(kind, name, spec, namespace)


# --- ours ----------------------------------------------------------------------------------


def test_the_mark_is_set_in_the_creating_call(bed: Bed, directory: Directory) -> None:
    bed.user("alice")
    bed.group("devs")
    bed.settle()
    assert directory.mark("alice") == mark(uid(bed, "LldapUser", "alice"), "alice")
    assert directory.group_mark("devs") == mark(uid(bed, "LldapGroup", "devs"), "devs")
    assert bed.mutations().count("createUser") == 1
    assert "updateUser" not in bed.mutations()


def test_the_mark_wins_over_what_the_status_says(bed: Bed, directory: Directory) -> None:
    bed.user("alice")
    bed.settle()
    uuid = directory.uuid("alice")
    status = {"origin": "Adopted", "uuid": "another", "seal": "0" * 64}
    bed.forge("LldapUser", "alice", status)
    bed.settle()
    assert bed.get("LldapUser", "alice")["status"]["origin"] == "Created"
    assert bed.get("LldapUser", "alice")["status"]["uuid"] == uuid
    bed.delete("LldapUser", "alice")
    bed.settle()
    assert not directory.has_user("alice")


def test_a_group_is_found_by_its_mark_after_a_crash_with_an_edited_spec(
    bed: Bed, directory: Directory
) -> None:
    bed.group("devs")
    bed.settle()
    uuid = directory.group_uuid("devs")
    bed.forge("LldapGroup", "devs", None)
    bed.apply("LldapGroup", "devs", {"displayName": "engineers"})
    bed.start()
    bed.settle()
    assert directory.group_uuid("engineers") == uuid
    assert not directory.has_group("devs")


def test_the_mark_is_no_drift_and_never_managed(bed: Bed, directory: Directory) -> None:
    bed.user("alice")
    bed.group("devs")
    bed.settle()
    bed.clear_logs()
    bed.forge("LldapUser", "alice", {"managed": ["email", MARK_ATTRIBUTE]})
    bed.forge("LldapGroup", "devs", {"managed": ["displayName", MARK_ATTRIBUTE]})
    bed.run(700)
    assert bed.mutations() == []
    assert bed.get("LldapUser", "alice")["status"]["managed"] == ["email"]
    assert bed.get("LldapGroup", "devs")["status"]["managed"] == ["displayName"]


# --- dead ----------------------------------------------------------------------------------


@pytest.mark.parametrize("adoption", Adoption)
@pytest.mark.parametrize("origin", ["created", "adopted"])
def test_an_account_is_taken_back_with_its_origin_under_any_setting(
    adoption: Adoption, origin: str
) -> None:
    bed = Bed(adoption=adoption)
    directory = Directory(bed)
    directory.make_user("alice", mark=mark("old-uid", "alice", origin=origin))
    directory.make_group("devs", "alice", mark=mark("old-uid-2", "devs", origin=origin))
    bed.user("alice")
    bed.group("devs")
    bed.settle()
    alice, devs = uid(bed, "LldapUser", "alice"), uid(bed, "LldapGroup", "devs")
    assert directory.mark("alice") == mark(alice, "alice", origin=origin)
    assert directory.group_mark("devs") == mark(devs, "devs", origin=origin)
    assert bed.events.reasons().count("TakenBack") == 2
    assert directory.members("devs") == {"alice"}


def test_a_dead_mark_of_another_name_counts_as_none() -> None:
    for adoption, state in ((Adoption.IF_UNPRIVILEGED, "True"), (Adoption.NEVER, "False")):
        bed = Bed(adoption=adoption)
        Directory(bed).make_user("alice", mark=mark("old-uid", "was-alice"))
        bed.user("alice")
        bed.settle()
        assert bed.ready("LldapUser", "alice")[0] == state
        if state == "True":
            assert bed.get("LldapUser", "alice")["status"]["origin"] == "Adopted"


def test_whom_a_dead_mark_names_comes_before_an_older_object(
    bed: Bed, directory: Directory
) -> None:
    directory.make_user("alice", mark=mark("old-uid", "alice", "team-b"))
    bed.user("alice", "team-a")
    bed.clock.advance(5)
    bed.user("alice", "team-b")
    bed.settle()
    assert bed.ready("LldapUser", "alice", "team-b") == ("True", "Verified")
    assert bed.ready("LldapUser", "alice", "team-a") == ("False", "Conflict")


def test_the_api_server_is_asked_only_about_who_is_not_in_the_informer(
    bed: Bed, directory: Directory
) -> None:
    bed.user("alice", "team-a")
    bed.settle()
    bed.clear_logs()
    bed.user("alice", "team-b", email="b@example.org")
    bed.settle()
    assert gets(bed) == []
    directory.make_user("bob", mark=mark("old-uid", "somebody"))
    bed.user("bob")
    bed.run(700)
    assert gets(bed)[:1] == [f"{ALICE}somebody"]


def gets(bed: Bed) -> list[str]:
    """The operator's reads of single users."""
    return [
        "/namespaces/" + answered.call.path.partition("/namespaces/")[2]
        for answered in bed.api_transport.calls
        if answered.call.method == "GET" and ALICE in answered.call.path
    ]


def broken(answer: RawResponse | Exception, bed: Bed) -> None:
    """Let every read of a user in team-a end like that."""

    def before(call: Call) -> RawResponse | None:
        if call.method != "GET" or ALICE not in call.path:
            return None
        if isinstance(answer, Exception):
            raise answer
        return answer

    bed.api_transport.before = before


def status_answer(code: int, body: bytes = b"{}") -> RawResponse:
    return RawResponse(code, HTTPHeaderDict(), body)


UNCLEAR: dict[str, RawResponse | Exception] = {
    "forbidden": status_answer(403),
    "unauthorized": status_answer(401),
    "server fault": status_answer(500),
    "unavailable": status_answer(503),
    "no such resource": status_answer(404, b"404 page not found"),
    "something else in between": status_answer(404, b"<html>not here</html>"),
    "no answer": DeadlineExceeded("no answer in time", sent=True),
}


@pytest.mark.parametrize("what", UNCLEAR)
def test_an_unclear_answer_does_not_make_a_mark_dead(
    bed: Bed, directory: Directory, what: str
) -> None:
    directory.make_user("alice", mark=mark("old-uid", "alice"))
    before = directory.dump()
    broken(UNCLEAR[what], bed)
    bed.user("alice")
    bed.run(30)
    status, reason = bed.ready("LldapUser", "alice")
    assert (status, reason in {"Forbidden", "KubernetesUnavailable"}) == ("False", True)
    assert directory.dump()["user alice"] == before["user alice"]
    broken(status_answer(200), bed)
    bed.start()
    bed.run(400)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_a_namespace_that_is_not_watched_is_never_dead() -> None:
    bed = Bed(namespaces=frozenset({"team-a", "lldap-system"}))
    directory = Directory(bed)
    directory.make_user("alice", mark=mark("old-uid", "alice", "team-b"))
    bed.user("alice", "team-a")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "Conflict")
    assert directory.mark("alice") == mark("old-uid", "alice", "team-b")


def test_a_mark_that_was_left_by_a_change_of_instance_is_dead(
    bed: Bed, directory: Directory
) -> None:
    bed.user("alice", "team-a")
    bed.settle()
    bed.user("alice", "team-a", labels={INSTANCE_LABEL: "other"})
    bed.forge("LldapUser", "alice", None)  # its operator let go of it while lldap was down
    bed.settle()
    bed.user("alice", "team-b")
    bed.settle()
    assert bed.ready("LldapUser", "alice", "team-b") == ("True", "Verified")
    assert directory.mark("alice") == mark(
        uid(bed, "LldapUser", "alice", "team-b"), "alice", "team-b", origin="adopted"
    )


@pytest.mark.parametrize("named", [True, False])
def test_marks_of_a_cluster_count_as_dead_when_it_is_named_as_dead(named: bool) -> None:
    bed = Bed(dead_clusters=frozenset({"old-cluster"} if named else ()))
    directory = Directory(bed)
    directory.make_user("alice", mark=mark("old-uid", "alice", cluster="old-cluster"))
    bed.user("alice")
    bed.settle()
    assert bed.ready("LldapUser", "alice")[0] == str(named)
    text = directory.mark("alice")
    assert text == (
        mark(uid(bed, "LldapUser", "alice"), "alice")
        if named
        else mark("old-uid", "alice", cluster="old-cluster")
    )


def test_a_cluster_that_names_itself_as_dead_takes_nothing_from_the_living() -> None:
    bed = Bed(dead_clusters=frozenset({CLUSTER}))
    bed.user("alice", "team-a")
    bed.settle()
    bed.user("alice", "team-b")
    bed.settle()
    assert bed.ready("LldapUser", "alice", "team-a") == ("True", "Verified")
    assert bed.ready("LldapUser", "alice", "team-b") == ("False", "Conflict")


# --- missing ---------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["created", "adopted"])
def test_a_mark_that_was_removed_is_put_back_with_a_warning(
    bed: Bed, directory: Directory, origin: str
) -> None:
    if origin == "adopted":
        directory.make_user("alice")
    bed.user("alice")
    bed.settle()
    was = directory.mark("alice")
    directory.set_mark("alice", None)
    bed.clear_logs()
    bed.run(700)
    assert (
        directory.mark("alice")
        == was
        == mark(uid(bed, "LldapUser", "alice"), "alice", origin=origin)
    )
    assert bed.mutations() == ["updateUser"]
    assert bed.events.reasons().count("MarkRestored") == 1


def test_a_groups_mark_is_put_back_too(bed: Bed, directory: Directory) -> None:
    bed.group("devs")
    bed.settle()
    was = directory.group_mark("devs")
    directory.set_group_mark("devs", None)
    bed.run(700)
    assert directory.group_mark("devs") == was


def test_without_a_seal_an_unmarked_account_is_nobodys() -> None:
    bed = Bed(adoption=Adoption.NEVER)
    directory = Directory(bed)
    bed.start(hash_key=None)
    bed.user("alice")
    bed.settle()
    directory.set_mark("alice", None)
    bed.run(700)
    assert bed.ready("LldapUser", "alice") == ("False", "NotAdopted")
    assert directory.mark("alice") is None


def test_the_sealed_record_of_an_account_says_nothing_of_its_namesake() -> None:
    bed = Bed(adoption=Adoption.NEVER)
    directory = Directory(bed)
    bed.user("alice")
    bed.settle()
    directory.delete_user("alice")
    directory.make_user("alice")
    bed.run(700)
    assert bed.ready("LldapUser", "alice") == ("False", "NotAdopted")
    assert directory.mark("alice") is None


def test_no_mark_is_put_back_while_the_object_is_being_deleted(
    bed: Bed, directory: Directory
) -> None:
    bed.user("alice", deletionPolicy="Retain")
    bed.user("bob", deletionPolicy="Delete")
    bed.settle()
    for name in ("alice", "bob"):
        directory.set_mark(name, None)
        bed.delete("LldapUser", name)
    bed.settle()
    assert directory.mark("alice") is None
    assert directory.has_user("alice")
    assert not directory.has_user("bob")
    assert "MarkRestored" not in bed.events.reasons()


def test_a_plain_user_who_removes_the_mark_gains_and_loses_nothing(
    bed: Bed, directory: Directory
) -> None:
    bed.user("alice", displayName="Alice")
    bed.group("devs")
    bed.membership("alice", "devs")
    bed.settle()
    directory.set_mark("alice", None)
    bed.user("alice", "team-b", email="mallory@example.org")  # an accomplice asks for the account
    bed.run(700)
    alice = directory.user("alice")
    assert alice is not None
    assert alice.columns["mail"] == "alice@example.org"
    assert bed.ready("LldapUser", "alice", "team-b") == ("False", "Conflict")
    assert bed.ready("LldapMembership", "alice-devs") == ("True", "Verified")
    directory.set_mark("alice", None)
    bed.delete("LldapUser", "alice")
    bed.settle()
    assert directory.user("alice") != alice


# --- invitations ---------------------------------------------------------------------------


@pytest.mark.parametrize("adoption", Adoption)
def test_an_invitation_counts_for_its_object_alone_under_any_setting(adoption: Adoption) -> None:
    bed = Bed(adoption=adoption)
    directory = Directory(bed)
    directory.make_user("alice", mark="invite default team-b/alice")
    bed.user("alice", "team-a")
    bed.settle()
    assert bed.ready("LldapUser", "alice", "team-a") == ("False", "Conflict")
    assert "team-b/alice" in bed.message("LldapUser", "alice", "team-a")
    bed.clock.advance(5)
    bed.user("alice", "team-b")
    bed.settle()
    assert bed.ready("LldapUser", "alice", "team-b") == ("True", "Verified")
    assert bed.get("LldapUser", "alice", "team-b")["status"]["origin"] == "Adopted"


def test_an_invitation_of_another_instance_is_for_nobody_here(
    bed: Bed, directory: Directory
) -> None:
    directory.make_user("alice", mark="invite other team-a/alice")
    bed.user("alice")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "Conflict")


def test_a_group_with_members_can_be_given_by_an_invitation(bed: Bed, directory: Directory) -> None:
    directory.make_user("root", "lldap_admin")
    directory.make_group("treasure", "root")
    bed.group("treasure")
    bed.settle()
    assert bed.ready("LldapGroup", "treasure") == ("False", "NotAdopted")
    assert '"invite default team-a/treasure"' in bed.message("LldapGroup", "treasure")
    directory.set_group_mark("treasure", "invite default team-a/treasure")
    bed.run(700)
    assert bed.ready("LldapGroup", "treasure") == ("True", "Verified")


# --- another's -------------------------------------------------------------------------------

FOREIGN = {
    "another cluster's": mark("uid-9", "ceo", "hr", cluster="cluster-2"),
    "another cluster's of this very name": mark("uid-9", "alice", cluster="cluster-2"),
    "another instance's": mark("uid-9", "alice", instance="other"),
    "unknown": "property of the board",
}


@pytest.mark.parametrize("whose", FOREIGN)
@pytest.mark.parametrize("adoption", Adoption)
def test_anothers_account_is_a_conflict_and_nothing_is_written(
    adoption: Adoption, whose: str
) -> None:
    bed = Bed(adoption=adoption, namespaces=None)
    directory = Directory(bed)
    directory.make_user("alice", mark=FOREIGN[whose])
    directory.make_group("devs", mark=FOREIGN[whose])
    before = directory.dump()
    bed.user("alice")
    bed.group("devs")
    bed.run(700)
    for kind, name in (("LldapUser", "alice"), ("LldapGroup", "devs")):
        assert bed.ready(kind, name) == ("False", "Conflict")
        bed.delete(kind, name)
    bed.settle()
    assert not bed.exists("LldapUser", "alice")
    assert directory.dump() == before


def test_a_conflict_names_the_other_cluster_and_object(bed: Bed, directory: Directory) -> None:
    directory.make_user("alice", mark=FOREIGN["another cluster's"])
    bed.user("alice")
    bed.settle()
    message = bed.message("LldapUser", "alice")
    assert "hr/ceo" in message
    assert "cluster-2" in message
    assert "LLDAP_DEAD_CLUSTERS" in message


def test_a_plan_of_a_dry_run_says_the_same_and_calls_nothing(
    bed: Bed, directory: Directory
) -> None:
    directory.make_user("alice", mark=FOREIGN["another cluster's"])
    bed.user("alice", annotations={DRY_RUN_ANNOTATION: "true"})
    bed.settle()
    assert "Conflict" in bed.message("LldapUser", "alice")
    assert bed.mutations() == []
