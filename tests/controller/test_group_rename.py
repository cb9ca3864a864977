"""A changed displayName renames the group in place; a name that is taken is a conflict."""

from sandbox.lldap.faults import answer, lose_answer, on
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import (
    CONFLICT,
    VERIFIED,
    attributes,
    before,
    crash_after,
    database_error,
    edges,
    group_ids,
    group_named,
    group_values,
    rename_by_hand,
)


def bed_with(*names: str) -> Bed:
    """A bed with these groups, Ready, and nothing in the logs."""
    bed = Bed()
    for name in names:
        bed.group(name)
    bed.settle()
    bed.clear_logs()
    return bed


def test_A17_a_rename_is_one_update_in_place_and_keeps_the_members() -> None:
    bed = bed_with("Engineering")
    Directory(bed).make_user("hand")
    Directory(bed).add("hand", "Engineering")
    number = group_ids(bed)["Engineering"]
    group_named(bed, "engineering", "Eng")
    bed.settle()
    assert bed.mutations() == ["updateGroup"]
    assert group_ids(bed) == {"Eng": number}
    assert edges(bed) == {("hand", "Eng")}
    assert bed.get("LldapGroup", "engineering")["status"]["groupId"] == number


def test_A17_memberships_of_the_old_name_are_pending_and_their_edge_stays() -> None:
    bed = bed_with("Engineering")
    bed.user("alice")
    bed.membership("alice", "Engineering")
    bed.settle()
    group_named(bed, "engineering", "Eng")
    bed.run(30)
    assert bed.ready("LldapMembership", "alice-engineering") == ("False", "Pending")
    assert edges(bed) == {("alice", "Eng")}


def test_A03_another_spelling_of_a_group_that_is_there_is_one_rename() -> None:
    bed = Bed()
    Directory(bed).make_group("Engineering")
    number = group_ids(bed)["Engineering"]
    bed.group("engineering")
    bed.user("alice")
    bed.membership("alice", "ENGINEERING")
    bed.run(700)
    assert group_ids(bed) == {"engineering": number}
    assert "createGroupWithDetails" not in bed.mutations()
    assert bed.mutations().count("updateGroup") == 2  # the mark, the spelling
    assert bed.get("LldapMembership", "alice-engineering")["status"]["groupId"] == number
    assert edges(bed) == {("alice", "engineering")}


def test_the_letter_case_alone_is_a_rename_of_the_spelling() -> None:
    bed = bed_with("Team")
    group_named(bed, "team", "TEAM")
    bed.settle()
    bed.run(700)
    assert bed.mutations() == ["updateGroup"]
    assert list(group_ids(bed)) == ["TEAM"]


def test_the_spelling_is_changed_though_an_older_object_wants_the_name() -> None:
    bed = Bed()
    group_named(bed, "older", "Other")
    bed.settle()
    bed.clock.advance(60)
    bed.group("Team")
    bed.settle()
    group_named(bed, "older", "team")  # older, but the other one has the name
    bed.settle()
    group_named(bed, "team", "TEAM")
    bed.settle()
    assert bed.ready("LldapGroup", "team") == VERIFIED
    assert bed.ready("LldapGroup", "older") == CONFLICT
    assert set(group_ids(bed)) == {"Other", "TEAM"}


def test_a_name_that_is_renamed_by_hand_is_put_back() -> None:
    bed = bed_with("Team")
    rename_by_hand(bed, "Team", "Somebody")
    bed.run(700)
    assert bed.mutations() == ["updateGroup"]
    assert list(group_ids(bed)) == ["Team"]


# --- names that are taken --------------------------------------------------------------------


def test_a_rename_onto_another_objects_name_is_a_conflict_and_changes_nothing() -> None:
    bed = bed_with("Red", "Blue")
    group_named(bed, "red", "BLUE")
    bed.run(700)
    assert bed.ready("LldapGroup", "red") == CONFLICT
    assert "team-a/blue" in bed.message("LldapGroup", "red")
    assert bed.ready("LldapGroup", "blue") == VERIFIED
    assert set(group_ids(bed)) == {"Red", "Blue"}
    assert bed.mutations() == []


