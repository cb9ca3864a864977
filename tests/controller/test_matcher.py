"""The stateless match of a membership's names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.reconcilers.matcher import (
    GroupCandidate,
    GroupNotFound,
    MembershipReference,
    MembershipValidationError,
    UserCandidate,
    UserNotFound,
    validate_membership_references,
)

REFERENCE = MembershipReference("team-a", "default", "Alice", "Straße")
ALICE = UserCandidate("team-a", "default", "alice")
STREET = GroupCandidate("team-a", "default", "STRAßE")


def test_names_are_compared_as_lldap_compares_them() -> None:
    assert validate_membership_references(REFERENCE, [ALICE], [STREET]) == (ALICE, STREET)


def test_user_ids_fold_ascii_alone_and_group_names_all_letters() -> None:
    reference = MembershipReference("team-a", "default", "Änne", "ÄRZTE")
    user, group = (
        UserCandidate("team-a", "default", "änne"),
        GroupCandidate("team-a", "default", "ärzte"),
    )
    with pytest.raises(UserNotFound):
        validate_membership_references(reference, [user], [group])
    same = UserCandidate("team-a", "default", "ÄNNE")
    assert validate_membership_references(reference, [same], [group]) == (same, group)


@pytest.mark.parametrize("place", [("team-b", "default"), ("team-a", "other")])
def test_another_namespace_or_instance_does_not_count(place: tuple[str, str]) -> None:
    with pytest.raises(UserNotFound):
        validate_membership_references(REFERENCE, [UserCandidate(*place, "alice")], [STREET])
    with pytest.raises(GroupNotFound):
        validate_membership_references(REFERENCE, [ALICE], [GroupCandidate(*place, "Straße")])


def test_the_missing_side_is_told_the_user_first() -> None:
    with pytest.raises(UserNotFound):
        validate_membership_references(REFERENCE, [], [])
    with pytest.raises(GroupNotFound):
        validate_membership_references(REFERENCE, [ALICE], [])
    assert issubclass(UserNotFound, MembershipValidationError)
    assert issubclass(GroupNotFound, MembershipValidationError)


@given(
    name=st.text(alphabet="aA ", min_size=1, max_size=3),
    others=st.lists(st.text(alphabet="aA ", min_size=1, max_size=3)),
)
def test_a_space_is_part_of_a_name(name: str, others: list[str]) -> None:
    reference = MembershipReference("team-a", "default", "alice", name)
    groups = [GroupCandidate("team-a", "default", other) for other in others]
    wanted = [group for group in groups if group.display_name.lower() == name.lower()]
    if wanted:
        assert validate_membership_references(reference, [ALICE], groups)[1] == wanted[0]
    else:
        with pytest.raises(GroupNotFound):
            validate_membership_references(reference, [ALICE], groups)
