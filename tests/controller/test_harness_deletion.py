"""Deletions through the harness: by policy, by semantics, held, best effort, in dry-run."""

from collections.abc import Callable
from typing import Any

import pytest

from controller.api import DeletionPolicy
from controller.harness.finalizers import StaleObject
from controller.harness.harnessconfig import DeleteSemantics
from controller.harness.outcome import DONE, LATER
from controller.harness.reasoned import fail
from controller.harness.resource import Resource
from controller.harness.taxonomy import Rule, Taxonomy
from tests.support.handlers import (
    BACKOFF,
    DRY_RUN,
    FIXED,
    TERMINAL,
    FooHandler,
    HarnessBed,
    Remote,
    TidyHandler,
)
from tests.support.kubebed import FINALIZER

HOLD, BEST_EFFORT = DeleteSemantics.HOLD_UNTIL_SUCCESS, DeleteSemantics.BEST_EFFORT_RELEASE
DELETE, RETAIN = DeletionPolicy.DELETE, DeletionPolicy.RETAIN
OTHER = "example.org/other"


@pytest.fixture
def bed() -> HarnessBed:
    bed = HarnessBed()
    bed.create(finalizers=[FINALIZER])
    bed.delete()
    return bed


def raising(error: Exception) -> Callable[[], Any]:
    def act() -> None:
        raise error

    return act


def undeletable(error: Exception) -> FooHandler:
    handler = FooHandler()
    handler.deletes = raising(error)
    return handler


# --- DeletionPolicyProvider, CleanupHandler ------------------------------------------------------


def test_without_a_policy_an_object_is_deleted(bed: HarnessBed) -> None:
    assert bed.run() == DONE
    assert bed.remote.calls == ["delete"]
    assert not bed.exists()


@pytest.mark.parametrize(("policy", "deletes"), [(DELETE, ["delete"]), (RETAIN, [])])
def test_cleanup_runs_on_every_path_before_the_finalizer_goes(
    bed: HarnessBed, policy: DeletionPolicy, deletes: list[str]
) -> None:
    assert bed.run(handler=TidyHandler(bed.remote, policy)) == DONE
    assert bed.remote.calls == [*deletes, f"cleanup with ['{FINALIZER}']"]
    assert not bed.exists()


@pytest.mark.parametrize("policy", [DELETE, RETAIN])
def test_a_cleanup_that_fails_holds_the_object_and_says_why(
    bed: HarnessBed, policy: DeletionPolicy
) -> None:
    handler = TidyHandler(bed.remote, policy)
    handler.cleans = raising(fail("NotYet", "the Secret stays"))
    result = bed.run(handler=handler, deletion=BEST_EFFORT)
    assert result.requeue_after == 30.0
    assert bed.shown() == ("False", "NotYet", "the Secret stays")
    assert bed.get().finalizers == [FINALIZER]


def test_an_object_that_does_not_wait_for_us_is_left_alone() -> None:
    bed = HarnessBed()
    bed.create(finalizers=[OTHER])
    bed.delete()
    assert bed.run() == DONE
    assert bed.remote.calls == []
    assert bed.writes() == []


def test_others_finalizers_stay_and_their_objects_too() -> None:
    bed = HarnessBed()
    bed.create(finalizers=[OTHER, FINALIZER])
    bed.delete()
    bed.run()
    assert bed.get().finalizers == [OTHER]
    assert bed.run() == DONE
    assert bed.remote.calls == ["delete"]


# --- DeleteSemantics -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (fail("NotYet", "in use"), (30.0, False, False)),
        (fail("Broken", "in use"), (None, True, False)),
        (fail("Invalid", "in use"), (900.0, False, True)),
    ],
)
def test_hold_keeps_the_finalizer_until_the_remote_delete_succeeds(
    bed: HarnessBed, error: Exception, expected: tuple[float | None, bool, bool]
) -> None:
    result = bed.run(handler=undeletable(error), deletion=HOLD)
    assert (result.requeue_after, result.rate_limited, result.terminal) == expected
    assert bed.get().finalizers == [FINALIZER]
    assert bed.shown()[0] == "False"
    assert [event[0] for event in bed.events] == ["Warning"]
    assert bed.run(deletion=HOLD) == DONE
    assert not bed.exists()


