"""A registration counts when it is shown to work, whatever goes wrong on the way."""

import gc
import types
from collections.abc import Callable

import pytest

from sandbox.apiserver.app import ApiServer
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward, Hook, answer, delay, lose_answer, lose_request, on, refuse
from sandbox.lldap.server import Lldap
from tests.support.accounts import (
    FIRST,
    LOGIN,
    PROOF_START,
    REGISTER_FINISH,
    REGISTER_START,
    SECOND,
    account,
    calls_of,
    can_log_in,
    crash_and_restart,
    only,
    password_date,
    registrations,
    resync,
    settled_user,
    status,
    with_password,
)
from tests.support.bed import CALL_SECONDS, Bed

DENIED = Response.of_text(401, "Unauthorized: `Not authorized to change the user's password`")
FAULTS: dict[str, Callable[[Bed], Hook]] = {
    "500": lambda _: answer(Response.of_text(500, "")),
    "502": lambda _: answer(Response.of_text(502, "<html>Bad Gateway</html>")),
    "401": lambda _: answer(DENIED),
    "400": lambda _: answer(Response.of_text(400, "Bad request")),
    "409": lambda _: answer(Response.of_json(409, {"error_code": "something"})),
    "200 of something else": lambda _: answer(Response.of_text(200, "<html>Log in</html>")),
    "refused connection": lambda _: refuse,
    "lost request": lambda _: lose_request,
    "lost answer": lambda _: lose_answer,
    "late answer": lambda bed: delay(bed.clock, CALL_SECONDS + 1),
}
NEVER_DONE = [name for name in FAULTS if name not in {"lost answer", "late answer"}]

BY_PROBES = {"refused connection", "lost request"}  # tried again when a probe finds lldap well


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("path", [REGISTER_START, REGISTER_FINISH, PROOF_START])
@pytest.mark.parametrize("policy", ["Manage", "InitialOnly"])
def test_B01_a_registration_that_fails_once_is_made_to_work(
    bed: Bed, policy: str, path: str, fault: str
) -> None:
    bed.secret("pw", FIRST)
    bed.group("first")
    bed.settle()
    bed.lldap.hooks.append(on(path, FAULTS[fault](bed)))
    with_password(bed, policy=policy)
    resync(bed)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed)
    assert registrations(bed) <= 2


@pytest.mark.parametrize("fault", NEVER_DONE)
def test_B01_a_refused_registration_is_not_taken_for_done(bed: Bed, fault: str) -> None:
    settled_user(bed)
    before = status(bed)
    bed.lldap.hooks.append(only(REGISTER_FINISH, FAULTS[fault](bed)))
    bed.secret("pw", SECOND)
    bed.run(60)
    assert bed.ready("LldapUser", "alice")[0] == "False"
    now = status(bed)
    assert now["passwordHash"] == before["passwordHash"]
    assert now["passwordModifiedDate"] == before["passwordModifiedDate"]
    assert "PasswordSet" not in bed.events.reasons()
    assert can_log_in(bed, FIRST)
    if fault not in BY_PROBES:
        assert registrations(bed) < 20  # with back-off
    bed.lldap.hooks.clear()
    resync(bed)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed, SECOND)


def test_B09_a_refusal_of_rights_does_not_log_in_again_and_again(bed: Bed) -> None:
    settled_user(bed)
    bed.lldap.hooks.append(only(REGISTER_START, answer(DENIED)))
    bed.secret("pw", SECOND)
    with_password(bed, displayName="Al")
    bed.run(300)
    assert bed.ready("LldapUser", "alice") == ("False", "Forbidden")
    assert len(calls_of(bed, LOGIN)) < 5
    assert account(bed)["display_name"] == "Al"
    assert can_log_in(bed, FIRST)


