"""The mirror: lookups and our own changes."""

import pytest

from lldap import (
    AttributeSchema,
    AttributeType,
    Mirror,
    Schema,
    Target,
    Unavailable,
    User,
)
from lldap.mirror import SLOW_READ_SECONDS
from lldap.models import Digest
from tests.lldap.mirror_bed import ADMINS, MAIL, PHONE, Source, alone, group, mark, mirror_of, user
from tests.support.clock import FakeClock

# Lookups


def test_what_was_read_is_found_in_any_letter_case() -> None:
    bob = user("bob")
    devs = group(7, "bob", "al", name="Devs Ä")
    mirror = mirror_of(Source(bob, devs))
    assert mirror.user("BOB") == bob
    assert mirror.group(7) == alone(devs)
    assert mirror.group_by_name("devs ä") == alone(devs)
    assert mirror.email_owner("Bob@B.C") == "bob"
    assert mirror.groups_of("Bob") == {7}
    assert mirror.member("BOB", 7)
    assert not mirror.member("bob", 1)
    assert mirror.attribute(Target.USER, "MAIL") == MAIL
    assert mirror.schema() == Schema({"mail": MAIL}, {})
    assert mirror.users() == (bob,)
    assert mirror.groups() == (alone(ADMINS), alone(devs))


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
    assert mirror.groups_by_index("g") == (alone(devs),)
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


def test_the_first_read_already_names_the_users_that_are_probably_there() -> None:
    source = Source(user("bob"))
    mirror = Mirror("admin", mark, clock=FakeClock())
    mirror.refresh(source, expected=["al"])
    assert source.known == [["al"]]


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
    assert not mirror.has_members(7)


def test_a_group_is_put_renamed_and_dropped_with_its_edges() -> None:
    mirror = mirror_of(Source(user("bob"), group(7, "bob", name="Devs")))
    mirror.put_group(group(7, "al", name="Ops"))
    assert mirror.group_by_name("devs") is None
    assert mirror.group_by_name("ops") == alone(group(7, "al", name="Ops"))
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
    assert mirror.member("bob", 7)
    assert mirror.has_members(7)
    mirror.remove_edge("bob", 8)
    mirror.remove_edge("bob", 8)
    assert mirror.groups_of("bob") == {7}
    assert not mirror.has_members(8)
    mirror.add_edge("bob", 99)
    assert not mirror.member("bob", 99)


def test_a_new_member_copies_none_of_those_that_are_there() -> None:
    mirror = mirror_of(Source(user("bob"), group(7, "al")))
    members = mirror._picture.members[7]
    mirror.add_edge("bob", 7)
    mirror.remove_edge("al", 7)
    assert mirror._picture.members[7] is members
    assert members == {"bob"}


def test_an_email_that_another_has_by_now_stays_the_others() -> None:
    mirror = mirror_of(Source(user("al"), user("bob")))
    mirror.put_user(User("bob", "al@b.c", "", "", "", "", ""))
    mirror.put_user(User("al", "new@b.c", "", "", "", "", ""))
    assert mirror.email_owner("al@b.c") == "bob"


def test_a_name_that_another_group_has_by_now_stays_the_others() -> None:
    mirror = mirror_of(Source(group(7, name="devs"), group(8)))
    mirror.put_group(group(8, name="Devs"))
    mirror.put_group(group(7, name="ops"))
    assert mirror.group_by_name("devs") == alone(group(8, name="Devs"))


def test_attributes_are_put_by_their_key_and_dropped_with_all_values() -> None:
    mirror = mirror_of(Source(user("bob", phone="1", mark="m"), group(7, phone="2")))
    mirror.put_attribute(Target.USER, AttributeSchema("Phone", AttributeType.STRING))
    assert mirror.attribute(Target.USER, "phone") == PHONE
    mirror.drop_attribute(Target.USER, "PHONE")
    assert mirror.attribute(Target.USER, "phone") is None
    assert mirror.user("bob") == user("bob", mark="m")
    assert mirror.users_by_index("m") == (user("bob", mark="m"),)
    assert mirror.group(7) == alone(group(7, phone="2"))
    mirror.drop_attribute(Target.GROUP, "phone")
    assert mirror.group(7) == alone(group(7))


def test_the_groups_of_a_user_are_set_as_they_were_read() -> None:
    mirror = mirror_of(Source(user("bob"), group(7, "bob"), group(8, "bob"), group(9)))
    mirror.set_groups("Bob", [8, 9])
    assert mirror.groups_of("bob") == {8, 9}


def test_who_has_a_value_of_an_attribute_is_told() -> None:
    mirror = mirror_of(Source(user("bob", phone="1"), user("al"), group(7, phone="2")))
    assert mirror.holders(Target.USER, "Phone") == ["bob"]
    assert mirror.holders(Target.GROUP, "phone") == ["group-7"]
    assert mirror.holders(Target.USER, "nosuch") == []


def test_a_mirror_is_loaded_after_its_first_read() -> None:
    assert not Mirror("admin", mark, clock=FakeClock()).loaded
    assert mirror_of(Source()).loaded
