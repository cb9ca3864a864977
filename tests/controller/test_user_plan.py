"""A dry run says what would be done to an account, and calls nothing."""

import pytest

from controller.api import DRY_RUN_ANNOTATION
from tests.support.accounts import (
    FIRST,
    SECOND,
    attributes,
    has_account,
    secret_reads,
    settled_user,
    with_password,
)
from tests.support.bed import Bed
from tests.support.directory import Directory

END = f". Remove the annotation {DRY_RUN_ANNOTATION} to let it happen"
DRY = {DRY_RUN_ANNOTATION: "true"}


@pytest.fixture
def bed() -> Bed:
    bed = Bed()
    bed.schema("text")
    bed.settle()
    bed.clear_logs()
    return bed


def planned(bed: Bed) -> str:
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "DryRun")
    assert bed.operations() == []
    assert secret_reads(bed) == []
    message = bed.message("LldapUser", "alice")
    assert message.startswith("dry-run: would do: ")
    assert message.endswith(END)
    return message.removeprefix("dry-run: would do: ").removesuffix(END)


def test_a_new_account_would_be_created(bed: Bed) -> None:
    bed.secret("pw", FIRST)
    with_password(bed, annotations=DRY)
    plan = planned(bed)
    assert plan.startswith("create user alice; ")
    assert "password" in plan
    assert not has_account(bed)


def test_of_an_account_the_difference_would_be_changed(bed: Bed) -> None:
    settled_user(bed, displayName="Al", lastName="B")
    with_password(bed, displayName="Ann", attributes=attributes(text=["a"]), annotations=DRY)
    assert planned(bed) == "set displayName, lastName; set attributes text"


def test_what_is_no_longer_declared_would_be_taken_off(bed: Bed) -> None:
    settled_user(bed)
    with_password(bed, displayName="Al", attributes=attributes(text=["a"]))
    bed.settle()
    with_password(bed, annotations=DRY)
    bed.clear_logs()
    assert planned(bed) == "set displayName; remove attributes text"


def test_nothing_would_be_done_where_nothing_differs(bed: Bed) -> None:
    settled_user(bed, displayName="Al")
    with_password(bed, displayName="Al", annotations=DRY)
    assert planned(bed) == "nothing"


def test_a_changed_secret_would_be_compared(bed: Bed) -> None:
    settled_user(bed)
    with_password(bed, annotations=DRY)
    bed.settle()
    bed.secret("pw", SECOND)
    assert "password" in planned(bed)


def test_an_account_that_is_nobodys_would_be_taken_over(bed: Bed) -> None:
    Directory(bed).make_user("alice")
    bed.start()
    bed.settle()
    bed.clear_logs()
    bed.user("alice", email="alice@by-hand.example", annotations=DRY)
    assert planned(bed) == "take over user alice"


def test_an_account_that_may_not_be_changed_would_fail(bed: Bed) -> None:
    settled_user(bed, displayName="Al")
    Directory(bed).add("alice", "lldap_admin")
    bed.start()
    bed.settle()
    bed.clear_logs()
    with_password(bed, displayName="Ann", annotations=DRY)
    bed.settle()
    assert "would fail: ProtectedAccount" in bed.message("LldapUser", "alice")


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_a_missing_schema_is_said(bed: Bed, there: bool) -> None:
    if there:
        settled_user(bed, policy="Ignore", displayName="Al")
    bed.user("alice", attributes=attributes(department=["it"]), annotations=DRY)
    bed.settle()
    message = bed.message("LldapUser", "alice")
    if there:
        assert message == (
            f"dry-run: would do: set displayName; wait for a schema of department{END}"
        )
    else:
        assert "would fail: DependencyNotReady" in message
    assert bed.operations() == []
