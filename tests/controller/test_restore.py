"""Objects out of a backup: other uids, no status. lldap stays as it is, but for the marks."""

from typing import Any

import pytest

from controller.api import KINDS
from controller.configuration.values import Adoption
from controller.harness.resource import Object
from sandbox.lldap.store import State
from tests.support.bed import CLUSTER, Bed
from tests.support.directory import Directory, mark

SECRET = {"name": "pw", "key": "password"}
LOGINS = {"alice": "first-password", "bob": "first-password", "carol": "carols-own-password"}
NAMES = {"LldapUser": ("alice", "bob", "carol", "old"), "LldapGroup": ("devs", "hand")}


def fill(bed: Bed) -> None:
    """All kinds, created and adopted, every password policy; carol changed her own password."""
    directory = Directory(bed)
    directory.make_user("old")
    directory.make_group("hand")
    bed.secret("pw", b"first-password")
    bed.schema("costcenter")
    for name, policy in (("alice", "Manage"), ("bob", "InitialOnly"), ("carol", "InitialOnly")):
        bed.user(
            name,
            passwordPolicy=policy,
            passwordSecretRef=SECRET,
            displayName=name.title(),
            attributes=[{"name": "costcenter", "value": ["7"]}],
        )
    bed.user("old")
    bed.group("devs")
    bed.group("hand")
    bed.membership("alice", "devs")
    bed.membership("old", "hand")
    bed.settle()
    bed.run(35)
    bed.lldap.set_password("carol", LOGINS["carol"])
    bed.run(700)
    assert ready(bed)


def backup(bed: Bed) -> list[Object]:
    """What a tool that knows nothing of us keeps: manifests, finalizers among them."""
    kept = []
    for kind in KINDS:
        path = f"/apis/lldap-operator.lukidoescode.com/v1alpha1/{kind.plural}"
        for item in bed.admin.get(path)["items"]:
            if item["metadata"]["namespace"] == "team-a":
                names = ("name", "namespace", "labels", "annotations", "finalizers")
                metadata = {k: v for k, v in item["metadata"].items() if k in names}
                kept.append({**item, "kind": kind.kind, "metadata": metadata, "status": {}})
    return kept


def restore(bed: Bed, objects: list[Object]) -> None:
    """Put them back, the dependents first."""
    bed.secret("pw", b"first-password")
    for obj in reversed(objects):
        body: dict[str, Any] = {k: v for k, v in obj.items() if k != "status"}
        body["apiVersion"] = "lldap-operator.lukidoescode.com/v1alpha1"
        bed.admin.post(bed.path(obj["kind"], "team-a"), body)


def lose(bed: Bed, objects: list[Object]) -> None:
    """The objects go without any finalizer having its way, as with a lost etcd."""
    for obj in objects:
        name = obj["metadata"]["name"]
        bed.admin.patch(
            bed.path(obj["kind"], "team-a", name),
            {"metadata": {"finalizers": None}},
            content_type="application/merge-patch+json",
        )
        bed.delete(obj["kind"], name)


def ready(bed: Bed) -> bool:
    states = [bed.ready(obj["kind"], obj["metadata"]["name"]) for obj in backup(bed)]
    assert len(states) == 9
    return all(state == ("True", "Verified") for state in states)


def people(bed: Bed) -> dict[str, Any]:
    """All that matters to people: everything but the marks and the dates of changes."""
    kept: dict[str, Any] = {}
    for name, row in Directory(bed).dump().items():
        if isinstance(row, dict):
            attributes = {k: v for k, v in row["attributes"].items() if k != "kubernetes-owner"}
            columns = {k: v for k, v in row["columns"].items() if k != "modified_date"}
            kept[name] = columns, attributes, row["links"], row["password"]
        else:
            kept[name] = row
    return kept


def check(bed: Bed, before: dict[str, Any]) -> None:
    assert ready(bed)
    assert people(bed) == before  # ids, uuids, members, passwords and their dates
    assert sorted(bed.mutations()) == ["updateGroup"] * 2 + ["updateUser"] * 4  # a mark each
    assert not any("register" in operation for operation in bed.operations())
    directory = Directory(bed)
    for kind, names in NAMES.items():
        read = directory.mark if kind == "LldapUser" else directory.group_mark
        for name in names:
            uid = bed.get(kind, name)["metadata"]["uid"]
            origin = "adopted" if name in {"old", "hand"} else "created"
            cluster = bed.operator.instance.rules.cluster
            assert read(name) == mark(uid, name, origin=origin, cluster=cluster)
            assert bed.get(kind, name)["status"]["origin"].lower() == origin
    for name, password in LOGINS.items():
        assert bed.login(name, password) == 200


@pytest.mark.parametrize("adoption", Adoption)
@pytest.mark.parametrize("running", [True, False])
def test_objects_restored_into_the_same_cluster_take_everything_back(
    running: bool, adoption: Adoption
) -> None:
    bed = Bed()
    fill(bed)
    before, objects = people(bed), backup(bed)
    lose(bed, objects)
    if running:
        bed.settle()
    bed.clock.advance(3600)
    restore(bed, objects)
    bed.start(rules={"adoption": adoption})
    bed.clear_logs()
    bed.run(35)
    check(bed, before)
    bed.clear_logs()
    bed.run(700)
    assert bed.mutations() == []


@pytest.mark.parametrize("adoption", Adoption)
def test_objects_restored_into_a_new_cluster_take_everything_back(adoption: Adoption) -> None:
    old = Bed()
    fill(old)
    before, objects = people(old), backup(old)
    state: State = old.lldap.snapshot()

    new = Bed(cluster="cluster-2", dead_clusters=frozenset({CLUSTER}), adoption=adoption)
    new.lldap.restore(state)
    new.clock.advance(7200)
    restore(new, objects)
    new.start()
    new.clear_logs()
    new.run(35)
    check(new, before)


def test_without_the_word_that_the_old_cluster_is_dead_nothing_is_taken() -> None:
    old = Bed()
    fill(old)
    state, objects = old.lldap.snapshot(), backup(old)
    new = Bed(cluster="cluster-2", adoption=Adoption.ALWAYS)
    new.lldap.restore(state)
    restore(new, objects)
    new.start()
    before = Directory(new).dump()
    new.run(35)
    for kind, names in NAMES.items():
        for name in names:
            assert new.ready(kind, name) == ("False", "Conflict")
    assert Directory(new).dump() == before


def test_wiped_statuses_change_nothing_in_lldap() -> None:
    """The objects survive and lose their status, as with a CRD that was installed anew."""
    bed = Bed()
    fill(bed)
    before = Directory(bed).dump()
    for obj in backup(bed):
        bed.forge(obj["kind"], obj["metadata"]["name"], None)
    bed.start()
    bed.clear_logs()
    bed.run(700)
    assert ready(bed)
    assert bed.mutations() == []
    assert Directory(bed).dump() == before


def test_after_a_restore_what_was_adopted_is_still_retained() -> None:
    bed = Bed()
    fill(bed)
    objects = backup(bed)
    lose(bed, objects)
    bed.settle()
    restore(bed, objects)
    bed.run(35)
    for kind, name in (("LldapUser", "old"), ("LldapUser", "alice"), ("LldapGroup", "hand")):
        bed.delete(kind, name)
    bed.run(35)
    directory = Directory(bed)
    assert directory.has_user("old")
    assert directory.has_group("hand")
    assert not directory.has_user("alice")
