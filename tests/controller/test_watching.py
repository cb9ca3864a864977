"""Who is looked at again when something happens, and who is not."""

from typing import Any

import pytest

from controller.api import (
    BUILT_IN_ANNOTATION,
    DRY_RUN_ANNOTATION,
    INSTANCE_LABEL,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    PAUSED_ANNOTATION,
    RECONCILE_AT_ANNOTATION,
)
from controller.watching.watching import PRIORITY_CHANGED, PRIORITY_LISTED, KindHandler
from tests.support.watched import Watched, new, ready

NOW = "2030-01-01T00:00:00Z"
DRY_RUN = {DRY_RUN_ANNOTATION: "true"}


@pytest.fixture
def watched() -> Watched:
    return Watched()


# --- the object itself ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("initial", "priority"), [(True, PRIORITY_LISTED), (False, PRIORITY_CHANGED)]
)
def test_an_object_that_comes_is_looked_at_and_first_if_somebody_just_made_it(
    watched: Watched, initial: bool, priority: int
) -> None:
    watched.put(LLDAP_USER, new(LLDAP_USER, "alice", "a", {"username": "alice"}), initial=initial)
    assert watched.told() == {("User", "a/alice"): priority}


ASKED: dict[str, dict[str, Any]] = {
    "its spec": {"spec": {"displayName": "Al"}},
    "its deletion": {"metadata": {"deletionTimestamp": NOW, "generation": 2}},
    "a dry run": {"metadata": {"annotations": DRY_RUN}},
    "a pause": {"metadata": {"annotations": {PAUSED_ANNOTATION: "true"}}},
    "a full pass": {"metadata": {"annotations": {RECONCILE_AT_ANNOTATION: "now"}}},
}


@pytest.mark.parametrize("echo", [False, True])
@pytest.mark.parametrize("parts", ASKED.values(), ids=ASKED)
def test_what_a_person_asks_for_comes_first(
    watched: Watched, parts: dict[str, Any], echo: bool
) -> None:
    """Even if a list shows it together with a later write of ours."""
    alice = watched.user("alice")
    watched.told()
    watched.change(LLDAP_USER, alice, echo=echo, **parts)
    assert watched.told()["User", "a/alice"] == PRIORITY_CHANGED


WRITTEN: dict[str, dict[str, Any]] = {
    "its status": {"status": {"userId": "mallory"}},
    "its finalizers": {"metadata": {"finalizers": ["example.org/x"]}},
}


@pytest.mark.parametrize("parts", WRITTEN.values(), ids=WRITTEN)
def test_what_another_operator_writes_is_looked_at_later(
    watched: Watched, parts: dict[str, Any]
) -> None:
    alice = watched.user("alice")
    watched.told()
    watched.change(LLDAP_USER, alice, **parts)
    assert watched.told() == {("User", "a/alice"): PRIORITY_LISTED}


@pytest.mark.parametrize("parts", WRITTEN.values(), ids=WRITTEN)
def test_I01_our_own_write_makes_no_work(watched: Watched, parts: dict[str, Any]) -> None:
    alice = watched.user("alice")
    watched.told()
    watched.change(LLDAP_USER, alice, echo=True, **parts)
    assert watched.told() == {}