@pytest.mark.parametrize("error", [fail("Broken", "down"), ValueError("secret")])
def test_best_effort_tries_once_and_lets_go_whatever_came_of_it(
    bed: HarnessBed, error: Exception
) -> None:
    assert bed.run(handler=undeletable(error), deletion=BEST_EFFORT) == DONE
    assert bed.remote.calls == ["delete"]
    assert not bed.exists()
    assert [event[0] for event in bed.events] == ["Warning"]
    assert "secret" not in str(bed.events)


def test_best_effort_still_tidies_up(bed: HarnessBed) -> None:
    handler = TidyHandler(bed.remote, DELETE)
    handler.deletes = raising(fail("Broken", "down"))
    bed.run(handler=handler, deletion=BEST_EFFORT)
    assert bed.remote.calls == ["delete", f"cleanup with ['{FINALIZER}']"]


def test_a_client_that_cannot_be_made_counts_as_a_failed_delete(bed: HarnessBed) -> None:
    def resolve(_resource: Resource) -> Remote:
        raise fail("NotYet", "no Secret")

    assert bed.run(resolve=resolve).requeue_after == 30.0
    assert bed.get().finalizers == [FINALIZER]
    assert bed.run(resolve=resolve, deletion=BEST_EFFORT) == DONE
    assert not bed.exists()


@pytest.mark.parametrize("semantics", [HOLD, BEST_EFFORT])
def test_an_object_that_changed_under_a_delete_is_looked_at_again_in_any_case(
    bed: HarnessBed, semantics: DeleteSemantics
) -> None:
    assert bed.run(handler=undeletable(StaleObject()), deletion=semantics) == LATER
    assert bed.get().finalizers == [FINALIZER]
    assert bed.events == []


# --- DeleteTaxonomy ------------------------------------------------------------------------------

MAIN = Taxonomy({"BucketNotEmpty": TERMINAL, "Broken": BACKOFF, "NotYet": FIXED})
ON_DELETE = Taxonomy({"BucketNotEmpty": Rule(FIXED.disposition, 20.0)}, default=TERMINAL)


def test_a_reason_can_have_another_rule_on_delete_than_on_converge(bed: HarnessBed) -> None:
    error = fail("BucketNotEmpty", "3 objects")
    held = bed.run(handler=undeletable(error), taxonomy=MAIN, delete_taxonomy=ON_DELETE)
    assert (held.requeue_after, held.terminal) == (20.0, False)
    bed.create("bob")
    handler = FooHandler()
    handler.outcome = raising(error)
    latched = bed.run(bed.get("bob"), handler, taxonomy=MAIN, delete_taxonomy=ON_DELETE)
    assert latched.terminal


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("NotYet", (30.0, False)), ("Broken", (None, True)), ("Unheard", (None, True))],
)
def test_reasons_that_it_does_not_list_keep_their_rule(
    bed: HarnessBed, reason: str, expected: tuple[float | None, bool]
) -> None:
    result = bed.run(
        handler=undeletable(fail(reason, "m")), taxonomy=MAIN, delete_taxonomy=ON_DELETE
    )
    assert (result.requeue_after, result.rate_limited) == expected


def test_without_one_the_main_taxonomy_counts(bed: HarnessBed) -> None:
    result = bed.run(handler=undeletable(fail("BucketNotEmpty", "m")), taxonomy=MAIN)
    assert result.terminal


# --- DryRunAnnotation ----------------------------------------------------------------------------


class OwningHandler(TidyHandler):
    """A DryRunDeletion."""

    has_something = True

    def owns(self, resource: Resource) -> bool:
        return self.has_something


END = f". Remove the annotation {DRY_RUN} to let it happen"


def in_dry_run(bed: HarnessBed) -> None:
    bed.merge({"metadata": {"annotations": {DRY_RUN: "true"}}})


def test_dry_run_plans_and_calls_nothing() -> None:
    bed = HarnessBed()
    bed.create(annotations={DRY_RUN: "true"})
    result = bed.run(dry_run_annotation=DRY_RUN)
    assert bed.shown() == ("True", "DryRun", f"dry-run: would do: create foo{END}")
    assert bed.remote.calls == []
    assert result.requeue_after == 600.0
    assert bed.events == [("Normal", "DryRun", f"dry-run: would do: create foo{END}")]
    bed.run(dry_run_annotation=DRY_RUN)
    assert len(bed.events) == 1
    assert len(bed.writes()) == 2  # the finalizer and the status