def test_B11_an_operator_without_rights_is_told_once_for_all(bed: Bed) -> None:
    settled_user(bed)
    with bed.lldap.database() as store:
        store.remove_member("admin", 1)
        store.add_member("admin", 3)
    bed.start()  # rights are in the token: a new login shows them
    for name in ("bob", "carol", "dora"):
        bed.user(name)
    bed.run(60)
    for name in ("bob", "carol", "dora"):
        assert bed.ready("LldapUser", name) == ("False", "Forbidden")
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert bed.mutations() == []


@pytest.mark.parametrize("seconds", [0.9, 3.0])
def test_C09_a_slow_server_is_no_failure_and_one_login_serves_all(bed: Bed, seconds: float) -> None:
    bed.secret("pw", FIRST)
    bed.settle()
    bed.clear_logs()
    bed.lldap.hooks.append(delay(bed.clock, seconds))
    for number in range(10):
        with_password(bed, f"user-{number}")
    bed.settle()
    assert all(
        bed.ready("LldapUser", f"user-{number}") == ("True", "Verified") for number in range(10)
    )
    assert calls_of(bed, LOGIN) == []


# --- crashes of Manage ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("whole_seconds", [False, True], ids=["fractions", "whole seconds"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_any_call_of_a_rotation_ends_in_the_new_password(
    after: bool, whole_seconds: bool
) -> None:
    number, crashed = 0, True
    while crashed:
        number += 1
        bed = Bed(whole_seconds=whole_seconds)
        settled_user(bed)
        bed.secret("pw", SECOND)
        crashed = crash_and_restart(bed, number, after=after)
        assert bed.ready("LldapUser", "alice") == ("True", "Verified")
        assert can_log_in(bed, SECOND)
        assert status(bed)["passwordModifiedDate"] == password_date(bed)
    assert number > 8


# --- what somebody else does meanwhile -----------------------------------------------------


@pytest.mark.parametrize("whole_seconds", [False, True], ids=["fractions", "whole seconds"])
@pytest.mark.parametrize("number", range(1, 9))
def test_a_change_by_somebody_else_at_any_moment_is_repaired(
    number: int, whole_seconds: bool
) -> None:
    bed = Bed(whole_seconds=whole_seconds)
    settled_user(bed)
    calls = 0

    def hook(call: Call, forward: Forward) -> Response:
        nonlocal calls
        calls += 1
        response = forward(call)
        if calls == number:
            bed.lldap.set_password("alice", "a password of hers")
        return response

    bed.lldap.hooks.append(hook)
    bed.secret("pw", SECOND)
    bed.run(1500, step=50)
    assert can_log_in(bed, SECOND)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


# --- where the value is: nowhere -----------------------------------------------------------


def test_B14_the_value_stays_in_no_memory_of_the_operator(bed: Bed) -> None:
    canary = b"S3cr3t-CANARY-in-memory"
    bed.secret("pw", canary)
    with_password(bed)
    bed.settle()
    bed.lldap.hooks.append(only(REGISTER_FINISH, refuse))
    bed.secret("pw", canary + b"-2")
    bed.run(30)
    bed.lldap.hooks.clear()
    bed.run(30)
    assert can_log_in(bed, canary + b"-2")
    gc.collect()
    found = [each for each in reachable(bed.operator) if isinstance(each, (bytes, str))]
    assert len(found) > 1000
    assert not [each for each in found if "CANARY" in repr(each)]


def reachable(root: object) -> list[object]:
    """All objects that `root` holds, but for code and for the two servers."""
    outside = (ApiServer, Lldap, types.ModuleType, type, types.FunctionType, types.CodeType)
    seen: dict[int, object] = {}
    todo = [root]
    while todo:
        each = todo.pop()
        if isinstance(each, types.FunctionType):  # its globals are those of a module
            todo += [cell.cell_contents for cell in each.__closure__ or ()]
        if id(each) in seen or isinstance(each, outside):
            continue
        seen[id(each)] = each
        todo += gc.get_referents(each)
    return list(seen.values())
