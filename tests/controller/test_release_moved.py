"""`release --moved`: what an instance left behind whose operator is gone, and nothing else."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from controller.api import INSTANCE_LABEL, LLDAP_USER
from controller.release.marks import moved_objects
from controller.release.release import Release, add_release, run_release
from informers import RestClient
from tests.controller.test_release import bed, marked, marks
from tests.support.bed import Bed

__all__ = ["bed"]

COMMAND = "lldap-operator release --lldap-instance default --namespace team-a --moved"


@pytest.fixture
def moved(bed: Bed) -> Bed:
    """Alice's object says by its label that she is of another instance by now."""
    bed.admin.patch(
        bed.path("LldapUser", "team-a", "alice"),
        {"metadata": {"labels": {INSTANCE_LABEL: "other"}}},
        content_type="application/merge-patch+json",
    )
    return bed


def release(bed: Bed) -> list[str]:
    lines: list[str] = []
    Release(bed.admin, "default", lines.append, moved=True).run("team-a", dry_run=False)
    return lines


def test_only_what_moved_is_released(moved: Bed) -> None:
    assert release(moved) == ["LldapUser team-a/alice released"]
    assert not moved.get("LldapUser", "alice").get("status")
    staff = moved.get("LldapGroup", "staff")
    assert staff["metadata"]["finalizers"]
    assert staff["status"]["instance"] == "default"
    assert release(moved) == []


def test_only_its_mark_goes_also_when_the_object_was_released_before(moved: Bed) -> None:
    release(moved)
    only = moved_objects(moved.admin, "default", "team-a")
    assert only == {(LLDAP_USER.kind, "team-a/alice")}
    removal, lines = marks(moved)
    assert removal.run("team-a", dry_run=False, only=only) == 1
    assert lines == ["user alice in lldap lost the mark of team-a/alice"]
    assert "staff" not in str(lines)
    assert "bob" in marked(moved)


def test_a_mark_that_was_left_is_named_as_the_objects_own_with_the_command(moved: Bed) -> None:
    release(moved)
    moved.start(rules={"instance": "other"})
    moved.run(15)
    assert moved.ready("LldapUser", "alice") == ("False", "Conflict")
    message = moved.message("LldapUser", "alice")
    assert "still has the mark of instance default for team-a/alice" in message
    assert "LLDAP_URL" in message
    assert "Delete one of the two" not in message
    assert message.endswith(COMMAND)

    marks(moved)[0].run("team-a", dry_run=False, only={("LldapUser", "team-a/alice")})
    moved.user("alice", labels={INSTANCE_LABEL: "other"})  # the schema of badge did not move
    moved.run(700, step=10)
    assert moved.ready("LldapUser", "alice") == ("True", "Verified")


def test_an_object_that_is_held_says_the_very_command(moved: Bed) -> None:
    moved.start(rules={"instance": "other"})
    moved.run(15)
    assert moved.ready("LldapUser", "alice") == ("False", "HeldByOtherInstance")
    assert moved.message("LldapUser", "alice").endswith(COMMAND)


class Answering:
    """A command whose API server answers by itself."""

    def __init__(self, bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
        @contextmanager
        def here(*_: object) -> Iterator[RestClient]:
            yield bed.admin

        monkeypatch.setattr("controller.release.release.api_server", here)
        self.lines: list[str] = []

    def run(self, *arguments: str) -> int:
        parser = argparse.ArgumentParser()
        add_release(parser)
        return run_release(parser.parse_args(arguments), {}, {}, self.lines.append)


def test_a_namespace_that_is_none_is_a_mistake_and_one_without_objects_is_not(
    bed: Bed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = Answering(bed, monkeypatch)
    assert command.run("--namespace", "nosuch") == 2
    assert command.lines[-1] == "there is no namespace nosuch: nothing was released"
    assert command.run("--namespace", "team-b", "--moved") == 0
    assert command.lines[-1] == "0 objects were released"
    assert command.run("--namespace", "team-b", "--dry-run") == 0
    assert command.lines[-1] == "1 object would be released"
    assert command.run("--namespace", "team-b") == 0
    assert command.lines[-1] == "1 object was released"
