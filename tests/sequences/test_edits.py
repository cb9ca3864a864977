import pytest
from hypothesis import settings

from tests.sequences.edits import Edits, Subject
from tests.sequences.groups import GROUPS
from tests.sequences.users import USERS

KINDS = (USERS, GROUPS)
SHORT = settings(max_examples=80, deadline=None, derandomize=True)


@pytest.mark.slow
@pytest.mark.parametrize("subject", KINDS, ids=repr)
def test_any_edits_end_as_if_there_had_been_only_the_last(subject: Subject) -> None:
    edits = Edits(subject)
    edits.any_edits_end_as_the_last(SHORT)
    assert edits.steps > 100


@pytest.mark.slow
@pytest.mark.parametrize("subject", KINDS, ids=repr)
def test_a_bad_edit_is_undone_by_the_edit_before(subject: Subject) -> None:
    edits = Edits(subject)
    edits.a_bad_edit_is_undone_by_the_one_before(SHORT)
    assert edits.steps > 100
