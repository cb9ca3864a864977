"""What a status that is not taken must not lead to: nothing that somebody else set is touched.

An object has no right to what a pass had only begun, or to what it had before it was another's.
"""

from collections.abc import Callable
from typing import Any

import pytest

from controller.api import INSTANCE_LABEL, LLDAP_USER
from controller.configuration.values import Adoption
from controller.harness.resource import Resource
from informers import ConnectionFailed, PatchType, RawResponse
from sandbox.apiserver.transport import Call
from sandbox.lldap.exchange import Call as LldapCall
from sandbox.lldap.exchange import Response
from sandbox.lldap.faults import Forward
from tests.support.accounts import (
    FIRST,
    account,
    attributes,
    forget_the_past,
    has_account,
    proofs,
    reference,
    registrations,
    settled_user,
    status,
    with_password,
)
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.edits import refuse_statuses, relabel, status_writes, take_statuses
from tests.support.groups import annotate, before, edges, group_values, set_group_attribute
from tests.support.kubebed import status_answer

FAILED = status_answer(500, "InternalError")


def overtaken(bed: Bed, edit: Callable[[], object]) -> None:
    """Somebody edits right before the operator's first status write: a true 409."""
    done: list[int] = []

    def edited(call: Call) -> None:
        if call.method != "GET" and call.path.endswith("/status") and not done:
            done.append(1)
            edit()

    bed.api_transport.before = edited


def seen(bed: Bed) -> None:
    """The operator learns of what was done by hand."""
    bed.operator.instance.refresh()
    bed.settle()


# --- what was recorded first and never sent ------------------------------------------------------


def test_a_field_that_was_never_sent_is_not_cleared_when_the_edit_is_undone() -> None:
    bed = Bed()
    bed.user("alice")
    bed.run(5)
    Directory(bed).set_attribute("alice", "first_name", "By hand")
    seen(bed)
    overtaken(bed, lambda: bed.user("alice"))
    bed.user("alice", firstName="X")
    bed.run(60)
    assert account(bed)["first_name"] == ["By hand"]


def test_the_name_of_an_adopted_person_stays() -> None:
    bed = Bed()
    Directory(bed).make_user("alice")
    seen(bed)
    plain = {"username": "alice", "email": "alice@by-hand.example", "passwordPolicy": "Ignore"}
    overtaken(bed, lambda: bed.apply("LldapUser", "alice", plain))
    bed.apply("LldapUser", "alice", {**plain, "displayName": "Al"})
    bed.run(60)
    assert account(bed)["display_name"] == "alice's name"


def test_an_attribute_of_a_group_that_was_never_sent_stays() -> None:
    bed = Bed()
    bed.schema("shade", "Group")
    bed.group("Staff")
    bed.run(5)
    set_group_attribute(bed, "Staff", "shade", "by hand")
    seen(bed)
    refuse_statuses(bed, FAILED)
    bed.group("Staff", attributes=attributes(shade=["dark"]))
    bed.settle()
    take_statuses(bed)
    bed.group("Staff")
    bed.run(60)
    assert group_values(bed, "Staff") == {"shade": ["by hand"]}


# --- what the object made before it was another instance's ---------------------------------------


def released(**rules: Any) -> Bed:
    """Alice's object went to another instance; one status was refused, one answer lost."""
    bed = Bed(**rules)
    bed.user("alice")
    bed.run(5)
    refuse_statuses(bed, FAILED)
    bed.user("alice", displayName="")
    bed.settle()
    take_statuses(bed)

    def lost(call: Call, _status: int) -> None:
        if call.method != "GET" and call.path.endswith("/status"):
            raise ConnectionFailed("the answer was lost", sent=True)

    bed.api_transport.after = lost
    relabel(bed, "alice", "other")
    take_statuses(bed)
    bed.run(60)
    assert Directory(bed).mark("alice") is None
    assert status(bed) == {}
    return bed


def test_an_account_that_was_released_is_not_taken_back_against_the_rules() -> None:
    bed = released(adoption=Adoption.NEVER)
    relabel(bed, "alice", "default")
    bed.run(60)
    assert bed.ready("LldapUser", "alice") == ("False", "NotAdopted")
    assert Directory(bed).mark("alice") is None


def test_an_account_that_was_released_and_adopted_is_not_deleted() -> None:
    bed = released()
    relabel(bed, "alice", "default")
    bed.run(60)
    bed.delete("LldapUser", "alice")
    bed.run(60)
    assert has_account(bed)


def test_what_was_set_by_hand_while_the_object_was_anothers_stays() -> None:
    bed = Bed()
    refuse_statuses(bed, FAILED)
    bed.user("alice", firstName="X")
    bed.settle()
    take_statuses(bed)
    relabel(bed, "alice", "other")
    bed.run(60)
    Directory(bed).set_attribute("alice", "first_name", "By hand")
    bed.user("alice", labels={INSTANCE_LABEL: "other"})
    relabel(bed, "alice", "default")
    bed.run(60)
    assert account(bed)["first_name"] == ["By hand"]


def with_an_edge_that_went_to_another_instance() -> Bed:
    """The edge was made; no status says so."""
    bed = Bed()
    bed.user("alice")
    bed.group("Team")
    bed.settle()
    refuse_statuses(bed, FAILED)
    bed.membership("alice", "Team")
    bed.settle()
    take_statuses(bed)
    relabel(bed, "alice-team", "other", "LldapMembership")
    return bed


