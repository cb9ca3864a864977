"""What an object says about lldap as a whole: down, or without rights."""

from collections.abc import Callable
from typing import Any

from controller.harness.outcome import Result
from controller.watching.worker import Controller
from sandbox.lldap.exchange import Response
from sandbox.lldap.faults import answer, on, refuse
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.edits import status_writes

VERIFIED = ("True", "Verified")


# --- lldap is down -------------------------------------------------------------------------------


def test_who_has_nothing_to_do_stays_ready_and_who_has_is_told_once(bed: Bed) -> None:
    for number in range(5):
        bed.user(f"user{number}")
    bed.settle()
    bed.lldap.hooks.append(refuse)
    for name in ("new", "user0"):
        bed.user(name, displayName="changed")
    bed.settle()
    waiting = {"user0", "new"}
    assert bed.ready("LldapUser", "new") == ("False", "LldapUnavailable")
    bed.clear_logs()
    bed.run(900, step=5)
    assert bed.api_writes() == []
    for number in range(1, 5):
        assert bed.ready("LldapUser", f"user{number}") == VERIFIED
    bed.lldap.hooks.clear()
    bed.run(7)
    for name in waiting:
        assert bed.ready("LldapUser", name) == VERIFIED


def watched(controller: Controller, passes: list[str]) -> Controller:
    def reconcile(key: str) -> Result:
        passes.append(key)
        return controller.reconcile(key)

    return Controller(controller.name, controller.queue, reconcile)


def test_who_waits_for_lldap_is_not_looked_at_and_not_told_of_again(bed: Bed) -> None:
    bed.settle()
    bed.lldap.hooks.append(refuse)
    for number in range(20):
        bed.user(f"user{number}")
    bed.settle(100)
    told = len(bed.events.seen)
    assert told <= 20
    passes: list[str] = []
    controllers = bed.operator.pool._controllers
    controllers[:] = [watched(controller, passes) for controller in controllers]
    bed.run(900, step=5)
    assert passes == []
    assert len(bed.events.seen) == told


def test_a_start_with_lldap_down_keeps_what_was_ready(bed: Bed) -> None:
    bed.user("alice")
    bed.user("bob")
    bed.settle()
    bed.lldap.hooks.append(refuse)
    bed.start()
    bed.user("bob", displayName="Bob")
    bed.user("carol")
    bed.settle()
    bed.clear_logs()
    bed.run(300, step=5)
    assert bed.api_writes() == []
    assert bed.ready("LldapUser", "alice") == VERIFIED
    for name in ("bob", "carol"):
        assert bed.ready("LldapUser", name) == ("False", "LldapUnavailable")
    bed.lldap.hooks.clear()
    bed.run(7)
    for name in ("alice", "bob", "carol"):
        assert bed.ready("LldapUser", name) == VERIFIED


def test_a_call_that_one_object_cannot_make_stops_no_other(bed: Bed) -> None:
    """lldap answers nonsense to one object's call alone: the others go on, and no login storm."""
    bed.settle()
    broken = Response.of_text(500, "panicked")

    def poisoned(call: Any, forward: Callable[[Any], Response]) -> Response:
        return broken if b'"poison' in call.data and b"createUser" in call.data else forward(call)

    bed.lldap.hooks.append(poisoned)
    bed.user("poison")
    bed.settle()
    bed.clear_logs()
    reads: list[str] = []
    for number in range(30):
        bed.user(f"user{number}")
        bed.run(10, step=5)
        assert bed.ready("LldapUser", f"user{number}") == VERIFIED
        reads = [op for op in bed.operations() if op == "users"]
    assert bed.ready("LldapUser", "poison") == ("False", "LldapUnavailable")
    assert len(reads) <= 1  # the whole of lldap was not read again for it
    assert logins(bed) == 0


def test_a_first_failure_closes_the_gate_for_all(bed: Bed) -> None:
    bed.user("first")
    bed.settle()
    for number in range(10):
        bed.user(f"user{number}")
    bed.lldap.hooks.append(refuse)
    bed.clear_logs()
    bed.settle()
    asked = [op for op in bed.operations() if not op.startswith("/auth")]
    assert asked == ["createUser", "user"]  # one object's call, and whether it was done after all
    assert status_writes(bed) == 10


# --- rights --------------------------------------------------------------------------------------


def logins(bed: Bed) -> int:
    return sum(op == "/auth/simple/login" for op in bed.operations())


def test_B09_a_refusal_that_is_about_permission_makes_no_login_storm(bed: Bed) -> None:
    """One call is refused with a new token too, though the operator has its rights."""
    bed.secret("s", b"correct horse battery")
    bed.settle()
    refused = answer(Response.of_text(401, "Unauthorized"))
    bed.lldap.hooks.append(on("/auth/opaque/register/start", refused, times=10**6))
    bed.clear_logs()
    bed.user("alice", passwordPolicy="Manage", passwordSecretRef={"name": "s", "key": "password"})
    bed.run(300, step=1)
    assert bed.ready("LldapUser", "alice") == ("False", "Forbidden")
    assert logins(bed) < 5
    starts = [op for op in bed.operations() if op == "/auth/opaque/register/start"]
    assert len(starts) < 40  # the back-off grows
    bed.user("bob")
    bed.settle()
    assert bed.ready("LldapUser", "bob") == VERIFIED


def test_B09_an_operator_that_loses_its_rights_asks_without_logging_in(
    bed: Bed, directory: Directory
) -> None:
    """Its token still has them: the next bulk read shows that the account has not."""
    names = [f"user{number}" for number in range(20)]
    for name in names:
        bed.user(name)
    bed.settle(100)
    directory.remove("admin", "lldap_admin")
    directory.add("admin", "lldap_password_manager")
    bed.run(700, step=5)
    bed.clear_logs()
    for name in names:
        bed.user(name, displayName="changed")
    bed.run(300, step=1)
    assert {bed.ready("LldapUser", name) for name in names} == {("False", "Forbidden")}
    assert bed.mutations() == []
    assert logins(bed) == 0
    assert status_writes(bed) == 20
    directory.add("admin", "lldap_admin")
    bed.run(10)
    assert {bed.ready("LldapUser", name) for name in names} == {VERIFIED}


def test_B11_an_operator_without_rights_has_one_reason_and_no_storm(
    bed: Bed, directory: Directory
) -> None:
    directory.remove("admin", "lldap_admin")
    directory.add("admin", "lldap_strict_readonly")
    names = [f"user{number}" for number in range(20)]
    for name in names:
        bed.user(name)
    bed.run(300, step=1)
    assert {bed.ready("LldapUser", name) for name in names} == {("False", "Forbidden")}
    assert "lldap_admin" in bed.message("LldapUser", "user0")
    assert bed.mutations() == []
    assert logins(bed) < 5
    assert status_writes(bed) == 20
