"""The mirror: lookups, our own changes, and refreshes that overlap with them."""

from collections.abc import Callable, Iterable

import pytest

from lldap import (
    Attributes,
    AttributeSchema,
    AttributeType,
    Directory,
    Group,
    Mirror,
    NotAdmin,
    Schema,
    Target,
    Unavailable,
    User,
)
from lldap.mirror import SLOW_READ_SECONDS
from lldap.models import Digest, single
from tests.support.clock import FakeClock

ADMINS = Group(1, "lldap_admin", "server-uuid", "", {}, frozenset({"admin"}))
MAIL = AttributeSchema("mail", AttributeType.STRING)
PHONE = AttributeSchema("phone", AttributeType.STRING)


def user(name: str, **attributes: str) -> User:
    values = {key: (value,) for key, value in attributes.items()}
    return User(name, f"{name}@b.c", "", "", "", f"uuid-{name}", "", values)


def group(number: int, *members: str, name: str = "", **attributes: str) -> Group:
    values = {key: (value,) for key, value in attributes.items()}
    return Group(number, name or f"group-{number}", "", "", values, frozenset(members))


class Source:
    """A lldap that shows what a test says; `during` is done while it is read."""

    def __init__(self, *things: User | Group, schema: Schema | None = None) -> None:
        self.users = [thing for thing in things if isinstance(thing, User)]
        self.groups = [ADMINS, *(thing for thing in things if isinstance(thing, Group))]
        self.schema = schema or Schema({"mail": MAIL}, {})
        self.known: list[list[str]] = []
        self.during: Callable[[], object] = lambda: None

    def read_directory(self, known: Iterable[str] = ()) -> Directory:
        self.known.append(list(known))
        read = Directory(list(self.users), list(self.groups), self.schema)
        self.during()
        return read


def mark(attributes: Attributes) -> str | None:
    return single(attributes, "mark")


def mirror_of(source: Source, clock: FakeClock | None = None) -> Mirror:
    mirror = Mirror("Admin", mark, clock=clock or FakeClock())
    mirror.refresh(source)
    return mirror


# Lookups


def test_what_was_read_is_found_in_any_letter_case() -> None:
    bob = user("bob")
    devs = group(7, "bob", "al", name="Devs Ä")
    mirror = mirror_of(Source(bob, devs))
    assert mirror.user("BOB") == bob
    assert mirror.group(7) == devs
    assert mirror.group_by_name("devs ä") == devs
    assert mirror.email_owner("Bob@B.C") == "bob"
    assert mirror.groups_of("Bob") == {7}
    assert mirror.member("BOB", 7)
    assert not mirror.member("bob", 1)
    assert mirror.attribute(Target.USER, "MAIL") == MAIL
    assert mirror.schema() == Schema({"mail": MAIL}, {})
    assert mirror.users() == (bob,)
    assert mirror.groups() == (ADMINS, devs)


def test_what_is_not_there_is_not_found() -> None:
    mirror = mirror_of(Source())
    assert mirror.user("bob") is None
    assert mirror.group(7) is None
    assert mirror.group_by_name("devs") is None
    assert mirror.email_owner("b@c.de") is None
    assert mirror.groups_of("bob") == frozenset()
    assert not mirror.member("bob", 7)
    assert mirror.attribute(Target.GROUP, "mail") is None
    assert mirror.users_by_index("x") == ()
    assert mirror.groups_by_index("x") == ()


def test_the_index_finds_accounts_and_groups_by_its_value() -> None:
    bob, al = user("bob", mark="m"), user("al", mark="m")
    devs = group(7, mark="g")
    mirror = mirror_of(Source(bob, al, user("eve"), devs))
    assert mirror.users_by_index("m") == (bob, al)
    assert mirror.groups_by_index("g") == (devs,)
    moved = user("bob", mark="other")
    mirror.put_user(moved)
    assert mirror.users_by_index("m") == (al,)
    assert mirror.users_by_index("other") == (moved,)
    mirror.drop_user("al")
    mirror.drop_group(7)
    assert mirror.users_by_index("m") == ()
    assert mirror.groups_by_index("g") == ()


def test_age_generation_and_server_belong_to_the_read_that_is_shown() -> None:
    clock = FakeClock()
    mirror = Mirror("admin", mark, clock=clock)
    assert (mirror.generation, mirror.age, mirror.server_uuid) == (0, None, None)
    source = Source()
    source.during = lambda: clock.advance(2.0)
    assert mirror.refresh(source).generation == 1
    clock.advance(3.0)
    assert (mirror.generation, mirror.age, mirror.server_uuid) == (1, 5.0, "server-uuid")


def test_after_a_slow_read_a_refresh_names_the_users_that_are_probably_there() -> None:
    clock = FakeClock()
    source = Source(user("bob"))
    mirror = mirror_of(source, clock)
    source.during = lambda: clock.advance(SLOW_READ_SECONDS + 0.1)
    mirror.refresh(source, expected=["al"])
    source.during = lambda: None
    mirror.refresh(source, expected=["al"])
    mirror.refresh(source)
    assert source.known == [[], [], ["bob", "al"], ["bob"]]


