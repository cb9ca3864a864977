"""Whose operator serves an object, and what is kept of it."""

import copy

import pytest

from controller.api import DRY_RUN_ANNOTATION, INSTANCE_LABEL
from controller.harness.resource import Object, Resource
from controller.ownership.service import Service, metadata_only, service, stub_foreign


def an_object(label: str | None, recorded: str | None = None) -> Object:
    labels = {} if label is None else {INSTANCE_LABEL: label, "team": "blue"}
    return {
        "apiVersion": "v1",
        "kind": "LldapUser",
        "metadata": {
            "name": "alice",
            "namespace": "a",
            "uid": "u",
            "resourceVersion": "1",
            "generation": 3,
            "labels": labels,
            "finalizers": ["f"],
            "managedFields": [{"manager": "kubectl"}],
            "annotations": {
                DRY_RUN_ANNOTATION: "true",
                "kubectl.kubernetes.io/last-applied-configuration": "{...}",
            },
        },
        "spec": {"username": "alice"},
        "status": {} if recorded is None else {"instance": recorded},
    }


@pytest.mark.parametrize(
    ("label", "recorded", "expected"),
    [
        ("mine", None, Service.SERVED),
        ("mine", "", Service.SERVED),
        ("mine", "mine", Service.SERVED),
        ("mine", "other", Service.HELD),
        ("other", "mine", Service.TO_RELEASE),
        (None, "mine", Service.TO_RELEASE),
        ("other", None, Service.FOREIGN),
        ("other", "other", Service.FOREIGN),
        (None, None, Service.FOREIGN),
        (None, "other", Service.FOREIGN),
    ],
)
def test_the_label_says_it_and_the_status_remembers_it(
    label: str | None, recorded: str | None, expected: Service
) -> None:
    assert service(Resource(an_object(label, recorded)), "mine") is expected


@pytest.mark.parametrize(("label", "recorded"), [("mine", None), ("mine", "other"), (None, "mine")])
def test_of_what_concerns_us_only_ballast_is_dropped(
    label: str | None, recorded: str | None
) -> None:
    whole = an_object(label, recorded)
    kept = stub_foreign("mine")(an_object(label, recorded))
    assert kept["spec"] == whole["spec"]
    assert kept["status"] == whole["status"]
    assert kept["metadata"]["annotations"] == {DRY_RUN_ANNOTATION: "true"}
    assert kept["metadata"].keys() == whole["metadata"].keys() - {"managedFields"}


def test_of_other_instances_objects_only_what_shows_that_they_are() -> None:
    kept = stub_foreign("mine")(an_object("other", "other"))
    assert kept == {
        "kind": "LldapUser",
        "metadata": {
            "name": "alice",
            "namespace": "a",
            "uid": "u",
            "resourceVersion": "1",
            "labels": {INSTANCE_LABEL: "other"},
        },
    }
    assert service(Resource(kept), "mine") is Service.FOREIGN


def test_an_object_without_any_label_or_annotation_is_kept_as_it_is() -> None:
    bare = {"kind": "LldapUser", "metadata": {"name": "alice", "namespace": "a", "uid": "u"}}
    assert stub_foreign("mine")(copy.deepcopy(bare)) == bare


def test_what_is_dropped_of_an_object_of_others_is_left_where_it_was() -> None:
    whole = an_object("other")
    stub_foreign("mine")(whole)
    assert whole == an_object("other")


def test_of_a_secret_nothing_is_kept_that_could_hold_its_values() -> None:
    secret = {
        "kind": "Secret",
        "metadata": {
            "name": "s",
            "namespace": "a",
            "uid": "u",
            "resourceVersion": "7",
            "labels": {"x": "y"},
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "hunter2"},
            "managedFields": [{"fieldsV1": "hunter2"}],
        },
        "data": {"password": "aHVudGVyMg=="},
    }
    assert metadata_only(secret) == {
        "metadata": {"name": "s", "namespace": "a", "uid": "u", "resourceVersion": "7"}
    }
