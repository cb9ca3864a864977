"""Several instances, clusters and operators: none takes from another."""

from typing import Any

import pytest

from controller.api import INSTANCE_LABEL
from controller.configuration.values import Adoption
from sandbox.lldap.faults import refuse
from tests.support.bed import Bed
from tests.support.beds import BesideBed, another_lldap, run, settle
from tests.support.directory import Directory, mark


def labelled(instance: str) -> dict[str, Any]:
    return {"labels": {INSTANCE_LABEL: instance}}


def uid(bed: Bed, kind: str, name: str, namespace: str = "team-a") -> str:
    return str(bed.get(kind, name, namespace)["metadata"]["uid"])


def on_one_clock() -> tuple[Bed, Bed]:
    """Two clusters, each with an lldap of its own, in one time."""
    one, other = Bed(), Bed(seed=2)
    other.clock = one.clock
    return one, other


# --- two instances in one cluster ------------------------------------------------------------


def test_two_instances_on_one_lldap_never_touch_each_others_accounts() -> None:
    """Badly set up: both serve the same lldap. Still the first one keeps what it has."""
    bed = Bed(adoption=Adoption.ALWAYS)
    other = BesideBed(bed, "other", instance="other", adoption=Adoption.ALWAYS)
    directory = Directory(bed)
    bed.user("alice", "team-a")
    bed.group("devs", "team-a")
    settle(bed, other)
    before = directory.dump()
    bed.user("alice", "team-b", email="b@example.org", **labelled("other"))
    bed.apply("LldapGroup", "devs", {"displayName": "devs"}, "team-b", **labelled("other"))
    run(700, bed, other)
    for kind, name in (("LldapUser", "alice"), ("LldapGroup", "devs")):
        assert bed.ready(kind, name, "team-b") == ("False", "Conflict")
        assert bed.ready(kind, name, "team-a") == ("True", "Verified")
        bed.delete(kind, name, "team-b")
    settle(bed, other)
    assert directory.dump() == before
    assert other.mutations() == []


def test_two_instances_leave_each_others_objects_alone() -> None:
    bed = Bed()
    second = another_lldap()
    other = BesideBed(bed, "other", lldap=second, instance="other")
    bed.user("alice", "team-a")
    bed.user("bob", "team-a", **labelled("other"))
    bed.user("carol", "team-a", **labelled("third"))
    settle(bed, other)
    assert Directory(bed).has_user("alice")
    assert not Directory(bed).has_user("bob")
    assert Directory(other).has_user("bob")
    assert not Directory(other).has_user("alice")
    assert bed.get("LldapUser", "carol").get("status") is None
    assert not any("bob" in path or "carol" in path for _, path in bed.api_writes())
    assert not any("alice" in path or "carol" in path for _, path in other.api_writes())


def test_objects_of_two_instances_are_no_rivals() -> None:
    bed = Bed()
    second = another_lldap()
    other = BesideBed(bed, "other", lldap=second, instance="other")
    bed.user("alice", "team-a")
    bed.user("alice", "team-b", **labelled("other"))
    settle(bed, other)
    for namespace in ("team-a", "team-b"):
        assert bed.ready("LldapUser", "alice", namespace) == ("True", "Verified")


# --- two clusters on one lldap -----------------------------------------------------------------


@pytest.mark.parametrize("adoption", Adoption)
def test_two_clusters_on_one_lldap_never_take_from_each_other(adoption: Adoption) -> None:
    one, apart = on_one_clock()
    two = BesideBed(one, "two", api=apart, cluster="cluster-2", adoption=adoption)
    directory = Directory(one)
    one.user("alice")
    one.group("devs")
    one.membership("alice", "devs")
    settle(one)
    before = directory.dump()
    two.user("alice", email="two@example.org")
    two.group("devs")
    two.user("bob")
    two.membership("bob", "devs")
    run(700, one, two)
    assert two.ready("LldapUser", "alice") == ("False", "Conflict")
    assert two.ready("LldapGroup", "devs") == ("False", "Conflict")
    assert two.ready("LldapUser", "bob") == ("True", "Verified")
    assert two.ready("LldapMembership", "bob-devs")[0] == "False"
    for kind, name in (
        ("LldapUser", "alice"),
        ("LldapGroup", "devs"),
        ("LldapMembership", "bob-devs"),
    ):
        two.delete(kind, name)
    run(60, one, two)
    after = directory.dump()
    assert {name: after[name] for name in before} == before
    assert one.ready("LldapUser", "alice") == ("True", "Verified")


