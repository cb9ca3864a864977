"""The mirror: reads that do not count, and changes while lldap is read."""

import pytest

from lldap import (
    GroupWithMembers,
    Mirror,
    NotAdmin,
    Schema,
    Target,
    Unavailable,
)
from tests.lldap.mirror_bed import PHONE, Source, alone, group, mark, mirror_of, user
from tests.support.clock import FakeClock

# Reads that do not count


@pytest.mark.parametrize(
    "groups",
    [
        [],
        [GroupWithMembers(1, "lldap_admin", "", "")],
        [GroupWithMembers(1, "lldap_admin", "", "", {}, frozenset({"al"}))],
        [GroupWithMembers(1, "renamed", "", "", {}, frozenset({"admin"}))],
    ],
)
def test_a_read_that_does_not_show_us_as_admin_is_thrown_away_whole(
    groups: list[GroupWithMembers],
) -> None:
    source = Source(user("bob"))
    mirror = mirror_of(source)
    source.groups, source.users = groups, []
    with pytest.raises(NotAdmin, match="admin is not in lldap_admin"):
        mirror.refresh(source)
    assert mirror.user("bob") is not None
    assert mirror.generation == 1


def test_the_group_of_admins_is_found_by_name_in_any_letter_case_and_with_any_id() -> None:
    source = Source()
    source.groups = [GroupWithMembers(9, "LLDAP_Admin", "other", "", {}, frozenset({"admin"}))]
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
    assert mirror.group(7) is not None
    assert not mirror.has_members(7)
    assert mirror.group(8) == alone(group(8, name="new"))
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
    assert mirror.group(7) == alone(group(7, name="re-read"))
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
    assert mirror.group(7) is not None
    assert not mirror.has_members(7)