def test_a_read_that_failed_because_it_was_slow_counts_as_slow() -> None:
    clock = FakeClock()
    source = Source()
    mirror = Mirror("admin", mark, clock=clock)

    def time_out() -> None:
        clock.advance(300.0)
        raise Unavailable("no whole answer")

    source.during = time_out
    with pytest.raises(Unavailable):
        mirror.refresh(source)
    source.during = lambda: None
    mirror.refresh(source, expected=["al"])
    assert source.known == [[], ["al"]]


def test_long_values_are_kept_as_digests_only() -> None:
    photo = "A" * 4000
    mirror = mirror_of(Source())
    mirror.put_user(user("bob", avatar=photo))
    mirror.put_group(group(7, logo=photo))
    for shown, name in ((mirror.user("bob"), "avatar"), (mirror.group(7), "logo")):
        assert shown is not None
        (value,) = shown.attributes[name]
        assert isinstance(value, Digest)


# Reads that do not count


@pytest.mark.parametrize(
    "groups",
    [
        [],
        [Group(1, "lldap_admin", "", "")],
        [Group(1, "lldap_admin", "", "", {}, frozenset({"al"}))],
        [Group(1, "renamed", "", "", {}, frozenset({"admin"}))],
    ],
)
def test_a_read_that_does_not_show_us_as_admin_is_thrown_away_whole(groups: list[Group]) -> None:
    source = Source(user("bob"))
    mirror = mirror_of(source)
    source.groups, source.users = groups, []
    with pytest.raises(NotAdmin, match="admin is not in lldap_admin"):
        mirror.refresh(source)
    assert mirror.user("bob") is not None
    assert mirror.generation == 1


def test_the_group_of_admins_is_found_by_name_in_any_letter_case_and_with_any_id() -> None:
    source = Source()
    source.groups = [Group(9, "LLDAP_Admin", "other", "", {}, frozenset({"admin"}))]
    assert mirror_of(source).server_uuid == "other"


def test_a_read_that_fails_changes_nothing_and_leaves_nothing_behind() -> None:
    source = Source(user("bob"))
    mirror = mirror_of(source)

    def fail() -> None:
        raise Unavailable("no")

    source.during = fail
    with pytest.raises(Unavailable):
        mirror.refresh(source)
    assert mirror.generation == 1
    assert mirror._reads == []


# Our own changes


def test_a_user_is_put_and_dropped_with_its_edges() -> None:
    mirror = mirror_of(Source(user("bob"), group(7, "bob")))
    changed = User("bob", "new@b.c", "Bob", "", "", "uuid-bob", "")
    mirror.put_user(changed)
    assert mirror.user("bob") == changed
    assert mirror.email_owner("bob@b.c") is None
    assert mirror.email_owner("new@b.c") == "bob"
    assert mirror.groups_of("bob") == {7}
    mirror.drop_user("BOB")
    assert mirror.user("bob") is None
    assert mirror.email_owner("new@b.c") is None
    assert mirror.groups_of("bob") == frozenset()
    assert mirror.group(7) == group(7)


def test_a_group_is_put_renamed_and_dropped_with_its_edges() -> None:
    mirror = mirror_of(Source(user("bob"), group(7, "bob", name="Devs")))
    mirror.put_group(group(7, "al", name="Ops"))
    assert mirror.group_by_name("devs") is None
    assert mirror.group_by_name("ops") == group(7, "al", name="Ops")
    assert mirror.groups_of("bob") == frozenset()
    assert mirror.groups_of("al") == {7}
    mirror.drop_group(7)
    assert mirror.group_by_name("ops") is None
    assert mirror.groups_of("al") == frozenset()
    mirror.drop_group(7)


def test_edges_are_added_and_removed() -> None:
    mirror = mirror_of(Source(user("bob"), group(7), group(8, "bob")))
    mirror.add_edge("Bob", 7)
    mirror.add_edge("bob", 7)
    assert mirror.groups_of("bob") == {7, 8}
    assert mirror.group(7) == group(7, "bob")
    mirror.remove_edge("bob", 8)
    mirror.remove_edge("bob", 8)
    assert mirror.groups_of("bob") == {7}
    mirror.add_edge("bob", 99)
    assert not mirror.member("bob", 99)


def test_an_email_that_another_has_by_now_stays_the_others() -> None:
    mirror = mirror_of(Source(user("al"), user("bob")))
    mirror.put_user(User("bob", "al@b.c", "", "", "", "", ""))
    mirror.put_user(User("al", "new@b.c", "", "", "", "", ""))
    assert mirror.email_owner("al@b.c") == "bob"


def test_a_name_that_another_group_has_by_now_stays_the_others() -> None:
    mirror = mirror_of(Source(group(7, name="devs"), group(8)))
    mirror.put_group(group(8, name="Devs"))
    mirror.put_group(group(7, name="ops"))
    assert mirror.group_by_name("devs") == group(8, name="Devs")


