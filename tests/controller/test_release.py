"""`lldap-operator release`: objects and accounts are let go, and both stay."""

from typing import Any

import pytest

from controller.api import KINDS, LLDAP_GROUP, LLDAP_USER, MARK_ATTRIBUTE
from controller.configuration.rules import Rules
from controller.release.marks import MarkRemoval
from controller.release.release import Release
from informers import RestClient, StatusError
from lldap import Credentials, Session
from lldap.passwords import OwnCredentials
from sandbox.lldap.faults import ConnectionLostError, on, refuse
from sandbox.lldap.transport import InProcessTransport as LldapTransport
from tests.support.bed import ADMIN_PASSWORD, CLUSTER, Bed

Lines = list[str]


@pytest.fixture
def bed() -> Bed:
    """Objects of all kinds that are Ready, and an operator that is gone."""
    bed = Bed()
    bed.schema("badge")
    bed.user("alice", attributes=[{"name": "badge", "value": ["7"]}])
    bed.user("bob", namespace="team-b")
    bed.group("staff")
    bed.membership("alice", "staff")
    bed.run(15)
    for kind, name in OBJECTS:
        assert bed.ready(kind, name) == ("True", "Verified")
    bed.clear_logs()
    return bed


OBJECTS = [
    ("LldapAttributeSchema", "user-badge"),
    ("LldapUser", "alice"),
    ("LldapGroup", "staff"),
    ("LldapMembership", "alice-staff"),
]


def release(
    bed: Bed, namespace: str | None = None, *, instance: str = "default", dry_run: bool = False
) -> tuple[Release, int, Lines]:
    lines: Lines = []
    command = Release(bed.admin, instance, lines.append)
    return command, command.run(namespace, dry_run=dry_run), lines


def marks(bed: Bed, **rules: Any) -> tuple[MarkRemoval, Lines]:
    own = OwnCredentials(lambda: Credentials("admin", ADMIN_PASSWORD))
    transport = LldapTransport(bed.lldap, caller="release")
    session = Session(transport, own, clock=bed.clock, call_seconds=8.0)
    whole = {"instance": "default", "cluster": CLUSTER, "own_user": "admin"} | rules
    lines: Lines = []
    of = Rules(virtual_group_namespace="lldap-system", **whole)
    return MarkRemoval(session, of, clock=bed.clock, say=lines.append), lines


def mutations(bed: Bed) -> list[str]:
    words = ("create", "update", "delete", "add", "remove")
    return [
        entry.call.operation for entry in bed.lldap.log if entry.call.operation.startswith(words)
    ]


def marked(bed: Bed) -> set[str]:
    with bed.lldap.database() as store:
        state = store.state
        return {
            str(key)
            for table in (state.users, state.groups)
            for key, row in table.rows.items()
            if MARK_ATTRIBUTE in row.attributes
        }


def test_every_object_loses_finalizer_and_status_and_stays(bed: Bed) -> None:
    command, count, lines = release(bed)

    assert command.failed == 0
    for kind, name in [*OBJECTS, ("LldapUser", "bob")]:
        namespace = "team-b" if name == "bob" else "team-a"
        obj = bed.get(kind, name, namespace)
        assert not obj["metadata"].get("finalizers")
        assert not obj.get("status")
        assert f"{kind} {namespace}/{name} released" in lines
    # The three objects of the built-in groups had a status too.
    assert count == len(lines) == len(OBJECTS) + 1 + 3
    assert mutations(bed) == []


def test_a_second_time_nothing_is_left_to_do(bed: Bed) -> None:
    release(bed)
    before = bed.get("LldapUser", "alice")
    assert release(bed)[1] == 0
    assert bed.get("LldapUser", "alice") == before


def test_objects_that_are_being_deleted_go(bed: Bed) -> None:
    for kind, name in OBJECTS:
        bed.delete(kind, name)
        assert bed.exists(kind, name)
    release(bed)
    assert not [name for kind, name in OBJECTS if bed.exists(kind, name)]
    assert mutations(bed) == []


def test_of_one_namespace_the_others_stay_as_they_are(bed: Bed) -> None:
    before = bed.get("LldapUser", "alice")
    _, count, lines = release(bed, "team-b")
    assert (count, lines) == (1, ["LldapUser team-b/bob released"])
    assert bed.get("LldapUser", "alice") == before