def test_our_own_write_is_over_before_anybody_asks_whom_it_concerns(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    views: list[Any] = []
    real = KindHandler._view

    def view(handler: KindHandler, obj: Any, **named: Any) -> Any:
        views.append(obj)
        return real(handler, obj, **named)

    alice = watched.user("alice")
    monkeypatch.setattr(KindHandler, "_view", view)
    finalizers = {"finalizers": ["lldap-operator.lukidoescode.com/user"]}
    alice = watched.change(LLDAP_USER, alice, echo=True, metadata=finalizers)
    assert views == []
    watched.change(LLDAP_USER, alice, echo=True, status={"uuid": "another account"})
    assert len(views) == 2, "who refers to it has to know"


NOTHING: dict[str, dict[str, Any]] = {
    "a label of somebody else": {"metadata": {"labels": {INSTANCE_LABEL: "default", "x": "y"}}},
    "an annotation of somebody else": {"metadata": {"annotations": {"argocd.io/x": "y"}}},
    "who manages which field": {"metadata": {"managedFields": [{"manager": "kubectl"}]}},
    "an owner": {"metadata": {"ownerReferences": [{"name": "x"}]}},
}


@pytest.mark.parametrize("parts", NOTHING.values(), ids=NOTHING)
def test_what_does_not_concern_us_makes_no_work(watched: Watched, parts: dict[str, Any]) -> None:
    alice = watched.user("alice")
    watched.told()
    watched.change(LLDAP_USER, alice, **parts)
    assert watched.told() == {}


def test_an_object_that_goes_is_forgotten(watched: Watched) -> None:
    alice = watched.user("alice")
    watched.told()
    watched.delete(LLDAP_USER, alice)
    assert watched.told() == {("User", "a/alice"): PRIORITY_LISTED}
    assert watched.gone == [alice["metadata"]["uid"]]


# --- other instances -----------------------------------------------------------------------------


def test_objects_of_other_instances_make_no_work(watched: Watched) -> None:
    foreign = new(LLDAP_USER, "alice", "a", {"username": "alice"})
    foreign["metadata"]["labels"] = {INSTANCE_LABEL: "other"}
    watched.membership("alice", "Team")
    watched.user("alice", "b")
    watched.told()
    watched.put(LLDAP_USER, foreign)
    changed = watched.change(LLDAP_USER, foreign, spec={"displayName": "Al"})
    watched.delete(LLDAP_USER, changed)
    assert watched.told() == {}


def test_it_is_told_of_an_object_that_another_instance_has_from_now_on(watched: Watched) -> None:
    alice, bob = watched.user("alice"), watched.user("bob")
    other = {"labels": {INSTANCE_LABEL: "other"}}
    watched.change(LLDAP_USER, bob, spec={"displayName": "B"})
    watched.change(LLDAP_USER, alice, metadata=other)
    assert watched.left == [("LldapUser", "a/alice")]
    ours = watched.change(LLDAP_USER, bob, status={"instance": "default"})
    watched.change(LLDAP_USER, ours, metadata=other)  # first it is released
    assert watched.left == [("LldapUser", "a/alice")]


def test_F10_a_label_that_comes_goes_and_comes_back(watched: Watched) -> None:
    alice = new(LLDAP_USER, "alice", "a", {"username": "alice"})
    del alice["metadata"]["labels"]
    watched.put(LLDAP_USER, alice)
    watched.membership("alice", "Team")
    rival = watched.user("alice", "b")
    watched.told()
    labels = {"labels": {INSTANCE_LABEL: "default"}}
    alice = watched.change(LLDAP_USER, alice, metadata=labels)
    assert watched.woken() == {"User a/alice", "Membership a/alice-team"}
    alice = watched.change(LLDAP_USER, alice, echo=True, status={"instance": "default"})
    assert watched.woken() == set()
    alice = watched.change(LLDAP_USER, alice, metadata={"labels": {INSTANCE_LABEL: "other"}})
    assert watched.woken() == {"User a/alice", "User b/alice", "Membership a/alice-team"}
    alice = watched.change(LLDAP_USER, alice, echo=True, status={"instance": None})
    assert watched.woken() == {"User b/alice"}  # released: its mark is off only now
    watched.change(LLDAP_USER, alice, metadata=labels)
    assert watched.woken() == {"User a/alice", "Membership a/alice-team"}
    watched.delete(LLDAP_USER, rival)
    assert watched.woken() == {"User b/alice", "User a/alice", "Membership a/alice-team"}


# --- rivals --------------------------------------------------------------------------------------


def test_a_holder_that_goes_wakes_the_loser_in_any_namespace(watched: Watched) -> None:
    holder = watched.user("alice", "a")
    watched.user("Alice", "b")
    watched.user("bob", "b")
    watched.told()
    watched.delete(LLDAP_USER, holder)
    assert watched.woken() == {"User a/alice", "User b/Alice"}


def test_a_holder_whose_deletion_begins_wakes_the_loser_too(watched: Watched) -> None:
    """While nobody holds the target, an object that is being deleted no longer counts."""
    holder = watched.user("alice", "a")
    watched.user("alice", "b")
    watched.told()
    holder = watched.change(LLDAP_USER, holder, metadata={"deletionTimestamp": NOW})
    assert watched.woken() == {"User a/alice", "User b/alice"}
    watched.delete(LLDAP_USER, holder)
    assert watched.woken() == {"User a/alice", "User b/alice"}


def test_a_holder_that_goes_into_dry_run_wakes_the_loser(watched: Watched) -> None:
    holder = watched.user("alice", "a")
    watched.user("alice", "b")
    watched.told()
    watched.change(LLDAP_USER, holder, metadata={"annotations": DRY_RUN})
    assert "User b/alice" in watched.woken()


def test_a_renamed_group_wakes_who_wants_its_old_name_and_members_of_both(
    watched: Watched,
) -> None:
    team = watched.group("Team")
    watched.group("team", "b")
    watched.group("Crew", "b")
    watched.membership("alice", "Team")
    watched.membership("alice", "Crew")
    watched.membership("alice", "Other")
    watched.told()
    watched.change(LLDAP_GROUP, team, spec={"displayName": "Crew"})
    assert watched.woken() == {
        "Group a/team",
        "Group b/team",
        "Membership a/alice-team",
        "Membership a/alice-crew",
    }


def is_ready(generation: int) -> dict[str, Any]:
    condition = {"type": "Ready", "status": "True", "observedGeneration": generation}
    return {"uuid": "u-1", "conditions": [condition]}


def test_members_of_a_renamed_group_are_woken_again_when_lldap_has_the_name(
    watched: Watched,
) -> None:
    team = watched.change(LLDAP_GROUP, watched.group("Team"), status=is_ready(1))
    watched.membership("alice", "Crew")
    team = watched.change(LLDAP_GROUP, team, spec={"displayName": "Crew"})
    watched.told()
    team = watched.change(LLDAP_GROUP, team, echo=True, status={"managed": []})
    assert watched.woken() == set()
    team = watched.change(LLDAP_GROUP, team, echo=True, status=is_ready(2))
    assert watched.woken() == {"Membership a/alice-crew"}
    watched.change(LLDAP_GROUP, team, echo=True, status={"managed": ["x"]})
    assert watched.woken() == set()


def test_so_are_those_of_a_group_that_was_renamed_while_nobody_was_there(
    watched: Watched,
) -> None:
    crew = {**new(LLDAP_GROUP, "crew", "a", {"displayName": "Crew"}), "status": is_ready(0)}
    team = watched.put(LLDAP_GROUP, crew, initial=True)
    watched.membership("alice", "Crew")
    watched.told()
    watched.change(LLDAP_GROUP, team, echo=True, status=is_ready(1))
    assert watched.woken() == {"Membership a/alice-crew"}


@pytest.mark.parametrize(
    "parts",
    [
        {"spec": {"email": "new@example.org"}},
        {"status": {"conditions": ready()}},
        {"status": {"uuid": "u-1"}},
        {"metadata": {"annotations": {PAUSED_ANNOTATION: "true"}}},
    ],
)
def test_a_rival_is_left_alone_while_the_holder_stays(
    watched: Watched, parts: dict[str, Any]
) -> None:
    holder = watched.user("alice", "a")
    watched.user("alice", "b")
    watched.told()
    watched.change(LLDAP_USER, holder, **parts)
    assert "User b/alice" not in watched.woken()


def test_memberships_of_one_pair_are_rivals(watched: Watched) -> None:
    first = watched.membership("alice", "Team")
    watched.membership("Alice", "TEAM", name="second")
    watched.membership("alice", "Crew")
    watched.told()
    watched.delete(LLDAP_MEMBERSHIP, first)
    assert watched.woken() == {"Membership a/alice-team", "Membership a/second"}


# --- memberships of users and groups -------------------------------------------------------------


def test_only_what_a_person_did_lets_others_overtake_who_waits_for_a_first_turn(
    watched: Watched,
) -> None:
    watched.membership("alice", "team")
    alice = watched.user("alice")
    assert watched.quietly == set()
    alice = watched.change(LLDAP_USER, alice, echo=True, status={"uuid": "one"})
    assert watched.quietly == {"a/alice-team"}
    watched.quietly.clear()
    watched.change(LLDAP_USER, alice, metadata={"annotations": DRY_RUN})
    watched.delete(LLDAP_USER, alice)
    assert watched.quietly == set()


@pytest.mark.parametrize(("kind", "name"), [(LLDAP_USER, "alice"), (LLDAP_GROUP, "team")])
def test_memberships_are_woken_when_an_end_comes_goes_or_becomes_another(
    watched: Watched, kind: Any, name: str
) -> None:
    watched.membership("alice", "team")
    watched.membership("bob", "crew")
    field = "username" if kind is LLDAP_USER else "displayName"
    waits, own = "Membership a/alice-team", f"{kind.kind.removeprefix('Lldap')} a/{name}"
    watched.told()
    end = watched.put(kind, new(kind, name, "a", {field: name}))
    assert watched.woken() == {waits, own}
    end = watched.change(kind, end, echo=True, status={"uuid": "one"})
    assert watched.woken() == {waits}
    end = watched.change(kind, end, echo=True, status={"conditions": ready()})
    assert watched.woken() == set()
    end = watched.change(kind, end, echo=True, status={"uuid": "two"})
    assert watched.woken() == {waits}
    end = watched.change(kind, end, metadata={"annotations": DRY_RUN})
    assert watched.woken() == {waits, own}
    end = watched.change(kind, end, status={"uuid": "three"})
    assert watched.woken() == {own}  # in dry-run it stands for nothing
    end = watched.change(kind, end, metadata={"annotations": {}})
    assert watched.woken() == {waits, own}
    watched.delete(kind, end)
    assert watched.woken() == {waits, own}


def test_a_virtual_group_that_gets_its_annotation_back_wakes_its_members(watched: Watched) -> None:
    admins = watched.group("lldap_admin")
    watched.membership("alice", "lldap_admin")
    watched.told()
    marked = {"annotations": {BUILT_IN_ANNOTATION: "true"}}
    watched.change(LLDAP_GROUP, admins, metadata=marked)
    assert "Membership a/alice-lldap_admin" in watched.woken()


# --- attribute schemas ---------------------------------------------------------------------------


def names(*attributes: str) -> list[dict[str, Any]]:
    return [{"name": name, "value": ["x"]} for name in attributes]


def test_a_schema_that_becomes_ready_or_goes_wakes_who_names_it(watched: Watched) -> None:
    watched.user("alice", attributes=names("Phone"))
    watched.user("bob", attributes=names("fax"))
    watched.group("Team", attributes=names("phone"))
    watched.told()
    schema = watched.schema("phone")
    assert watched.woken() == {"AttributeSchema a/user-phone", "User a/alice"}
    schema = watched.change(
        LLDAP_ATTRIBUTE_SCHEMA, schema, echo=True, status={"conditions": ready()}
    )
    assert watched.woken() == {"User a/alice"}
    schema = watched.change(LLDAP_ATTRIBUTE_SCHEMA, schema, echo=True, status={"server": "s"})
    assert watched.woken() == set()
    watched.delete(LLDAP_ATTRIBUTE_SCHEMA, schema)
    assert watched.woken() == {"AttributeSchema a/user-phone", "User a/alice"}


def test_the_last_user_that_drops_an_attribute_wakes_the_schema_that_waits(
    watched: Watched,
) -> None:
    alice = watched.user("alice", attributes=names("phone", "fax"))
    watched.schema("phone")
    watched.schema("fax")
    watched.told()
    alice = watched.change(LLDAP_USER, alice, spec={"attributes": names("fax", "mobile")})
    assert watched.woken() == {"User a/alice", "AttributeSchema a/user-phone"}
    alice = watched.change(LLDAP_USER, alice, metadata={"deletionTimestamp": NOW})
    assert watched.woken() == {"User a/alice", "AttributeSchema a/user-fax"}
    watched.delete(LLDAP_USER, alice)
    assert watched.woken() == {"User a/alice", "AttributeSchema a/user-fax"}


def test_an_attribute_that_is_named_anew_wakes_no_schema(watched: Watched) -> None:
    alice = watched.user("alice")
    watched.schema("phone")
    watched.membership("alice", "Team")
    watched.told()
    watched.change(LLDAP_USER, alice, spec={"attributes": names("phone")})
    assert watched.woken() == {"User a/alice"}


def test_a_schema_that_goes_wakes_its_rivals_and_its_twin_of_another_type(
    watched: Watched,
) -> None:
    first = watched.schema("phone")
    watched.schema("Phone", namespace="b")
    watched.schema("phone", target="Group")
    watched.schema("fax")
    watched.told()
    watched.delete(LLDAP_ATTRIBUTE_SCHEMA, first)
    assert watched.woken() == {
        "AttributeSchema a/user-phone",
        "AttributeSchema b/user-phone",
        "AttributeSchema a/group-phone",
    }


# --- Secrets -------------------------------------------------------------------------------------


def test_a_secret_concerns_the_users_that_name_it(watched: Watched) -> None:
    watched.user("alice", passwordSecretRef={"name": "s", "key": "k"})
    watched.user("bob", passwordSecretRef={"name": "other", "key": "k"})
    watched.user("carol", "b", passwordSecretRef={"name": "s", "key": "k"})
    watched.user("dave", passwordPolicy="Ignore", passwordSecretRef={"name": "s", "key": "k"})
    watched.told()
    for act in (watched.secret, watched.secret, watched.delete_secret):
        act("s")
        assert watched.told() == {("User", "a/alice"): PRIORITY_CHANGED}


def test_at_the_start_the_users_come_by_themselves(watched: Watched) -> None:
    watched.user("alice", passwordSecretRef={"name": "s", "key": "k"})
    watched.told()
    watched.secret("s", initial=True)
    assert watched.told() == {}


def test_a_user_that_names_another_secret_wakes_nobody_else(watched: Watched) -> None:
    alice = watched.user("alice", passwordSecretRef={"name": "s", "key": "k"})
    watched.user("alice", "b")
    watched.membership("alice", "Team")
    watched.told()
    watched.change(LLDAP_USER, alice, spec={"passwordSecretRef": {"name": "other", "key": "k"}})
    assert watched.woken() == {"User a/alice"}
