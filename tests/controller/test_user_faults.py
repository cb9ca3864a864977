"""Whatever is lost on the way: an account is neither lost nor made twice, nor forgotten."""

import functools
import re
from collections.abc import Callable

import pytest

from controller.api import MARK_ATTRIBUTE, PAUSED_ANNOTATION
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import (
    Forward,
    Hook,
    answer,
    delay,
    garble,
    lose_answer,
    lose_request,
    on,
    postpone,
    refuse,
)
from tests.support.accounts import (
    account,
    attributes,
    calls_of,
    can_log_in,
    crash_and_restart,
    has_account,
    refused,
    registrations,
    seen_before,
    settled_user,
    status,
    with_password,
    write_status,
)
from tests.support.bed import CALL_SECONDS, Bed
from tests.support.directory import Directory, mark

CREATED = {"user_id": "alice", "mail": "alice@example.org", "display_name": "Al"}


@pytest.fixture
def bed() -> Bed:
    bed = Bed()
    bed.group("first")  # so that the mark's attribute is there
    bed.settle()
    bed.clear_logs()
    return bed


FAULTS: dict[str, Callable[[Bed], Hook]] = {
    "refused connection": lambda _: refuse,
    "lost request": lambda _: lose_request,
    "lost answer": lambda _: lose_answer,
    "late answer": lambda bed: delay(bed.clock, CALL_SECONDS + 1),
    "garbled answer": lambda _: garble(lambda body: body[: len(body) // 2]),
    "error of a proxy": lambda _: answer(Response.of_text(502, "Bad Gateway")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_C03_a_creation_of_unknown_outcome_ends_in_one_account_of_ours(
    bed: Bed, fault: str
) -> None:
    bed.lldap.hooks.append(on("createUser", FAULTS[fault](bed)))
    made = bed.user("alice", displayName="Al")
    bed.run(15)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed) == CREATED
    assert status(bed)["origin"] == "Created"
    assert made["metadata"]["uid"] in (Directory(bed).mark("alice") or "")
    assert len(calls_of(bed, "createUser")) <= 2


def test_C03_a_creation_that_lands_late_is_taken_for_ours(bed: Bed) -> None:
    held: list[Callable[[], Response]] = []
    # The first attempt lands right before the second.
    bed.lldap.hooks += [_after_the_first(held), on("createUser", postpone(held))]
    bed.user("alice", displayName="Al")
    bed.run(15)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed) == CREATED
    assert status(bed)["origin"] == "Created"


def _after_the_first(held: list[Callable[[], Response]]) -> Hook:
    return seen_before("createUser", lambda: [landed() for landed in held])


@pytest.mark.parametrize("fault", FAULTS)
def test_an_update_of_unknown_outcome_is_brought_about(bed: Bed, fault: str) -> None:
    settled_user(bed, policy="Ignore", displayName="Al", lastName="B")
    bed.lldap.hooks.append(on("updateUser", FAULTS[fault](bed)))
    bed.user("alice", displayName="Ann", firstName="A")
    bed.run(15)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed) == {
        "user_id": "alice",
        "mail": "alice@example.org",
        "display_name": "Ann",
        "first_name": ["A"],
    }
    assert len(calls_of(bed, "updateUser")) <= 2


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(1, 4))
def test_a_crash_at_any_call_of_a_creation_loses_and_doubles_nothing(
    bed: Bed, number: int, after: bool
) -> None:
    bed.user("alice", displayName="Al")
    assert crash_and_restart(bed, number, after=after)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed) == CREATED
    assert status(bed)["origin"] == "Created"
    assert status(bed)["managed"] == ["displayName", "email"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(1, 4))
def test_a_crash_at_any_call_of_an_update_loses_nothing(bed: Bed, number: int, after: bool) -> None:
    settled_user(bed, policy="Ignore", displayName="Al", lastName="B")
    bed.user("alice", displayName="Ann", firstName="A")  # one name more, one less
    crash_and_restart(bed, number, after=after)
    bed.user("alice", displayName="Ann")
    bed.settle()
    assert account(bed) == {**CREATED, "display_name": "Ann"}


# A creation with a password has nine calls, the last of which writes its status.
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(1, 10))
@pytest.mark.parametrize("policy", ["Manage", "InitialOnly"])
def test_B04_a_crash_in_a_creation_and_an_edited_spec_lose_nothing(
    bed: Bed, policy: str, number: int, after: bool
) -> None:
    bed.schema("text")
    bed.settle()
    bed.secret("pw", b"the first password")
    with_password(bed, policy=policy, displayName="Al", attributes=attributes(text=["a"]))
    edit = functools.partial(with_password, bed, policy=policy, firstName="A")
    assert crash_and_restart(bed, number, after=after, meanwhile=edit)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed) == {
        "user_id": "alice",
        "mail": "alice@example.org",
        "first_name": ["A"],
    }
    assert can_log_in(bed)
    assert status(bed)["origin"] == "Created"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(1, 9))
def test_B04_a_second_crash_in_the_pass_after_a_crash_loses_nothing_either(
    bed: Bed, number: int, after: bool
) -> None:
    bed.secret("pw", b"the first password")
    paused = {PAUSED_ANNOTATION: "true"}
    made = with_password(bed, policy="InitialOnly", displayName="Al", annotations=paused)
    ours = {MARK_ATTRIBUTE: [mark(made["metadata"]["uid"], "alice")]}
    with bed.lldap.database() as store:  # all that the first process has done
        store.create_user("alice", "alice@example.org", "Al", ours)
    bed.start()
    bed.settle()
    with_password(bed, policy="InitialOnly", firstName="A", annotations={})
    assert crash_and_restart(bed, number, after=after)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed) == {"user_id": "alice", "mail": "alice@example.org", "first_name": ["A"]}
    assert can_log_in(bed)