def test_a_dry_run_says_the_same_and_writes_nothing(bed: Bed) -> None:
    before = bed.get("LldapUser", "alice")
    command, count, lines = release(bed, dry_run=True)
    assert count == len(OBJECTS) + 4
    assert "LldapUser team-a/alice would be released" in lines
    assert bed.get("LldapUser", "alice") == before
    assert command.failed == 0
    removal, said = marks(bed)
    assert removal.run(None, dry_run=True) == 3
    assert "user alice in lldap would lose the mark of team-a/alice" in said
    assert mutations(bed) == []


def test_finalizers_and_conditions_of_others_stay(bed: Bed) -> None:
    path = bed.path("LldapUser", "team-a", "alice")
    merge = "application/merge-patch+json"
    ours = bed.get("LldapUser", "alice")["metadata"]["finalizers"]
    bed.admin.patch(
        path, {"metadata": {"finalizers": ["example.org/theirs", *ours]}}, content_type=merge
    )
    theirs = {
        "type": "Audited",
        "status": "True",
        "reason": "Theirs",
        "message": "m",
        "lastTransitionTime": "2030-01-01T00:00:00Z",
    }
    body = {
        "apiVersion": "lldap-operator.lukidoescode.com/v1alpha1",
        "kind": "LldapUser",
        "metadata": {"name": "alice", "namespace": "team-a"},
        "status": {"conditions": [theirs]},
    }
    apply = "application/apply-patch+yaml"
    bed.admin.patch(f"{path}/status", body, content_type=apply, field_manager="auditor")

    release(bed)

    alice = bed.get("LldapUser", "alice")
    assert alice["metadata"]["finalizers"] == ["example.org/theirs"]
    assert alice["status"] == {"conditions": [theirs]}


def test_objects_of_another_instance_are_not_touched(bed: Bed) -> None:
    other = {"lldap-operator.lukidoescode.com/lldap-instance": "other"}
    bed.user("carol", labels=other)
    path = bed.path("LldapUser", "team-a", "carol")
    merge = "application/merge-patch+json"
    held = {"metadata": {"finalizers": [LLDAP_USER.finalizer]}}
    bed.admin.patch(path, held, content_type=merge)
    bed.admin.patch(f"{path}/status", {"status": {"instance": "other"}}, content_type=merge)

    release(bed)
    assert bed.get("LldapUser", "carol")["metadata"]["finalizers"] == [LLDAP_USER.finalizer]
    assert release(bed, instance="other")[1] == 1
    assert not bed.get("LldapUser", "carol")["metadata"].get("finalizers")


def test_an_object_of_no_instance_any_more_is_let_go(bed: Bed) -> None:
    path = bed.path("LldapGroup", "team-a", "staff")
    merge = "application/merge-patch+json"
    bed.admin.patch(path, {"metadata": {"labels": None}}, content_type=merge)
    bed.admin.patch(f"{path}/status", {"status": None}, content_type=merge)
    release(bed)
    assert not bed.get("LldapGroup", "staff")["metadata"].get("finalizers")


def test_an_object_that_another_instance_left_behind_is_freed_for_ours(bed: Bed) -> None:
    path = bed.path("LldapUser", "team-a", "alice")
    merge = "application/merge-patch+json"
    bed.admin.patch(f"{path}/status", {"status": {"instance": "gone"}}, content_type=merge)
    release(bed, "team-a")
    assert not bed.get("LldapUser", "alice")["metadata"].get("finalizers")


def test_a_kind_that_is_not_served_holds_nothing_up(bed: Bed) -> None:
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    release(bed)
    for kind in KINDS:
        bed.admin.delete(f"{definitions}/{kind.crd_name}")
    bed.clock.advance(10)
    bed.api.step()
    assert release(bed)[1] == 0


def test_what_the_api_server_refuses_is_counted_and_the_rest_goes_on(bed: Bed) -> None:
    lines: Lines = []
    command = Release(Refusing(bed.admin, "/lldapusers/alice"), "default", lines.append)  # type: ignore[arg-type]
    assert command.run(None, dry_run=False) == len(OBJECTS) + 3
    assert command.failed == 1
    assert [line for line in lines if "alice is not released" in line]
    assert command.taken_up_again(None) == 1


