"""Any interleaving of changes, our own and others', with reads of lldap.

Two promises: once nothing changes, a refresh makes the mirror equal to lldap; and a target that
we changed after a read began is never shown as it was before.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lldap import (
    AttributeSchema,
    AttributeType,
    Directory,
    GroupWithMembers,
    Mirror,
    Schema,
    Target,
    User,
)
from lldap.models import single
from tests.lldap.mirror_bed import alone
from tests.support.clock import FakeClock

USERS = ("al", "bo")
GROUPS = (7, 8)
NOTE = AttributeSchema("note", AttributeType.STRING)
ADMINS = GroupWithMembers(1, "lldap_admin", "server", "", {}, frozenset({"admin"}))


class Lldap:
    """The truth: users, groups with members, and one attribute that users may have."""

    def __init__(self) -> None:
        self.users: dict[str, User] = {}
        self.groups: dict[int, GroupWithMembers] = {}
        self.has_note = True
        self.version = 0

    def schema(self) -> Schema:
        return Schema({"note": NOTE} if self.has_note else {}, {})

    def set_user(self, name: str) -> None:
        self.version += 1
        note = {"note": (f"note {self.version}",)} if self.has_note else {}
        email = f"{name}{self.version % 2}@b.c"
        self.users[name] = User(name, email, str(self.version), "", "", "", "", note)

    def drop_user(self, name: str) -> None:
        self.users.pop(name, None)
        for number in self.groups:
            self.set_edge(name, number, there=False)

    def set_group(self, number: int) -> None:
        self.version += 1
        before = self.groups.get(number)
        members = before.members if before else frozenset()
        self.groups[number] = GroupWithMembers(number, f"group {self.version}", "", "", {}, members)

    def drop_group(self, number: int) -> None:
        self.groups.pop(number, None)

    def set_edge(self, name: str, number: int, *, there: bool) -> None:
        group = self.groups[number]
        members = group.members | {name} if there else group.members - {name}
        self.groups[number] = replace(group, members=members)

    def set_note(self, *, there: bool) -> None:
        self.has_note = there
        if not there:
            self.users = {name: replace(user, attributes={}) for name, user in self.users.items()}


@dataclass(frozen=True)
class Step:
    """One change; `own` ones are confirmed to the mirror."""

    kind: str
    name: str
    number: int
    own: bool


steps = st.builds(
    Step,
    st.sampled_from(
        [
            "set user",
            "drop user",
            "set group",
            "drop group",
            "add edge",
            "remove edge",
            "add note",
            "drop note",
            "refresh",
        ]
    ),
    st.sampled_from(USERS),
    st.sampled_from(GROUPS),
    st.booleans(),
)
scripts = st.lists(steps, max_size=4)


def versions(mirror: Mirror) -> dict[str, str]:
    return {user.id: user.display_name for user in mirror.users()}


class Interleavings(RuleBasedStateMachine):
    """The mirror, the truth, and what we changed last since the read under way began."""

    def __init__(self) -> None:
        super().__init__()
        self.lldap = Lldap()
        self.mirror = Mirror("admin", lambda found: single(found, "note"), clock=FakeClock())
        self.own_users: dict[str, User | None] = {}
        self.own_groups: dict[int, GroupWithMembers | None] = {}
        self.own_edges: dict[tuple[str, int], bool] = {}
        self.shown_by_later_read: dict[str, str] = {}
        self.script: tuple[list[Step], list[Step], list[Step]] = ([], [], [])

    @initialize()
    def first_read(self) -> None:
        """Everything is there, so that every change is one."""
        for name in USERS:
            self.lldap.set_user(name)
        for number in GROUPS:
            self.lldap.set_group(number)
            for name in USERS:
                self.lldap.set_edge(name, number, there=True)
        self.mirror.refresh(self)

    # What Mirror.refresh calls: lldap does not read its lists at one moment.

    def read_directory(self, known: Iterable[str] = ()) -> Directory:
        script, self.script = self.script, ([], [], [])
        before, between, after = script
        self.run(before)
        users = list(self.lldap.users.values())
        members = {number: group.members for number, group in self.lldap.groups.items()}
        self.run(between)
        groups = [
            replace(group, members=members.get(number, frozenset()))
            for number, group in self.lldap.groups.items()
        ]
        schema = self.lldap.schema()
        self.run(after)
        return Directory(users, [ADMINS, *groups], schema)

    def run(self, script: list[Step]) -> None:
        for step in script:
            self.change(step)

    # Changes

    @rule(step=steps)
    def change(self, step: Step) -> None:
        if step.kind == "refresh":
            self.begin_read()
            self.mirror.refresh(self)
            self.shown_by_later_read = versions(self.mirror)
            return
        getattr(self, step.kind.replace(" ", "_"))(step)

    def set_user(self, step: Step) -> None:
        self.lldap.set_user(step.name)
        if step.own:
            self.mirror.put_user(self.lldap.users[step.name])
            self.own_users[step.name] = self.lldap.users[step.name]

    def drop_user(self, step: Step) -> None:
        self.lldap.drop_user(step.name)
        if step.own:
            self.mirror.drop_user(step.name)
            self.own_users[step.name] = None
            self.own_edges.update({(step.name, number): False for number in GROUPS})

    def set_group(self, step: Step) -> None:
        self.lldap.set_group(step.number)
        if step.own:
            group = self.lldap.groups[step.number]
            self.mirror.put_group(group)
            self.own_groups[step.number] = group
            self.own_edges.update({(name, step.number): name in group.members for name in USERS})

    def drop_group(self, step: Step) -> None:
        self.lldap.drop_group(step.number)
        if step.own:
            self.mirror.drop_group(step.number)
            self.own_groups[step.number] = None
            self.own_edges.update({(name, step.number): False for name in USERS})

    def add_edge(self, step: Step) -> None:
        if step.name not in self.lldap.users or step.number not in self.lldap.groups:
            return
        self.lldap.set_edge(step.name, step.number, there=True)
        if step.own:
            self.mirror.add_edge(step.name, step.number)
            self.own_edges[step.name, step.number] = True

    def remove_edge(self, step: Step) -> None:
        if step.number not in self.lldap.groups:
            return
        self.lldap.set_edge(step.name, step.number, there=False)
        if step.own:
            self.mirror.remove_edge(step.name, step.number)
            self.own_edges[step.name, step.number] = False

    def add_note(self, step: Step) -> None:
        self.lldap.set_note(there=True)
        if step.own:
            self.mirror.put_attribute(Target.USER, NOTE)

    def drop_note(self, step: Step) -> None:
        self.lldap.set_note(there=False)
        if step.own:
            self.mirror.drop_attribute(Target.USER, "note")
            self.own_users = {
                name: user and replace(user, attributes={}) for name, user in self.own_users.items()
            }

    # Reads

    def begin_read(self) -> None:
        """From here on our changes count; what was changed before may be shown newer."""
        self.own_users, self.own_groups, self.own_edges = {}, {}, {}
        self.shown_by_later_read = {}

    @rule(before=scripts, between=scripts, after=scripts)
    def refresh_while_things_change(
        self, before: list[Step], between: list[Step], after: list[Step]
    ) -> None:
        self.begin_read()
        self.script = (before, between, after)
        self.mirror.refresh(self)
        for name, user in self.own_users.items():
            assert self.mirror.user(name) == user
        for number, group in self.own_groups.items():
            found = self.mirror.group(number)
            assert (found and found.display_name) == (group and group.display_name)
        for (name, number), there in self.own_edges.items():
            if self.mirror.group(number) is not None:
                assert self.mirror.member(name, number) == there

    @rule()
    def refresh_while_nothing_changes(self) -> None:
        self.mirror.refresh(self)
        lldap, mirror = self.lldap, self.mirror
        assert {user.id: user for user in mirror.users()} == lldap.users
        groups = {**lldap.groups, 1: ADMINS}
        assert {group.id: group for group in mirror.groups()} == {
            number: alone(group) for number, group in groups.items()
        }
        for number, group in groups.items():
            assert {n for n in (*USERS, "admin") if mirror.member(n, number)} == group.members
            assert mirror.has_members(number) == bool(group.members)
        assert mirror.schema() == lldap.schema()

    # What the indexes say is what the users and groups say

    @invariant()
    def indexes_and_accounts_agree(self) -> None:
        mirror = self.mirror
        for user in mirror.users():
            assert mirror.user(user.id) == user
            owner = mirror.email_owner(user.email)
            assert owner is not None
            note = single(user.attributes, "note")
            assert note is None or user in mirror.users_by_index(note)
        for group in mirror.groups():
            assert mirror.group_by_name(group.display_name) is not None
        for name in USERS:
            shown = [group.id for group in mirror.groups()]
            member_of = {number for number in shown if mirror.member(name, number)}
            assert mirror.groups_of(name) == member_of
        assert mirror._reads == []


TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=200, stateful_step_count=12, deadline=None)