def test_without_a_record_what_somebody_else_may_have_set_is_left_alone(bed: Bed) -> None:
    settled_user(bed, displayName="Al")
    Directory(bed).make_attribute("phone")
    bed.clock.advance(3600)
    Directory(bed).set_attribute("alice", "phone", "112")
    bed.lldap.set_password("alice", "a password of hers")  # now both dates are the same
    write_status(bed, {})
    bed.start()
    with_password(bed)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    found = account(bed)
    assert (found["phone"], found["display_name"]) == (["112"], "Al")


def test_without_the_dates_of_newer_servers_nothing_unrecorded_is_cleared(bed: Bed) -> None:
    settled_user(bed, policy="Ignore", displayName="Al")
    write_status(bed, {})
    bed.lldap.hooks.append(without_dates)
    bed.start()
    bed.user("alice")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed) == CREATED


def without_dates(call: Call, forward: Forward) -> Response:
    """As lldap 0.6.2 answers, which does not tell when something was changed."""
    response = forward(call)
    dates = rb'\{"name":"(?:password_)?modified_date","value":\["[^"]*"\]\},?'
    return response._replace(body=re.sub(dates, b"", response.body).replace(b",]", b"]"))


# --- an account that goes ------------------------------------------------------------------


def test_an_account_deleted_behind_our_back_is_created_again_with_its_password(bed: Bed) -> None:
    settled_user(bed, displayName="Al")
    old = status(bed)["uuid"]
    Directory(bed).delete_user("alice")
    bed.run(700, step=50)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed) == CREATED
    assert can_log_in(bed)
    assert registrations(bed) == 1
    assert status(bed)["uuid"] == Directory(bed).uuid("alice") != old


def test_an_account_deleted_before_an_update_is_created_again(bed: Bed) -> None:
    settled_user(bed, displayName="Al")
    Directory(bed).delete_user("alice")
    with_password(bed, displayName="Al")
    bed.annotate("LldapUser", "alice", lldap_operator_lukidoescode_com__nothing="1")
    with_password(bed, displayName="Ann")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed)["display_name"] == "Ann"
    assert can_log_in(bed)


@pytest.mark.parametrize("policy", ["Ignore", "Manage"])
def test_an_account_that_goes_during_the_pass_is_created_again(bed: Bed, policy: str) -> None:
    settled_user(bed, policy=policy, displayName="Al")

    uuid = status(bed)["uuid"]

    def goes() -> None:
        if Directory(bed).uuid("alice") == uuid:
            Directory(bed).delete_user("alice")

    bed.lldap.hooks.append(seen_before("updateUser", goes))
    with_password(bed, policy=policy, displayName="Ann")
    bed.run(12)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed)["display_name"] == "Ann"


def test_an_account_that_is_created_again_gets_its_first_password_again(bed: Bed) -> None:
    settled_user(bed, policy="InitialOnly")
    Directory(bed).delete_user("alice")
    bed.run(700, step=50)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed)


def test_a_forged_record_does_not_clear_what_others_set(bed: Bed) -> None:
    directory = Directory(bed)
    directory.make_attribute("phone")
    directory.make_user("alice", phone="112")
    bed.user("alice", annotations={PAUSED_ANNOTATION: "true"})
    forged = {"uuid": directory.uuid("alice"), "managed": ["displayName", "phone"]}
    write_status(bed, forged)
    bed.user("alice", email="alice@by-hand.example", annotations={})
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    found = account(bed)
    assert (found["phone"], found["display_name"]) == (["112"], "alice's name")


def test_another_account_of_that_name_is_decided_anew(bed: Bed) -> None:
    settled_user(bed, displayName="Al")
    Directory(bed).delete_user("alice")
    Directory(bed).make_user("alice", "lldap_admin")
    bed.run(700, step=50)
    assert bed.ready("LldapUser", "alice") == ("False", "NotAdopted")
    assert registrations(bed) == 0
    assert has_account(bed)


# --- errors of the database ----------------------------------------------------------------


def test_C04_a_lock_of_the_database_is_tried_again_and_shows_nowhere(bed: Bed) -> None:
    text = "Database error: `Execution Error: error returned from database: (code: 5) "
    text += "database is locked`"
    bed.lldap.hooks.append(refused("createUser", text))
    bed.user("alice", displayName="Al")
    shown = set()
    for _ in range(4):
        bed.step()
        bed.clock.advance(0.01)
        if status(bed):
            shown.add(bed.ready("LldapUser", "alice"))
    bed.lldap.hooks.clear()
    bed.run(10)
    assert not shown
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_an_error_that_nobody_knows_is_tried_again_and_concludes_nothing(bed: Bed) -> None:
    bed.lldap.hooks.append(refused("createUser", "Something new"))
    bed.user("alice", displayName="Al")
    bed.run(5)
    assert bed.ready("LldapUser", "alice") == ("False", "Refused")
    bed.lldap.hooks.clear()
    bed.run(30)
    assert account(bed) == CREATED