class Refusing:
    """A REST client whose writes to one path are refused."""

    def __init__(self, rest: RestClient, path: str) -> None:
        self._rest = rest
        self._path = path

    def get(self, path: str, **options: Any) -> Any:
        return self._rest.get(path, **options)

    def patch(self, path: str, body: Any, **options: Any) -> Any:
        if self._path in path:
            raise StatusError(403, "Forbidden", "no")
        return self._rest.patch(path, body, **options)


def test_an_operator_that_runs_all_the_same_is_noticed(bed: Bed) -> None:
    command, _, _ = release(bed)
    assert command.taken_up_again(None) == 0
    bed.run(15)
    assert command.taken_up_again(None) > 0


# --- lldap -----------------------------------------------------------------------------------


def test_marks_go_and_nothing_else_changes_in_lldap(bed: Bed) -> None:
    before = bed.lldap.snapshot()
    removal, lines = marks(bed)

    assert removal.run(None, dry_run=False) == 3
    assert removal.failed == 0
    assert removal.unreachable is None
    assert marked(bed) == set()
    assert lines == [
        "user alice in lldap lost the mark of team-a/alice",
        "user bob in lldap lost the mark of team-b/bob",
        "group staff in lldap lost the mark of team-a/staff",
    ]
    after = bed.lldap.snapshot()
    for table in ("users", "groups"):
        for key, row in getattr(before, table).rows.items():
            row.attributes.pop(MARK_ATTRIBUTE, None)
            now = getattr(after, table).rows[key]
            assert (now.attributes, now.links, now.password) == (
                row.attributes,
                row.links,
                row.password,
            )


def test_marks_of_one_namespace(bed: Bed) -> None:
    removal, _ = marks(bed)
    assert removal.run("team-b", dry_run=False) == 1
    assert "bob" not in marked(bed)
    assert "alice" in marked(bed)


@pytest.mark.parametrize("rules", [{"instance": "other"}, {"cluster": "another"}])
def test_marks_of_other_instances_and_clusters_stay(bed: Bed, rules: dict[str, str]) -> None:
    removal, lines = marks(bed, **rules)
    assert removal.run(None, dry_run=False) == 0
    assert lines == []
    assert mutations(bed) == []


def test_a_mark_that_changed_since_the_bulk_read_stays(bed: Bed) -> None:
    def changes(call: Any, forward: Any) -> Any:
        with bed.lldap.database() as store:
            store.state.users.rows["alice"].attributes[MARK_ATTRIBUTE] = ["invite default x/y"]
        return forward(call)

    bed.lldap.hooks.append(on("user", changes))
    removal, _ = marks(bed)
    assert removal.run("team-a", dry_run=False) == 1
    assert "alice" in marked(bed)


def test_an_lldap_that_is_gone_holds_nothing_up(bed: Bed) -> None:
    bed.lldap.hooks.append(refuse)
    removal, _ = marks(bed)
    assert removal.run(None, dry_run=False) == 0
    assert removal.unreachable is not None
    assert removal.failed == 0
    assert release(bed)[1] == len(OBJECTS) + 4


def test_an_lldap_that_goes_in_between_ends_the_removal_of_marks(bed: Bed) -> None:
    def goes(_call: Any, _forward: Any) -> Any:
        bed.lldap.hooks.insert(0, refuse)
        raise ConnectionLostError(sent=True)

    bed.lldap.hooks.append(on("updateUser", goes))
    removal, _ = marks(bed)
    assert removal.run(None, dry_run=False) == 0
    assert removal.unreachable is not None
    assert "staff" not in str(removal.unreachable)


def test_what_is_released_can_be_taken_up_again(bed: Bed) -> None:
    release(bed)
    marks(bed)[0].run(None, dry_run=False)
    bed.start()
    bed.run(30)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    # A group that has members is adopted from the operator's own namespace only.
    assert bed.ready("LldapGroup", "staff") == ("False", "NotAdopted")
    assert LLDAP_GROUP.finalizer in bed.get("LldapGroup", "staff")["metadata"]["finalizers"]
