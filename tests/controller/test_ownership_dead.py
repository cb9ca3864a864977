"""Dead marks: what the API server says is gone, and what it does not say."""

import pytest
from urllib3 import HTTPHeaderDict

from controller.api import INSTANCE_LABEL, LLDAP_USER
from controller.configuration.values import Adoption
from controller.ownership.mark import Mark, parse
from informers import DeadlineExceeded
from informers.transport import RawResponse
from sandbox.apiserver.transport import Call
from sandbox.lldap.faults import refuse
from tests.support.bed import CLUSTER, Bed
from tests.support.directory import Directory, mark

ALICE = "/namespaces/team-a/lldapusers/"


def uid(bed: Bed, kind: str, name: str, namespace: str = "team-a") -> str:
    return str(bed.get(kind, name, namespace)["metadata"]["uid"])


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


def test_who_lives_by_the_api_servers_word_is_not_dead_though_no_informer_has_it(bed: Bed) -> None:
    bed.settle()
    bed.user("alice")  # and the watch does not tell of it yet
    found = parse(mark(uid(bed, "LldapUser", "alice"), "alice"))
    assert isinstance(found, Mark)
    ownership = bed.operator.instance.ownership
    assert ownership.seems_dead(LLDAP_USER, found)
    assert not ownership.dead(LLDAP_USER, found)
    bed.delete("LldapUser", "alice")
    assert ownership.dead(LLDAP_USER, found)


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
    bed.lldap.hooks[:] = [refuse]
    bed.user("alice", "team-a", labels={INSTANCE_LABEL: "other"})
    bed.settle()
    bed.lldap.hooks.clear()
    assert not bed.get("LldapUser", "alice").get("status")
    assert directory.mark("alice") is not None
    bed.user("alice", "team-b")
    bed.run(30)
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
