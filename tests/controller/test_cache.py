"""What is looked up in the informers: who claims what, and who counts as what."""

import pytest

from controller.api import (
    DRY_RUN_ANNOTATION,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_USER,
    PAUSED_ANNOTATION,
)
from controller.harness.resource import Resource
from controller.watching.cache import can_inherit, in_dry_run, is_paused
from tests.support.watched import Watched, new

NOW = "2030-01-01T00:00:00Z"


@pytest.fixture
def watched() -> Watched:
    return Watched()


def keys(resources: list[Resource]) -> list[str]:
    return sorted(resource.key for resource in resources)


def test_one_object_or_none(watched: Watched) -> None:
    watched.user("alice")
    found = watched.cache.get(LLDAP_USER, "a", "alice")
    assert found is not None
    assert found.spec["username"] == "alice"
    assert watched.cache.get(LLDAP_USER, "b", "alice") is None


def test_who_claims_a_target_is_not_who_only_asks(watched: Watched) -> None:
    watched.user("alice", "a")
    only_asks = watched.user("Alice", "b")
    watched.change(LLDAP_USER, only_asks, metadata={"annotations": {DRY_RUN_ANNOTATION: "true"}})
    assert keys(watched.cache.rivals(LLDAP_USER, "alice")) == ["a/alice", "b/Alice"]
    assert keys(watched.cache.claimants(LLDAP_USER, "alice")) == ["a/alice"]


def test_memberships_by_either_end(watched: Watched) -> None:
    watched.membership("Alice", "Team")
    watched.membership("bob", "TEAM")
    assert keys(watched.cache.memberships_of_user("alice")) == ["a/alice-team"]
    assert keys(watched.cache.memberships_of_group("team")) == ["a/alice-team", "a/bob-team"]


def test_who_names_an_attribute_of_which_target(watched: Watched) -> None:
    watched.user("alice", attributes=[{"name": "Phone"}])
    watched.group("Team", attributes=[{"name": "phone"}])
    assert keys(watched.cache.naming_attribute("User", "PHONE")) == ["a/alice"]
    assert keys(watched.cache.naming_attribute("Group", "phone")) == ["a/team"]


def test_the_schemas_of_an_attribute(watched: Watched) -> None:
    watched.schema("Phone")
    watched.schema("phone", target="Group")
    assert keys(watched.cache.schemas("User", "phone")) == ["a/user-phone"]
    assert len(watched.cache.all(LLDAP_ATTRIBUTE_SCHEMA)) == 2


def test_the_version_of_a_secret(watched: Watched) -> None:
    assert watched.cache.secret_version("a", "s") is None
    watched.secret("s")
    uid, version = watched.cache.secret_version("a", "s") or ("", "")
    assert uid == "s"
    assert version


@pytest.mark.parametrize(
    ("annotations", "deleting", "dry_run", "paused", "inherits"),
    [
        ({}, False, False, False, True),
        ({}, True, False, False, False),
        ({DRY_RUN_ANNOTATION: "true"}, False, True, False, False),
        ({PAUSED_ANNOTATION: "true"}, False, False, True, False),
        ({PAUSED_ANNOTATION: "false", DRY_RUN_ANNOTATION: ""}, False, False, False, True),
        ({PAUSED_ANNOTATION: "False", DRY_RUN_ANNOTATION: "off"}, False, False, False, True),
        ({PAUSED_ANNOTATION: "True"}, False, False, True, False),
        ({PAUSED_ANNOTATION: "0", DRY_RUN_ANNOTATION: "yes"}, False, True, False, False),
        ({PAUSED_ANNOTATION: "bald", DRY_RUN_ANNOTATION: " NO "}, False, False, True, False),
    ],
)
def test_what_annotations_make_of_an_object(
    annotations: dict[str, str], deleting: bool, dry_run: bool, paused: bool, inherits: bool
) -> None:
    obj = new(LLDAP_USER, "alice", "a", {})
    obj["metadata"]["annotations"] = annotations
    if deleting:
        obj["metadata"]["deletionTimestamp"] = NOW
    resource = Resource(obj)
    assert in_dry_run(resource) is dry_run
    assert is_paused(resource) is paused
    assert can_inherit(resource) is inherits
