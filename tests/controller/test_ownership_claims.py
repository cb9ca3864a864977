"""One flat space: of all objects that name a target, in any namespace, one has it."""

from typing import Any

import pytest

from controller.api import DRY_RUN_ANNOTATION, INSTANCE_LABEL, RECONCILE_AT_ANNOTATION
from tests.support.bed import Bed
from tests.support.directory import Directory


def user_twice(bed: Bed, first: str = "team-b", second: str = "team-a") -> None:
    """Two objects for eva, the first one older."""
    bed.user("eva", first, email="eva@first.example")
    bed.settle()
    bed.clock.advance(5)
    bed.user("eva", second, email="eva@second.example")
    bed.settle()


def test_D01_the_older_object_has_the_account_and_the_other_names_it(bed: Bed) -> None:
    user_twice(bed)
    assert bed.ready("LldapUser", "eva", "team-b") == ("True", "Verified")
    assert bed.ready("LldapUser", "eva", "team-a") == ("False", "Conflict")
    assert "LldapUser team-b/eva" in bed.message("LldapUser", "eva", "team-a")
    user = Directory(bed).user("eva")
    assert user is not None
    assert user.columns["mail"] == "eva@first.example"


def test_D01_names_that_differ_in_letter_case_are_one(bed: Bed) -> None:
    bed.user("eva", "team-a")
    bed.group("Devs", "team-a")
    bed.settle()
    bed.clock.advance(5)
    bed.user("EVA", "team-b", object="eva", email="other@example.org")
    bed.group("DEVS", "team-b")
    bed.settle()
    assert bed.ready("LldapUser", "eva", "team-b") == ("False", "Conflict")
    assert bed.ready("LldapGroup", "devs", "team-b") == ("False", "Conflict")


@pytest.mark.parametrize(("first", "second"), [("team-a", "team-b"), ("team-b", "team-a")])
def test_two_of_one_second_are_ordered_by_namespace_and_name(
    bed: Bed, first: str, second: str
) -> None:
    bed.user("eva", first)
    bed.user("eva", second)
    bed.settle()
    assert bed.ready("LldapUser", "eva", "team-a") == ("True", "Verified")
    assert bed.ready("LldapUser", "eva", "team-b") == ("False", "Conflict")


def test_a_name_that_an_older_object_cannot_take_yet_is_its_own_all_the_same(bed: Bed) -> None:
    waiting = [{"name": "department", "value": ["42"]}]  # for an attribute that lldap lacks
    bed.user("eva", "team-b", attributes=waiting)
    bed.group("devs", "team-b", attributes=waiting)
    bed.settle()
    bed.clock.advance(5)
    bed.user("eva", "team-a")
    bed.group("devs", "team-a")
    bed.settle()
    directory = Directory(bed)
    for kind, name in (("LldapUser", "eva"), ("LldapGroup", "devs")):
        assert bed.ready(kind, name, "team-b") == ("False", "DependencyNotReady")
        assert bed.ready(kind, name, "team-a") == ("False", "Conflict")
    assert not directory.has_user("eva")
    assert not directory.has_group("devs")


def test_who_has_the_account_keeps_it_against_an_older_object(bed: Bed) -> None:
    bed.user("eva", "team-a", labels={INSTANCE_LABEL: "other"})
    bed.clock.advance(5)
    bed.user("eva", "team-b")
    bed.settle()
    bed.user("eva", "team-a")  # the older one gets this instance's label now
    bed.settle()
    assert bed.ready("LldapUser", "eva", "team-b") == ("True", "Verified")
    assert bed.ready("LldapUser", "eva", "team-a") == ("False", "Conflict")


def test_D01_nothing_that_the_loser_does_touches_lldap(bed: Bed) -> None:
    user_twice(bed)
    before = Directory(bed).dump()
    bed.clear_logs()
    bed.user("eva", "team-a", email="mallory@second.example", displayName="Mallory")
    bed.run(700)  # past the resync
    bed.annotate("LldapUser", "eva", "team-a", **{RECONCILE_AT_ANNOTATION: "now"})
    bed.settle()
    bed.delete("LldapUser", "eva", "team-a")
    bed.settle()
    assert not bed.exists("LldapUser", "eva", "team-a")
    assert bed.mutations() == []
    assert Directory(bed).dump() == before