def test_a_rename_onto_a_hand_made_groups_name_is_never_an_adoption() -> None:
    bed = bed_with("Red")
    Directory(bed).make_group("Blue")
    bed.run(700)
    bed.clear_logs()
    group_named(bed, "red", "Blue")
    bed.settle()
    assert bed.ready("LldapGroup", "red") == CONFLICT
    assert "Red keeps its name" in bed.message("LldapGroup", "red")
    assert set(group_ids(bed)) == {"Red", "Blue"}
    assert bed.mutations() == []


def test_a_rename_onto_a_name_that_was_taken_a_moment_ago_is_a_conflict() -> None:
    bed = bed_with("Red")
    directory = Directory(bed)
    bed.lldap.hooks.append(before("updateGroup", lambda: directory.make_group("blue")))
    group_named(bed, "red", "Blue")
    bed.settle()
    assert bed.ready("LldapGroup", "red") == CONFLICT
    assert set(group_ids(bed)) == {"Red", "blue"}


def test_a_rename_onto_the_name_that_an_older_object_waits_for_is_a_conflict() -> None:
    bed = Bed()
    bed.group("Blue", attributes=attributes(nosuch=["1"]))  # claims the name, and waits
    bed.settle()
    bed.clock.advance(5)
    bed.group("Red")
    bed.settle()
    bed.clear_logs()
    group_named(bed, "red", "Blue")
    bed.run(60)
    assert bed.ready("LldapGroup", "red") == CONFLICT
    assert "team-a/blue" in bed.message("LldapGroup", "red")
    assert bed.mutations() == []


def test_a_rename_onto_the_name_that_a_younger_object_waits_for_is_done() -> None:
    bed = bed_with("Red")
    bed.clock.advance(5)
    bed.group("Blue", attributes=attributes(nosuch=["1"]))
    bed.settle()
    group_named(bed, "red", "Blue")
    bed.run(45)
    assert bed.ready("LldapGroup", "red") == VERIFIED
    assert bed.ready("LldapGroup", "blue") == CONFLICT


def test_a_conflict_of_names_ends_when_the_other_group_goes() -> None:
    bed = bed_with("Red", "Blue")
    group_named(bed, "red", "Blue")
    bed.settle()
    number = group_ids(bed)["Red"]
    bed.delete("LldapGroup", "blue")
    bed.run(2)
    # In the same namespace the name's group is handed over, and Red is now its second group.
    assert bed.ready("LldapGroup", "red") == VERIFIED
    assert group_ids(bed)["Blue"] != number


def test_two_objects_that_swap_their_names_both_keep_them() -> None:
    bed = bed_with("Red", "Blue")
    ids = group_ids(bed)
    group_named(bed, "red", "Blue")
    group_named(bed, "blue", "Red")
    bed.run(120)
    assert bed.ready("LldapGroup", "red") == CONFLICT
    assert bed.ready("LldapGroup", "blue") == CONFLICT
    assert group_ids(bed) == ids
    assert bed.mutations() == []


def test_a_chain_of_renames_comes_to_its_end_in_any_order() -> None:
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)):
        bed = bed_with("one", "two", "three")
        ids = group_ids(bed)
        steps = [("one", "two"), ("two", "three"), ("three", "four")]
        for index in order:
            group_named(bed, *steps[index])
            bed.settle()
        bed.run(60)
        assert group_ids(bed) == {
            "two": ids["one"],
            "three": ids["two"],
            "four": ids["three"],
        }, order
        assert all(bed.ready("LldapGroup", name) == VERIFIED for name, _ in steps), order


def test_a_chain_of_renames_takes_no_time() -> None:
    """Each name that is freed in lldap wakes who wants it."""
    bed = bed_with(*(f"c{number}" for number in range(6)))
    ids = group_ids(bed)
    for number in range(6):
        group_named(bed, f"c{number}", f"c{number + 1}")
    bed.settle(400)
    assert group_ids(bed) == {f"c{number + 1}": ids[f"c{number}"] for number in range(6)}
    assert all(bed.ready("LldapGroup", f"c{number}") == VERIFIED for number in range(6))