def test_attributes_are_put_by_their_key_and_dropped_with_all_values() -> None:
    mirror = mirror_of(Source(user("bob", phone="1", mark="m"), group(7, phone="2")))
    mirror.put_attribute(Target.USER, AttributeSchema("Phone", AttributeType.STRING))
    assert mirror.attribute(Target.USER, "phone") == PHONE
    mirror.drop_attribute(Target.USER, "PHONE")
    assert mirror.attribute(Target.USER, "phone") is None
    assert mirror.user("bob") == user("bob", mark="m")
    assert mirror.users_by_index("m") == (user("bob", mark="m"),)
    assert mirror.group(7) == group(7, phone="2")
    mirror.drop_attribute(Target.GROUP, "phone")
    assert mirror.group(7) == group(7)


# Changes while lldap is read


def test_what_is_changed_while_lldap_is_read_is_kept_and_named() -> None:
    source = Source(user("al"), user("bob", mark="old"), group(7, "al"), group(8))
    mirror = mirror_of(source)

    def change() -> None:
        mirror.put_user(user("bob", mark="new"))
        mirror.drop_user("al")
        mirror.put_group(group(8, name="new"))
        mirror.add_edge("eve", 1)
        mirror.put_attribute(Target.USER, PHONE)

    source.during = change
    refreshed = mirror.refresh(source)
    assert mirror.user("bob") == user("bob", mark="new")
    assert mirror.user("al") is None
    assert mirror.group(7) == group(7)
    assert mirror.group(8) == group(8, name="new")
    assert mirror.member("eve", 1)
    assert mirror.attribute(Target.USER, "phone") == PHONE
    assert refreshed.generation == 2
    assert refreshed.users == {"bob", "al"}
    assert refreshed.groups == {8}
    assert refreshed.edges == {("eve", 1)}
    assert refreshed.attributes == {(Target.USER, "phone")}


def test_what_was_changed_before_the_read_began_gives_way_to_what_was_read() -> None:
    source = Source(user("bob", mark="theirs"))
    mirror = mirror_of(source)
    mirror.put_user(user("bob", mark="ours"))
    refreshed = mirror.refresh(source)
    assert mirror.user("bob") == user("bob", mark="theirs")
    assert refreshed.users == frozenset()


def test_an_edge_of_a_group_that_only_the_read_knows_is_kept() -> None:
    source = Source(user("bob"))
    mirror = mirror_of(source)
    source.groups.append(group(7))
    source.during = lambda: mirror.add_edge("bob", 7)
    mirror.refresh(source)
    assert mirror.member("bob", 7)


def test_a_user_that_is_deleted_and_created_anew_has_none_of_its_old_edges() -> None:
    source = Source(user("bob"), group(7, "bob"), group(8))
    mirror = mirror_of(source)

    def recreate() -> None:
        mirror.drop_user("bob")
        mirror.put_user(user("bob"))
        mirror.add_edge("bob", 8)

    source.during = recreate
    mirror.refresh(source)
    assert mirror.groups_of("bob") == {8}


def test_values_of_an_attribute_that_is_deleted_while_lldap_is_read_are_not_shown() -> None:
    source = Source(user("bob", phone="1"), schema=Schema({"phone": PHONE}, {}))
    mirror = mirror_of(source)
    source.during = lambda: mirror.drop_attribute(Target.USER, "phone")
    mirror.refresh(source)
    assert mirror.user("bob") == user("bob")
    assert mirror.attribute(Target.USER, "phone") is None


def test_a_read_that_began_before_the_one_that_is_shown_does_not_replace_it() -> None:
    early, late = Source(user("old")), Source(user("new"))
    mirror = Mirror("admin", mark, clock=FakeClock())
    early.during = lambda: mirror.refresh(late)
    assert mirror.refresh(early).generation == 1
    assert mirror.user("new") is not None
    assert mirror.user("old") is None


def test_a_group_that_is_put_after_its_edges_changed_says_who_its_members_are() -> None:
    source = Source(user("bob"), group(7))
    mirror = mirror_of(source)

    def change() -> None:
        mirror.add_edge("bob", 7)
        mirror.put_group(group(7, name="re-read"))

    source.during = change
    mirror.refresh(source)
    assert mirror.group(7) == group(7, name="re-read")
    assert not mirror.member("bob", 7)


def test_an_attribute_that_is_dropped_while_lldap_is_read_stays_dropped() -> None:
    source = Source(schema=Schema({"phone": PHONE}, {"phone": PHONE}))
    mirror = mirror_of(source)
    source.during = lambda: mirror.drop_attribute(Target.GROUP, "phone")
    mirror.refresh(source)
    assert mirror.schema() == Schema({"phone": PHONE}, {})


def test_a_user_that_is_dropped_after_its_edges_changed_has_none() -> None:
    source = Source(user("bob"), group(7))
    mirror = mirror_of(source)

    def change() -> None:
        mirror.add_edge("bob", 7)
        mirror.drop_user("bob")

    source.during = change
    mirror.refresh(source)
    assert mirror.group(7) == group(7)