def test_the_loser_goes_with_a_warning_and_is_counted(bed: Bed) -> None:
    user_twice(bed)
    bed.delete("LldapUser", "eva", "team-a")
    bed.settle()
    assert "LeftAlone" in bed.events.reasons()
    left = bed.metrics.registry.get_sample_value(
        "lldap_operator_left_in_lldap_total", {"kind": "LldapUser", "reason": "Conflict"}
    )
    assert left == 1


def test_D01_the_order_is_the_same_after_a_restart(bed: Bed) -> None:
    user_twice(bed)
    bed.start()
    bed.settle()
    assert bed.ready("LldapUser", "eva", "team-b") == ("True", "Verified")
    assert bed.ready("LldapUser", "eva", "team-a") == ("False", "Conflict")


def test_an_object_in_dry_run_claims_nothing(bed: Bed) -> None:
    dry = {DRY_RUN_ANNOTATION: "true"}
    bed.user("eva", "team-a", annotations=dry)
    bed.settle()
    bed.clock.advance(5)
    bed.user("eva", "team-b")
    bed.settle()
    assert bed.ready("LldapUser", "eva", "team-b") == ("True", "Verified")
    bed.apply("LldapUser", "eva", bed.get("LldapUser", "eva")["spec"], annotations={})
    bed.settle()
    assert bed.ready("LldapUser", "eva", "team-a") == ("False", "Conflict")


def test_an_object_that_has_the_account_keeps_it_in_dry_run(bed: Bed) -> None:
    bed.user("eva", "team-a")
    bed.settle()
    dry = {DRY_RUN_ANNOTATION: "true"}
    bed.user("eva", "team-a", annotations=dry)
    bed.settle()
    Directory(bed).set_mark("eva", None)
    bed.run(700)
    bed.user("eva", "team-b")
    bed.settle()
    assert bed.ready("LldapUser", "eva", "team-b") == ("False", "Conflict")
    assert Directory(bed).mark("eva") is None


def test_an_object_that_is_going_claims_nothing_that_it_has_not(bed: Bed) -> None:
    spec = {"username": "eva", "email": "a@example.org", "passwordPolicy": "Ignore"}
    kept: dict[str, Any] = {"finalizers": ["example.org/keep"]}
    bed.apply("LldapUser", "eva", spec, **kept, annotations={DRY_RUN_ANNOTATION: "true"})
    bed.settle()
    bed.delete("LldapUser", "eva")
    bed.apply("LldapUser", "eva", spec, **kept, annotations={})
    bed.clock.advance(5)
    bed.user("eva", "team-b")
    bed.settle()
    assert bed.exists("LldapUser", "eva", "team-a")
    assert bed.ready("LldapUser", "eva", "team-b") == ("True", "Verified")


def test_the_name_that_a_rename_asks_for_goes_to_the_older_object(bed: Bed) -> None:
    bed.group("devs", "team-a")
    bed.settle()
    bed.clock.advance(5)
    bed.group("ops", "team-b")
    bed.settle()
    bed.apply("LldapGroup", "devs", {"displayName": "Ops"}, "team-a")
    bed.settle()
    assert bed.ready("LldapGroup", "devs", "team-a") == ("False", "Conflict")
    assert Directory(bed).has_group("devs")
    assert "ops" in bed.message("LldapGroup", "devs", "team-a")


def test_a_rename_onto_a_hand_made_group_is_no_adoption(bed: Bed) -> None:
    directory = Directory(bed)
    directory.make_group("treasure")
    bed.group("devs", "team-a")
    bed.settle()
    bed.apply("LldapGroup", "devs", {"displayName": "treasure"}, "team-a")
    bed.settle()
    assert bed.ready("LldapGroup", "devs", "team-a") == ("False", "Conflict")
    assert directory.group_mark("treasure") is None
    assert directory.group_mark("devs") is not None


def test_a_name_is_free_for_others_once_its_group_was_renamed(bed: Bed) -> None:
    bed.group("devs", "team-a")
    bed.settle()
    uuid = Directory(bed).group_uuid("devs")
    bed.apply("LldapGroup", "devs", {"displayName": "engineers"}, "team-a")
    bed.settle()
    bed.group("devs", "team-b")
    bed.settle()
    assert bed.ready("LldapGroup", "devs", "team-b") == ("True", "Verified")
    assert Directory(bed).group_uuid("engineers") == uuid != Directory(bed).group_uuid("devs")
