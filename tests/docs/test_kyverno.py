"""The Kyverno patterns: valid for Kyverno, and they stop whom they say and nobody else."""

from typing import Any

import pytest

from controller.api import LLDAP_USER
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.docpages import DOCS, blocks
from tests.support.kyverno import CASES, FOLDER, PATTERNS, Case, Evaluation, policy
from tests.support.migration import apply_object


def test_the_guide_shows_the_files_as_they_are() -> None:
    shown = [block.text for block in blocks(DOCS / "guides" / "kyverno.md") if block.not_run]
    assert shown == [(FOLDER / f"{name}.yaml").read_text() for name in PATTERNS]
    assert {path.stem for path in FOLDER.iterdir()} == set(PATTERNS)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_who_may_write_what(case: Case) -> None:
    said = Evaluation(policy(case.policy)["spec"], case.new("x"), None, case.groups).denial()
    assert case.says in said
    assert bool(case.says) == bool(said)


@pytest.mark.parametrize("case", [case for case in CASES if case.says], ids=str)
def test_what_is_older_than_the_policy_is_not_held_up(case: Case) -> None:
    spec, old = policy(case.policy)["spec"], case.new("x")
    written = case.new("x")
    written["metadata"]["finalizers"] = [case.kind.finalizer]
    assert not Evaluation(spec, written, old, case.groups).denial()
    old["spec"] = {**old["spec"], "deletionPolicy": "Retain"}
    assert case.says in Evaluation(spec, written, old, case.groups).denial()
    written["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    assert not Evaluation(spec, written, old, case.groups).denial()


def everybody(user: dict[str, Any]) -> Evaluation:
    return Evaluation(policy("default-group")["spec"], user, None, ())


def user_in(namespace: str) -> dict[str, Any]:
    spec = {"username": "alice", "email": "alice@example.org", "passwordPolicy": "Ignore"}
    return Case("default-group", LLDAP_USER, namespace, spec).new("alice-object")


def test_whoever_becomes_a_user_is_in_the_default_group() -> None:
    bed = Bed()
    bed.admin.post("/api/v1/namespaces", {"metadata": {"name": "people"}})
    bed.group("everybody", namespace="people")
    user = user_in("people")
    apply_object(bed, user)
    assert everybody(user).matches()
    (membership,) = everybody(user).variables()["memberships"]
    apply_object(bed, membership)
    bed.settle()
    name = "alice-object--everybody"
    assert bed.ready("LldapMembership", name, "people") == ("True", "Verified")
    assert Directory(bed).members("everybody") == {"alice"}


def test_users_elsewhere_and_of_no_instance_are_put_into_nothing() -> None:
    assert not everybody(user_in("team-x")).matches()
    user = user_in("people")
    del user["metadata"]["labels"]
    assert not everybody(user).matches()