def test_after_one_cluster_lets_go_the_other_may_adopt() -> None:
    one, apart = on_one_clock()
    two = BesideBed(one, "two", api=apart, cluster="cluster-2")
    one.user("alice", deletionPolicy="Retain")
    settle(one)
    uuid = Directory(one).uuid("alice")
    two.user("alice")
    settle(one, two)
    one.delete("LldapUser", "alice")
    run(700, one, two)
    assert two.ready("LldapUser", "alice") == ("True", "Verified")
    assert Directory(one).uuid("alice") == uuid


# --- two operators of one instance on different lldaps ---------------------------------------


def test_two_operators_of_one_instance_on_different_lldaps_do_not_fight() -> None:
    bed = Bed()
    bed.user("alice")
    settle(bed)
    second = another_lldap()
    other = BesideBed(bed, "other", lldap=second)
    settle(bed, other)
    assert Directory(other).has_user("alice")
    bed.clear_logs()
    other.clear_logs()
    bed.user("alice", displayName="Alice")
    run(1500, bed, other, step=20)
    assert bed.mutations() == []  # it wrote first, and the other one after it
    assert [path for _, path in bed.api_writes() if "alice" in path] == []
    told = [who for who, _, reason, _ in bed.events.seen if reason == "Conflict"]
    assert told.count("LldapUser alice") == 1
    row = Directory(other).user("alice")
    assert row is not None
    assert row.columns["display_name"] == "Alice"
    bed.delete("LldapUser", "alice")
    run(60, bed, other)
    assert not bed.exists("LldapUser", "alice")
    assert Directory(bed).has_user("alice")


def test_a_restarted_operator_takes_the_object_back() -> None:
    bed = Bed()
    bed.user("alice")
    settle(bed)
    other = BesideBed(bed, "other", lldap=another_lldap())
    settle(bed, other)
    bed.start()  # the other one was stopped
    settle(bed)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    status = bed.get("LldapUser", "alice")["status"]
    assert status["uuid"] == Directory(bed).uuid("alice")


def test_an_informer_that_is_behind_makes_no_conflict() -> None:
    """The lister still shows the server before ours when the object is looked at again."""
    bed = Bed()
    bed.user("alice")
    bed.settle()
    bed.forge("LldapUser", "alice", {"server": "before"})
    bed.start()
    old = bed.get("LldapUser", "alice")
    bed.settle()
    stale = {
        **old,
        "metadata": {**old["metadata"], "labels": {**old["metadata"]["labels"], "x": "y"}},
    }
    for reflector in bed.operator.informers["LldapUser"].reflectors:
        reflector._target.upsert(stale)  # a watch that lags behind our own write
    for registration in bed.operator.informers["LldapUser"].registrations:
        registration.step()
    bed.operator.pool.try_step()
    assert "Conflict" not in bed.events.reasons()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_an_lldap_that_was_installed_anew_is_no_other_operator() -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("devs")
    bed.membership("alice", "devs")
    bed.settle()
    bed.lldap.reinstall()
    bed.run(700)
    assert "Conflict" not in bed.events.reasons()
    for kind, name in (
        ("LldapUser", "alice"),
        ("LldapGroup", "devs"),
        ("LldapMembership", "alice-devs"),
    ):
        assert bed.ready(kind, name) == ("True", "Verified")
    assert Directory(bed).members("devs") == {"alice"}


def test_the_records_of_another_server_delete_nothing() -> None:
    """After a move to another lldap the old ids and uuids mean somebody else there."""
    bed = Bed()
    bed.user("alice")
    bed.group("devs")
    bed.membership("alice", "devs")
    bed.settle()
    bed.lldap.reinstall()
    directory = Directory(bed)
    directory.make_user("alice")
    directory.make_group("devs", "alice")
    before = directory.dump()
    bed.start(rules={"adoption": Adoption.NEVER})
    for kind, name in (
        ("LldapMembership", "alice-devs"),
        ("LldapUser", "alice"),
        ("LldapGroup", "devs"),
    ):
        bed.delete(kind, name)
    bed.run(60)
    after = directory.dump()
    assert not bed.exists("LldapUser", "alice")
    assert {name: after[name] for name in before} == before


# --- label changes -----------------------------------------------------------------------------


