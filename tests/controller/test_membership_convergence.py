"""Whatever several namespaces do, and whatever happens behind everybody's back: in the end lldap
is as the objects say that hold something, and what no object holds is as it was.
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from controller.api import MARK_ATTRIBUTE
from controller.harness.resource import Object
from controller.ownership.mark import Mark, parse
from lldap.names import BUILT_IN_GROUPS, group_key
from sandbox.lldap.faults import lose_answer, lose_request, on
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import edges, group_named, group_rows, rename_by_hand
from tests.support.machine import BedMachine

NAMESPACES = st.sampled_from(("team-a", "team-a", "team-b"))
USERS = st.sampled_from(("alice", "bob"))
OBJECTS = st.sampled_from(("one", "two", "three"))
NAMES = st.sampled_from(("Red", "RED", "Blue", "Green"))
POLICIES = st.sampled_from((None, "Delete", "Retain"))
MUTATIONS = st.sampled_from(
    (
        "createUser",
        "updateUser",
        "deleteUser",
        "createGroupWithDetails",
        "updateGroup",
        "deleteGroup",
        "addUserToGroup",
        "removeUserFromGroup",
    )
)


class Interleavings(BedMachine):
    """Rules are what people, lldap's administrator and bad luck do; the end is checked."""

    def __init__(self) -> None:
        super().__init__()
        self.bed = Bed()
        self.directory = Directory(self.bed)
        self.directory.make_group("Strangers")
        self.directory.make_user("stranger", "Strangers", "lldap_strict_readonly")
        for user, key, group in (("alice", "one", "Red"), ("bob", "two", "Blue")):
            self.bed.user(user)
            group_named(self.bed, key, group)
            self.bed.membership(user, group, name=f"{user}-{group}-plain-x".lower())
        self.bed.settle()
        self.strangers = self.untouched()
        self.updates_lost = False

    # --- what people do ------------------------------------------------------------------

    @rule(name=USERS, namespace=NAMESPACES, policy=POLICIES)
    def user(self, name: str, namespace: str, policy: str | None) -> None:
        self.bed.user(name, namespace, **_policy(policy))

    @rule(key=OBJECTS, name=NAMES, namespace=NAMESPACES, policy=POLICIES)
    def group(self, key: str, name: str, namespace: str, policy: str | None) -> None:
        group_named(self.bed, key, name, namespace, **_policy(policy))

    @rule(
        user=USERS,
        name=NAMES,
        namespace=NAMESPACES,
        copy=st.sampled_from(("x", "y")),
        policy=POLICIES,
    )
    def member(
        self, user: str, name: str, namespace: str, copy: str, policy: str | None = None
    ) -> None:
        spelled = "capital" if name.isupper() else "plain"
        key = f"{user}-{name}-{spelled}-{copy}".lower()
        self.bed.membership(user, name, namespace, name=key, **_policy(policy))

    @rule(kind=st.sampled_from(("LldapUser", "LldapGroup", "LldapMembership")), data=st.data())
    def delete(self, kind: str, data: st.DataObject) -> None:
        found = self.objects(kind)
        if found:
            chosen = data.draw(st.sampled_from(sorted(found)))
            self.bed.delete(kind, chosen[1], chosen[0])

    # --- what happens behind everybody's back ----------------------------------------------

    @rule(name=USERS)
    def delete_user_by_hand(self, name: str) -> None:
        if self.directory.has_user(name):
            self.directory.delete_user(name)

    @rule(name=NAMES)
    def delete_group_by_hand(self, name: str) -> None:
        if self.directory.has_group(name):
            self.directory.delete_group(name)

    @rule(name=NAMES, new=NAMES)
    def rename_by_hand(self, name: str, new: str) -> None:
        if self.directory.has_group(name) and not self.directory.has_group(new):
            rename_by_hand(self.bed, name, new)

    @rule(name=NAMES)
    def make_group_by_hand(self, name: str) -> None:
        if not self.directory.has_group(name):
            self.directory.make_group(name)

    @rule(user=USERS, name=NAMES)
    def flip_edge_by_hand(self, user: str, name: str) -> None:
        if self.directory.has_user(user) and self.directory.has_group(name):
            there = user in self.directory.members(name)
            change = self.directory.remove if there else self.directory.add
            change(user, name)

    @rule(name=NAMES)
    def take_mark_off(self, name: str) -> None:
        if self.directory.has_group(name):
            self.directory.set_group_mark(name, None)

    # --- bad luck and time -----------------------------------------------------------------

    @rule(operation=MUTATIONS, fault=st.sampled_from((lose_answer, lose_request)))
    def lose(self, operation: str, fault: Any) -> None:
        self.updates_lost |= operation.startswith("update")
        self.bed.lldap.hooks.append(on(operation, fault))

    # --- what must be true in the end ----------------------------------------------------------

    def teardown(self) -> None:
        self.bed.lldap.hooks.clear()
        self.rest(step=15.0, quiet_step=10.0)
        assert self.untouched() == self.strangers
        self.ready_is_true()
        self.every_mark_has_its_object()
        self.nobody_waits_for_nothing()

    def objects(self, kind: str) -> dict[tuple[str, str], Object]:
        found = self.bed.admin.get(self.bed.path(kind, "x").replace("/namespaces/x", ""))
        items = found["items"]
        return {(o["metadata"]["namespace"], o["metadata"]["name"]): o for o in items}

    def tenants(self, kind: str) -> dict[tuple[str, str], Object]:
        found = self.objects(kind)
        return {key: obj for key, obj in found.items() if key[0] != "lldap-system"}

    def untouched(self) -> dict[str, Any]:
        dump = self.directory.dump()
        names = {"user stranger", "user admin", "group 1", "group 2", "group 3", "group 4"}
        return {key: value for key, value in dump.items() if key in names}

    def ready_is_true(self) -> None:
        groups, users = group_rows(self.bed), self.bed.lldap.snapshot().users.rows
        for (namespace, name), obj in self.tenants("LldapGroup").items():
            if self.bed.ready("LldapGroup", name, namespace)[0] == "True":
                row = groups[obj["spec"]["displayName"]]
                assert _owner(row.attributes) == obj["metadata"]["uid"]
                assert obj["status"]["groupId"] == int(row.columns["group_id"])
        for (namespace, name), obj in self.tenants("LldapUser").items():
            if self.bed.ready("LldapUser", name, namespace)[0] == "True":
                row = users[obj["spec"]["username"]]
                assert _owner(row.attributes) == obj["metadata"]["uid"]
                assert obj["status"]["uuid"] == row.columns["uuid"]
        there = {(user, group_key(group)) for user, group in edges(self.bed)}
        for (namespace, name), obj in self.tenants("LldapMembership").items():
            if self.bed.ready("LldapMembership", name, namespace)[0] == "True":
                assert _pair(obj) in there

    def every_mark_has_its_object(self) -> None:
        """What is retained does not wait for lldap: then a lost call leaves a dead mark."""
        if self.updates_lost:
            return
        uids = {
            obj["metadata"]["uid"]
            for kind in ("LldapUser", "LldapGroup")
            for obj in self.objects(kind).values()
        }
        state = self.bed.lldap.snapshot()
        for table in (state.users, state.groups):
            for row in table.rows.values():
                owner = _owner(row.attributes)
                assert owner is None or owner in uids

    def nobody_waits_for_nothing(self) -> None:
        """A name that an object claims has a holder; a pair whose ends are held too."""
        held: dict[str, set[tuple[str, str]]] = {}
        for kind, field in (("LldapUser", "username"), ("LldapGroup", "displayName")):
            claims: dict[str, list[tuple[str, str]]] = {}
            for (namespace, name), obj in self.tenants(kind).items():
                ready = self.bed.ready(kind, name, namespace)
                key = group_key(obj["spec"][field])
                claims.setdefault(key, []).append(ready)
                if ready[0] == "True":
                    held.setdefault(kind, set()).add((namespace, key))
            for key, states in claims.items():
                holders = [state for state in states if state[0] == "True"]
                assert len(holders) <= 1
                if not holders:
                    assert self.is_taken(kind, key), (kind, key, states)
        self.held_ends_are_joined(held)

    def held_ends_are_joined(self, held: dict[str, set[tuple[str, str]]]) -> None:
        users, groups = held.get("LldapUser", set()), held.get("LldapGroup", set())
        pairs: dict[tuple[str, str, str], list[str]] = {}
        for (namespace, name), obj in self.tenants("LldapMembership").items():
            status = self.bed.ready("LldapMembership", name, namespace)[0]
            pairs.setdefault((namespace, *_pair(obj)), []).append(status)
        for (namespace, user, group), states in pairs.items():
            ends = (namespace, user) in users and (namespace, group) in groups
            assert states.count("True") == int(ends), (namespace, user, group, states)

    def is_taken(self, kind: str, key: str) -> bool:
        """Whether lldap has the name in other hands: a stranger's, or another object's for now."""
        if kind == "LldapUser":
            return self.directory.has_user(key)
        row = self.directory.group(key)
        return row is not None


def _policy(policy: str | None) -> dict[str, str]:
    return {} if policy is None else {"deletionPolicy": policy}


def _owner(attributes: dict[str, list[str]]) -> str | None:
    values = attributes.get(MARK_ATTRIBUTE)
    mark = parse(values[0]) if values else None
    return mark.uid if isinstance(mark, Mark) else None


def _pair(membership: Object) -> tuple[str, str]:
    spec = membership["spec"]
    return spec["userName"], group_key(spec["groupName"])


def run(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        Interleavings,
        settings=settings(
            deadline=None,
            max_examples=examples,
            stateful_step_count=steps,
            suppress_health_check=list(HealthCheck),
            phases=[phase for phase in Phase if phase is not Phase.explain],  # it traces each line
        ),
    )


@pytest.mark.timeout(600)
def test_any_interleaving_ends_in_what_the_holding_objects_declare() -> None:
    run(examples=8, steps=15)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_many_long_interleavings_end_in_what_the_holding_objects_declare() -> None:
    run(examples=150, steps=40)


assert not BUILT_IN_GROUPS & {"red", "blue", "green"}