def test_dry_run_has_a_reason_of_its_own_and_says_nothing_when_nothing_is_to_do() -> None:
    bed = HarnessBed()
    bed.create(annotations={DRY_RUN: "true"})
    handler = FooHandler()
    handler.plans = list
    bed.run(handler=handler, dry_run_annotation=DRY_RUN, dry_run_reason="Planned")
    assert bed.shown() == ("True", "Planned", f"dry-run: would do: nothing{END}")


@pytest.mark.parametrize("value", ["false", "False", "", "0", "off"])
def test_dry_run_is_off_with_a_word_that_says_so(value: str) -> None:
    bed = HarnessBed()
    bed.create(annotations={DRY_RUN: value})
    bed.run(dry_run_annotation=DRY_RUN)
    assert bed.remote.calls == ["converge"]


def test_without_the_knob_there_is_no_dry_run() -> None:
    bed = HarnessBed()
    bed.create(annotations={DRY_RUN: "true"})
    bed.run()
    assert bed.remote.calls == ["converge"]


@pytest.mark.parametrize(
    ("reason", "again"), [("NotYet", (30.0, False)), ("Invalid", (900.0, False))]
)
def test_a_plan_that_would_fail_is_shown_as_one_and_looked_at_again(
    reason: str, again: tuple[float, bool]
) -> None:
    bed = HarnessBed()
    bed.create(annotations={DRY_RUN: "true"})
    handler = FooHandler()
    handler.plans = raising(fail(reason, "bob has it"))
    result = bed.run(handler=handler, dry_run_annotation=DRY_RUN)
    assert bed.shown() == ("True", "DryRun", f"dry-run: it would fail: {reason}: bob has it{END}")
    assert (result.requeue_after, result.terminal) == again
    assert result.error is None


def test_a_deletion_in_dry_run_waits_while_it_would_delete_something(bed: HarnessBed) -> None:
    in_dry_run(bed)
    handler = OwningHandler(bed.remote, DELETE)
    bed.run(handler=handler, dry_run_annotation=DRY_RUN)
    assert bed.remote.calls == []
    assert bed.get().finalizers == [FINALIZER]
    said = "would delete what the object owns; the deletion waits for that"
    assert bed.shown() == ("True", "DryRun", f"dry-run: {said}{END}")
    bed.merge({"metadata": {"annotations": {DRY_RUN: None}}})
    bed.run(handler=handler, dry_run_annotation=DRY_RUN)
    assert bed.remote.calls[0] == "delete"
    assert not bed.exists()


@pytest.mark.parametrize(
    ("policy", "owns", "uninstalling"),
    [(RETAIN, True, False), (DELETE, False, False), (DELETE, True, True)],
)
def test_a_deletion_in_dry_run_that_deletes_nothing_goes_on_and_calls_nothing(
    bed: HarnessBed, policy: DeletionPolicy, owns: bool, uninstalling: bool
) -> None:
    in_dry_run(bed)
    handler = OwningHandler(bed.remote, policy)
    handler.has_something = owns
    result = bed.run(
        handler=handler,
        dry_run_annotation=DRY_RUN,
        uninstalling=lambda _resource: uninstalling,
    )
    assert result == DONE
    assert bed.remote.calls == []
    assert not bed.exists()


def test_a_handler_that_does_not_know_what_it_owns_waits(bed: HarnessBed) -> None:
    in_dry_run(bed)
    bed.run(dry_run_annotation=DRY_RUN)
    assert bed.get().finalizers == [FINALIZER]
    assert bed.remote.calls == []


def test_what_an_object_owns_is_not_known_without_a_client(bed: HarnessBed) -> None:
    in_dry_run(bed)
    handler = OwningHandler(bed.remote, DELETE)
    handler.has_something = False

    def resolve(_resource: Resource) -> Remote:
        raise fail("NotYet", "down")

    bed.run(handler=handler, dry_run_annotation=DRY_RUN, resolve=resolve)
    assert bed.get().finalizers == [FINALIZER]
    assert bed.shown()[1] == "NotYet"