@pytest.mark.parametrize("running", [True, False])
def test_D06_a_label_change_leaves_lldap_as_it_is_but_for_the_mark(running: bool) -> None:
    bed = Bed()
    other = BesideBed(bed, "other", lldap=another_lldap(), instance="other")
    bed.user("alice", deletionPolicy="Delete")
    bed.group("devs", deletionPolicy="Delete")
    bed.membership("alice", "devs")
    settle(bed, other)
    uuid = Directory(bed).uuid("alice")
    relabel(bed)
    if running:
        settle(bed, other)
    else:
        run(150, other)
        for kind, name in OBJECTS:
            assert bed.ready(kind, name) == ("False", "HeldByOtherInstance")
        assert "HeldByOtherInstance" in other.events.reasons()
        assert "lldap-operator release" in bed.message("LldapUser", "alice")
        assert not Directory(other).has_user("alice")
        bed.start()
    run(60, bed, other)
    directory = Directory(bed)
    assert directory.uuid("alice") == uuid
    assert directory.mark("alice") is None
    assert directory.group_mark("devs") is None
    assert directory.members("devs") == {"alice"}
    for kind, name in OBJECTS:
        assert bed.ready(kind, name) == ("True", "Verified")
        assert bed.get(kind, name)["status"]["instance"] == "other"
    assert "Released" in bed.events.reasons()
    assert Directory(other).members("devs") == {"alice"}


OBJECTS = (("LldapUser", "alice"), ("LldapGroup", "devs"), ("LldapMembership", "alice-devs"))


def relabel(bed: Bed, instance: str | None = "other") -> None:
    for kind, name in OBJECTS:
        bed.admin.patch(
            bed.path(kind, "team-a", name),
            {"metadata": {"labels": {INSTANCE_LABEL: instance}}},
            content_type="application/merge-patch+json",
        )


def test_a_removed_label_lets_go_too() -> None:
    bed = Bed()
    bed.user("alice", deletionPolicy="Delete")
    bed.group("devs", deletionPolicy="Delete")
    bed.membership("alice", "devs")
    bed.settle()
    relabel(bed, None)
    bed.settle()
    for kind, name in OBJECTS:
        obj = bed.get(kind, name)
        assert not obj["metadata"].get("finalizers")
        assert not obj.get("status")
    assert Directory(bed).mark("alice") is None
    assert Directory(bed).members("devs") == {"alice"}


def test_a_label_change_does_not_wait_for_an_lldap_that_is_down() -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("devs")
    bed.membership("alice", "devs")
    bed.settle()
    bed.lldap.hooks[:] = [refuse]
    relabel(bed)
    bed.settle()
    assert not bed.get("LldapUser", "alice").get("status")
    assert Directory(bed).mark("alice") is not None
    bed.lldap.hooks.clear()
    relabel(bed, "default")  # and back: the mark is still its own
    bed.run(60)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert bed.get("LldapUser", "alice")["status"]["origin"] == "Created"


def test_who_has_the_mark_starts_although_the_status_names_another_instance() -> None:
    bed = Bed()
    bed.user("alice")
    bed.settle()
    bed.forge("LldapUser", "alice", {"instance": "other"})
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert bed.get("LldapUser", "alice")["status"]["instance"] == "default"


def test_the_mark_of_another_instance_is_not_its_own() -> None:
    bed = Bed()
    bed.user("alice", **labelled("other"))
    alice = uid(bed, "LldapUser", "alice")
    Directory(bed).make_user("alice", mark=mark(alice, "alice", instance="other"))
    bed.forge("LldapUser", "alice", {"instance": "other"})
    bed.user("alice")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "HeldByOtherInstance")


@pytest.mark.parametrize("kind_and_name", OBJECTS)
def test_who_is_deleted_while_held_touches_only_what_is_marked(
    kind_and_name: tuple[str, str],
) -> None:
    """The old operator is gone; the new one lets go of the object and of nothing else."""
    bed = Bed()
    bed.user("alice", deletionPolicy="Delete")
    bed.group("devs", deletionPolicy="Delete")
    bed.membership("alice", "devs", deletionPolicy="Delete")
    bed.settle()
    relabel(bed)
    second = another_lldap()
    directory = Directory(second)
    directory.make_user("alice")
    directory.make_group("devs", "alice")
    before = directory.dump()
    other = BesideBed(bed, "other", lldap=second, instance="other", adoption=Adoption.ALWAYS)
    settle(other)
    kind, name = kind_and_name
    bed.delete(kind, name)
    run(60, other)
    assert not bed.exists(kind, name)
    after = directory.dump()
    assert {each: after[each] for each in before} == before