def test_an_edge_made_by_hand_while_the_object_was_anothers_stays() -> None:
    bed = with_an_edge_that_went_to_another_instance()
    Directory(bed).remove("alice", "Team")
    seen(bed)
    Directory(bed).add("alice", "Team")  # by hand
    bed.apply("LldapGroup", "team", {"displayName": "Renamed"})
    seen(bed)
    relabel(bed, "alice-team", "default", "LldapMembership")
    bed.run(60)
    assert edges(bed) == {("alice", "Renamed")}
    bed.delete("LldapMembership", "alice-team")
    bed.run(60)
    assert edges(bed) == {("alice", "Renamed")}


def test_an_object_that_another_instance_holds_is_not_taken_from_it() -> None:
    bed = with_an_edge_that_went_to_another_instance()
    bed.run(60)
    served = {"instance": "other", "server": "s2"}
    bed.forge("LldapMembership", "alice-team", served)
    relabel(bed, "alice-team", "default", "LldapMembership")
    bed.run(200)
    assert bed.get("LldapMembership", "alice-team")["status"]["instance"] == "other"
    assert "instance other" in bed.message("LldapMembership", "alice-team")


def test_the_same_when_no_pass_came_between() -> None:
    bed = Bed()
    refuse_statuses(bed, FAILED)
    bed.user("alice", firstName="X")
    bed.run(300, step=5)  # the back-off has grown
    take_statuses(bed)
    relabel(bed, "alice", "other")
    bed.run(3)
    bed.user("alice", labels={INSTANCE_LABEL: "other"})
    Directory(bed).set_attribute("alice", "first_name", "By hand")
    bed.run(3)
    relabel(bed, "alice", "default")
    bed.run(60)
    assert account(bed)["first_name"] == ["By hand"]


# --- a password ----------------------------------------------------------------------------------


def test_a_mistake_that_is_undone_registers_no_password() -> None:
    bed = Bed()
    bed.user("alice")  # Ignore
    bed.secret("pw", FIRST)
    bed.run(5)
    initial: dict[str, Any] = {"passwordPolicy": "InitialOnly", "passwordSecretRef": reference()}
    overtaken(bed, lambda: bed.user("alice", **initial))
    with_password(bed, passwordSecretRef=reference("missing"))  # Manage, for a moment
    bed.run(60)
    assert registrations(bed) == 0


# --- an account that is found gone ---------------------------------------------------------------


@pytest.mark.parametrize("policy", ["Ignore", "Manage", "InitialOnly"])
def test_an_account_that_is_found_gone_is_made_in_one_pass(policy: str) -> None:
    bed = Bed()
    settled_user(bed, policy=policy)
    bed.run(5)
    forget_the_past(bed)
    Directory(bed).delete_user("alice")
    with_password(bed, policy=policy, displayName="N")
    bed.settle()
    assert status_writes(bed) == 1
    assert proofs(bed) <= 1


def test_a_group_that_is_found_gone_is_made_in_one_pass() -> None:
    bed = Bed()
    bed.group("Staff")
    bed.run(5)
    bed.clear_logs()
    Directory(bed).delete_group("Staff")
    annotate(bed, "LldapGroup", "staff", "reconcile-at", "1")
    bed.settle()
    assert status_writes(bed) == 1


def goes_after(bed: Bed, operation: str, times: int) -> None:
    """Somebody deletes alice whenever the operator has made such a call."""
    left = iter(range(times))

    def hook(call: LldapCall, forward: Forward) -> Response:
        response = forward(call)
        if call.operation.endswith(operation) and next(left, None) is not None:
            Directory(bed).delete_user("alice")
        return response

    bed.lldap.hooks.append(hook)


def test_a_pass_that_finds_its_account_gone_waits_before_the_next() -> None:
    bed = Bed()
    bed.secret("pw", FIRST)
    goes_after(bed, "register/finish", 50)
    with_password(bed)
    bed.settle()  # time does not move
    assert bed.mutations().count("createUser") < 5


def test_user_and_membership_do_not_wake_each_other_without_a_pause() -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("Team")
    bed.settle()
    bed.clear_logs()
    bed.lldap.hooks.append(before("addUserToGroup", lambda: vanish(bed), times=50))
    bed.membership("alice", "Team")
    bed.settle()  # time does not move
    assert bed.mutations().count("createUser") == 0
    bed.run(5)
    assert 0 < bed.mutations().count("createUser") <= 5


def vanish(bed: Bed) -> None:
    if has_account(bed):
        Directory(bed).delete_user("alice")


# --- what nobody would forget --------------------------------------------------------------------


def test_nothing_is_kept_of_an_object_that_went_during_its_last_pass() -> None:
    bed = Bed()

    def fail(call: Call) -> RawResponse | None:
        if call.method == "GET" or not call.path.endswith("/status"):
            return None
        if bed.exists("LldapUser", "alice"):
            bed.admin.patch(
                bed.path("LldapUser", "team-a", "alice"),
                {"metadata": {"finalizers": None}},
                content_type=PatchType.MERGE,
            )
            bed.delete("LldapUser", "alice")
            for _ in range(5):  # the informers' threads hear of it while the worker waits
                bed.api.step()
                for informer in bed.operator.all_informers:
                    for reflector in informer.reflectors:
                        reflector.step()
                    for registration in informer.registrations:
                        registration.step()
            assert bed.operator.instance.cache.all(LLDAP_USER) == []
        return FAILED

    made: list[Resource] = []
    unrecorded = bed.operator.instance.unrecorded
    bed.lldap.hooks.append(before("createUser", lambda: made.append(alice(bed))))
    bed.api_transport.before = fail
    bed.user("alice")
    bed.settle()
    take_statuses(bed)
    bed.run(700, step=100)
    assert unrecorded.of(made[0]) is None


def alice(bed: Bed) -> Resource:
    return Resource(bed.get("LldapUser", "alice"))
