"""An uninstall deletes objects too: it empties nothing in lldap, and hangs on nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from urllib3 import HTTPHeaderDict

from controller.api import DRY_RUN_ANNOTATION, KINDS
from informers import DeadlineExceeded
from informers.transport import RawResponse
from sandbox.apiserver.transport import Call
from sandbox.lldap.faults import refuse
from tests.support.bed import Bed
from tests.support.directory import Directory

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAMESPACE = "/api/v1/namespaces/lldap-system"
USERS = ("alice", "bob", "carol")


@pytest.fixture
def bed() -> Bed:
    bed = Bed()
    fill(bed)
    return bed


def fill(bed: Bed) -> None:
    """Objects of all kinds that all say Delete; dan is in dry-run by now."""
    for name in USERS:
        bed.user(name, deletionPolicy="Delete")
    bed.user("dan")
    bed.group("devs", deletionPolicy="Delete")
    bed.membership("alice", "devs", deletionPolicy="Delete")
    bed.schema("costcenter", deletionPolicy="Delete")
    bed.settle()
    bed.user("erin", attributes=[{"name": "costcenter", "value": ["7"]}])
    bed.user("dan", annotations={DRY_RUN_ANNOTATION: "true"})
    bed.settle()
    assert bed.ready("LldapUser", "erin") == ("True", "Verified")


def delete_crds(bed: Bed) -> None:
    for kind in KINDS:
        bed.admin.delete(f"{CRDS}/{kind.crd_name}")


def content(directory: Directory) -> dict[str, Any]:
    """What people have in lldap, without the marks and dates that letting go changes."""
    kept = {}
    for name, row in directory.dump().items():
        if isinstance(row, dict):
            attributes = {k: v for k, v in row["attributes"].items() if k != "kubernetes-owner"}
            columns = {k: v for k, v in row["columns"].items() if k != "modified_date"}
            kept[name] = (columns, attributes, row["links"], row["password"])
        else:
            kept[name] = row
    return kept


def left(bed: Bed) -> list[str]:
    found = []
    for kind in KINDS:
        path = f"/apis/lldap-operator.lukidoescode.com/v1alpha1/{kind.plural}"
        answer = bed.api_transport.request("GET", path, timeout=8.0)
        if answer.status == 200:
            found += [item["metadata"]["name"] for item in bed.admin.get(path)["items"]]
    return found


def test_deleting_the_crds_empties_nothing(bed: Bed) -> None:
    before = content(Directory(bed))
    delete_crds(bed)
    bed.run(120, step=5)
    assert left(bed) == []
    assert content(Directory(bed)) == before


def test_deleting_the_operators_namespace_empties_nothing(bed: Bed) -> None:
    before = content(Directory(bed))
    bed.user("frank", "lldap-system", deletionPolicy="Delete")
    bed.settle()
    bed.admin.delete(NAMESPACE)
    for name in USERS:
        bed.delete("LldapUser", name)
    bed.delete("LldapGroup", "devs")
    bed.run(120, step=5)
    assert not any(bed.exists("LldapUser", name) for name in USERS)
    assert not bed.exists("LldapUser", "frank", "lldap-system")
    after = content(Directory(bed))
    assert "user frank" in after
    assert {name: after[name] for name in before} == before


def test_an_uninstall_does_not_wait_for_lldap(bed: Bed) -> None:
    before = Directory(bed).dump()
    bed.lldap.hooks[:] = [refuse]
    delete_crds(bed)
    bed.run(120, step=5)
    assert left(bed) == []
    assert Directory(bed).dump() == before


def test_an_uninstall_while_the_operator_was_down_empties_nothing(bed: Bed) -> None:
    before = content(Directory(bed))
    delete_crds(bed)
    for _ in range(5):
        bed.api.step()
    bed.start()
    bed.run(120, step=5)
    assert left(bed) == []
    assert content(Directory(bed)) == before


def test_an_uninstall_of_many_waits_for_no_brake() -> None:
    bed = Bed()
    bed.start(max_deletions_per_minute=2)
    fill(bed)
    delete_crds(bed)
    bed.run(15)
    assert left(bed) == []


def test_deleting_a_namespace_of_objects_does_what_they_say(bed: Bed) -> None:
    directory = Directory(bed)
    bed.user("dan", annotations={})
    bed.admin.delete("/api/v1/namespaces/team-a")
    bed.run(120, step=5)
    assert left(bed) == [
        "default--lldap-admin",
        "default--lldap-password-manager",
        "default--lldap-strict-readonly",
    ]
    assert not any(directory.has_user(name) for name in USERS)
    assert not directory.has_group("devs")


def test_a_namespace_may_come_back_with_the_same_objects() -> None:
    """The operator watches two namespaces by name; one is deleted and made again."""
    bed = Bed(namespaces=frozenset({"team-a", "team-b", "lldap-system"}))
    directory = Directory(bed)
    bed.user("alice", "team-b")
    bed.group("devs", "team-b")
    bed.membership("alice", "devs", "team-b")
    bed.settle()
    old = directory.uuid("alice")
    bed.admin.delete("/api/v1/namespaces/team-b")
    bed.run(30)
    assert not directory.has_user("alice")
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-b"}}
    bed.admin.post("/api/v1/namespaces", body)
    bed.user("alice", "team-b")
    bed.group("devs", "team-b")
    bed.membership("alice", "devs", "team-b")
    bed.run(30)
    assert bed.ready("LldapMembership", "alice-devs", "team-b") == ("True", "Verified")
    assert directory.uuid("alice") != old
    assert directory.members("devs") == {"alice"}


# --- answers that are not clear ----------------------------------------------------------------

UNCLEAR: dict[str, RawResponse | Exception] = {
    "forbidden": RawResponse(403, HTTPHeaderDict(), b"{}"),
    "server fault": RawResponse(500, HTTPHeaderDict(), b"{}"),
    "html": RawResponse(404, HTTPHeaderDict(), b"<html>"),
    "garbage": RawResponse(200, HTTPHeaderDict(), b"[]"),
    "half": RawResponse(200, HTTPHeaderDict(), b'{"metadata": {'),
    "no answer": DeadlineExceeded("no answer in time", sent=True),
}


def answering(answer: RawResponse | Exception, path: str) -> Callable[[Call], RawResponse | None]:
    def before(call: Call) -> RawResponse | None:
        if call.method != "GET" or not call.path.startswith(path):
            return None
        if isinstance(answer, Exception):
            raise answer
        return answer

    return before


@pytest.mark.parametrize("path", [CRDS, NAMESPACE])
@pytest.mark.parametrize("what", UNCLEAR)
def test_an_unclear_answer_makes_a_deletion_wait(bed: Bed, what: str, path: str) -> None:
    directory = Directory(bed)
    bed.api_transport.before = answering(UNCLEAR[what], path)
    bed.clear_logs()
    bed.delete("LldapUser", "alice")
    bed.delete("LldapGroup", "devs")
    bed.delete("LldapMembership", "alice-devs")
    bed.run(60)
    for kind, name in (
        ("LldapUser", "alice"),
        ("LldapGroup", "devs"),
        ("LldapMembership", "alice-devs"),
    ):
        assert bed.ready(kind, name) == ("False", "Deleting")
    assert bed.mutations() == []
    assert directory.members("devs") == {"alice"}
    bed.api_transport.before = lambda _call: None
    bed.run(60)
    assert not directory.has_user("alice")
    assert not directory.has_group("devs")


def test_a_namespace_that_is_not_there_makes_a_deletion_wait() -> None:
    bed = Bed()
    bed.start(own_namespace="elsewhere")
    bed.user("alice")
    bed.settle()
    bed.delete("LldapUser", "alice")
    bed.run(60)
    assert bed.ready("LldapUser", "alice") == ("False", "Deleting")
    assert "elsewhere" in bed.message("LldapUser", "alice")
    assert Directory(bed).has_user("alice")


def test_both_are_asked_right_before_each_deletion(bed: Bed) -> None:
    bed.clear_logs()
    order: list[str] = []

    def api(call: Call) -> RawResponse | None:
        if call.path.startswith((CRDS, NAMESPACE)) and "lldapgroups" not in call.path[40:]:
            order.append(call.path.rpartition("/")[2])
        return None

    def lldap(call: Any, forward: Any) -> Any:
        if call.operation in {"deleteUser", "deleteGroup"}:
            order.append(call.operation)
        return forward(call)

    bed.delete("LldapUser", "bob")
    bed.settle()
    bed.api_transport.before = api
    bed.lldap.hooks.append(lldap)
    bed.delete("LldapUser", "carol")
    bed.settle()
    assert order[-3:] == [
        "lldapusers.lldap-operator.lukidoescode.com",
        "lldap-system",
        "deleteUser",
    ]