def with_a_name_that_is_given_up(attempts: int) -> Bed:
    """Second waits for the name that red gives up, which lldap is too busy for so many times."""
    bed = bed_with("Red")
    bed.clock.advance(60)
    group_named(bed, "second", "Red")
    bed.settle()
    assert bed.ready("LldapGroup", "second") == CONFLICT
    busy = answer(database_error("deadlock detected"))
    bed.lldap.hooks.append(on("updateGroup", busy, times=attempts))
    group_named(bed, "red", "Blue")
    return bed


def test_who_waits_for_a_name_gets_it_soon_after_its_holder_was_renamed() -> None:
    bed = with_a_name_that_is_given_up(3)  # later than second looks again
    bed.run(15)
    assert bed.ready("LldapGroup", "second") == VERIFIED
    assert set(group_ids(bed)) == {"Red", "Blue"}


def test_who_waits_for_a_name_gets_it_soon_after_its_group_was_found_gone() -> None:
    bed = with_a_name_that_is_given_up(2)
    bed.settle()
    Directory(bed).delete_group("Red")
    bed.until(lambda: "Blue" in group_ids(bed), 5)
    bed.run(1)  # sooner than it looks again by itself
    assert bed.ready("LldapGroup", "second") == VERIFIED
    assert set(group_ids(bed)) == {"Red", "Blue"}


# --- crashes ---------------------------------------------------------------------------------


def test_a_group_is_found_by_its_mark_after_a_crash_with_an_edited_spec() -> None:
    bed = Bed()
    bed.schema("department", "Group")
    bed.settle()
    bed.apply("LldapGroup", "teams", {"displayName": "Team"})
    crash_after(bed, "createGroupWithDetails")
    assert "groupId" not in bed.get("LldapGroup", "teams").get("status", {})
    number = group_ids(bed)["Team"]
    group_named(bed, "teams", "Crew", attributes=attributes(department=["42"]))
    bed.start()
    bed.run(10)
    assert group_ids(bed) == {"Crew": number}
    assert group_values(bed, "Crew") == {"department": ["42"]}
    assert bed.ready("LldapGroup", "teams") == VERIFIED


def test_a_group_is_found_by_its_record_when_all_marks_were_wiped() -> None:
    """Deleting the mark's attribute in lldap takes every mark with it."""
    bed = bed_with("Team")
    number = group_ids(bed)["Team"]
    with bed.lldap.database() as store:
        store.state.groups.delete_attribute("kubernetes-owner")
    group_named(bed, "team", "Crew")
    bed.start()
    bed.run(10)
    assert group_ids(bed) == {"Crew": number}
    assert Directory(bed).group_mark("Crew")
    assert "MarkRestored" in bed.events.reasons()


def test_a_lost_answer_to_a_rename_renames_once() -> None:
    bed = bed_with("Red")
    number = group_ids(bed)["Red"]
    bed.lldap.hooks.append(on("updateGroup", lose_answer))
    group_named(bed, "red", "Blue")
    bed.run(30)
    assert group_ids(bed) == {"Blue": number}
    assert bed.mutations() == ["updateGroup"]


def test_a_group_that_took_another_name_meanwhile_is_not_adopted_for_the_old_one() -> None:
    """The mirror only nominates: it still shows the hand-made group under the wanted name."""
    bed = Bed()
    Directory(bed).make_group("Team")
    bed.settle()
    rename_by_hand(bed, "Team", "Strangers")
    bed.group("Team")
    bed.run(5)
    assert set(group_ids(bed)) == {"Team", "Strangers"}
    assert Directory(bed).group_mark("Strangers") is None
    assert bed.get("LldapGroup", "team")["status"]["origin"] == "Created"


def test_C06_a_group_that_is_deleted_right_before_its_rename_is_made_anew_at_once() -> None:
    bed = bed_with("Engineering")
    delete = before("updateGroup", lambda: Directory(bed).delete_group("Engineering"))
    bed.lldap.hooks.append(delete)
    group_named(bed, "engineering", "Eng")
    bed.run(30)
    assert bed.ready("LldapGroup", "engineering") == VERIFIED
    assert bed.mutations() == ["updateGroup", "createGroupWithDetails"]
