"""Messages that name what stands in the way and the next step, and what waits without an event."""

import logging

import pytest

from controller.api import DRY_RUN_ANNOTATION, PAUSED_ANNOTATION
from tests.support.accounts import attributes
from tests.support.bed import Bed
from tests.support.directory import Directory


def test_who_waits_for_a_schema_that_is_there_is_told_which_and_why(bed: Bed) -> None:
    bed.schema("badge", kind="Integer")
    bed.settle()
    bed.delete("LldapAttributeSchema", "user-badge")  # the attribute stays in lldap
    bed.settle()
    bed.schema("badge", isList=True)
    bed.user("alice", attributes=attributes(badge=["7"], phone=["1"]))
    bed.run(35)

    assert bed.ready("LldapAttributeSchema", "user-badge") == ("False", "SchemaMismatch")
    differs = "in lldap with attributeType Integer, not String, isList false, not true: declare"
    assert differs in bed.message("LldapAttributeSchema", "user-badge")
    assert bed.ready("LldapUser", "alice") == ("False", "DependencyNotReady")
    message = bed.message("LldapUser", "alice")
    assert "Ready for: badge, phone. There is" in message
    assert "LldapAttributeSchema team-a/user-badge (SchemaMismatch)" in message
    assert message.endswith("create those of the others for the same instance")


def test_who_waits_for_no_schema_at_all_is_told_to_create_it(bed: Bed) -> None:
    bed.user("alice", attributes=attributes(phone=["1"]))
    bed.settle()
    assert bed.message("LldapUser", "alice").endswith("Create it for the same instance")


def test_a_deletion_that_a_pause_or_a_dry_run_holds_says_so(bed: Bed) -> None:
    bed.user("alice")
    bed.user("bob")
    bed.settle()
    bed.annotate("LldapUser", "alice", **{PAUSED_ANNOTATION.replace("-", "_"): "true"})
    bed.annotate("LldapUser", "bob", **{DRY_RUN_ANNOTATION.replace("-", "_"): "true"})
    bed.settle()
    for name in ("alice", "bob"):
        bed.delete("LldapUser", name)
    bed.settle()
    paused, dry = bed.message("LldapUser", "alice"), bed.message("LldapUser", "bob")
    assert "and its deletion waits, until" in paused
    assert PAUSED_ANNOTATION in paused
    assert "the deletion waits for that" in dry
    assert f"Remove the annotation {DRY_RUN_ANNOTATION}" in dry


def test_two_values_that_are_swapped_need_a_temporary_one(bed: Bed) -> None:
    bed.user("alice")
    bed.user("bob")
    bed.group("one")
    bed.group("two")
    bed.settle()
    bed.user("alice", email="bob@example.org")
    bed.user("bob", email="alice@example.org")
    bed.apply("LldapGroup", "one", {"displayName": "two"})
    bed.apply("LldapGroup", "two", {"displayName": "one"})
    bed.run(5)
    assert bed.ready("LldapUser", "alice") == ("False", "EmailConflict")
    assert "give one of the users a temporary one first" in bed.message("LldapUser", "alice")
    assert bed.ready("LldapGroup", "one") == ("False", "Conflict")
    assert "give one of the groups a temporary one first" in bed.message("LldapGroup", "one")


def test_not_adopted_says_both_ways(bed: Bed) -> None:
    directory = Directory(bed)
    directory.make_user("member")
    directory.make_group("staff", "member")
    bed.group("staff")
    bed.settle()
    assert bed.ready("LldapGroup", "staff") == ("False", "NotAdopted")
    message = bed.message("LldapGroup", "staff")
    assert "LLDAP_ADOPTION=Always" in message
    assert 'to set its attribute kubernetes-owner to "invite default team-a/staff"' in message


def test_ordinary_waiting_makes_an_event_only_after_a_minute(bed: Bed) -> None:
    bed.membership("alice", "staff")
    bed.user("carol", attributes=attributes(phone=["1"]))
    bed.run(50)
    assert bed.ready("LldapMembership", "alice-staff") == ("False", "Pending")
    assert not {"Pending", "DependencyNotReady"} & set(bed.events.reasons())
    bed.run(60)
    told = {(kind, reason) for _, kind, reason, _ in bed.events.seen}
    assert {("Warning", "Pending"), ("Warning", "DependencyNotReady")} <= told


def test_a_time_that_cannot_be_read_hides_no_event(bed: Bed) -> None:
    bed.membership("alice", "staff")
    bed.settle()
    conditions = bed.get("LldapMembership", "alice-staff")["status"]["conditions"]
    for each in conditions:
        each["lastTransitionTime"] = "0001-01-01T00:00:00Z"
    bed.forge("LldapMembership", "alice-staff", {"conditions": conditions})
    bed.run(15)
    assert "Pending" in bed.events.reasons()


def test_the_log_at_debug_has_each_pass_and_each_call(
    bed: Bed, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    bed.user("alice", displayName="a value of hers")
    bed.membership("alice", "staff")
    bed.settle()
    passes = [each.getMessage() for each in caplog.records if each.name == "controller.reconcile"]
    calls = [each.getMessage() for each in caplog.records if each.name == "lldap.session"]
    assert "LldapUser team-a/alice: reason Verified, again when something happens" in passes
    waits = "LldapMembership team-a/alice-staff: reason Pending, ReasonedError, again in 10 s"
    assert waits in passes
    assert "lldap createUser: ok in 0.000 s" in calls
    assert "lldap /auth/simple/login: ok" in calls
    assert "a value of hers" not in str(passes + calls)
    assert {each.levelno for each in caplog.records if each.name == "lldap.session"} == {10}


def test_nothing_is_logged_of_a_pass_above_debug(
    bed: Bed, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    bed.user("alice")
    bed.settle()
    assert "reason Verified" not in caplog.text
    assert "createUser" not in caplog.text
