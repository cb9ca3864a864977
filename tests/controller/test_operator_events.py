"""What is told of objects: events, lines of the log, failures that only the log has."""

import logging
from typing import Any

import pytest

from controller.events import objectevents
from controller.events.objectevents import ObjectEvents
from controller.harness.outcome import DONE, Result
from controller.harness.reconcilelog import reported
from controller.harness.resource import Resource
from informers import ApiFailure, ConnectionFailed


class Sent:
    def __init__(self) -> None:
        self.events: list[tuple[str, str, str]] = []

    def event(self, reference: Any, kind: str, reason: str, action: str, note: str) -> None:
        assert action == reason
        self.events.append((f"{reference.kind} {reference.namespace}/{reference.name}", kind, note))


def user(name: str) -> Resource:
    metadata = {"name": name, "namespace": "team-a", "uid": f"uid-{name}", "resourceVersion": "1"}
    return Resource({"kind": "LldapUser", "metadata": metadata, "spec": {}})


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [(record.levelno, record.getMessage()) for record in caplog.records]


def test_what_was_done_is_an_event_and_a_line_each_time(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    sent = Sent()
    events = ObjectEvents(sent)
    events.normal(user("alice"), "Updated", "user alice: email")
    events.normal(user("alice"), "Updated", "user alice: email")
    assert sent.events == [("LldapUser team-a/alice", "Normal", "user alice: email")] * 2
    line = (logging.INFO, "LldapUser team-a/alice: user alice: email")
    assert lines(caplog) == [line, line]
    assert caplog.records[0].__dict__["fields"] == {
        "kind": "LldapUser",
        "namespace": "team-a",
        "name": "alice",
        "reason": "Updated",
    }


def test_a_warning_that_repeats_itself_is_one_line_until_something_else_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    sent = Sent()
    events = ObjectEvents(sent)
    for _ in range(3):
        events.warning(user("alice"), "Conflict", "held by another")
        events.warning(user("bob"), "Conflict", "held by another")
    assert len(sent.events) == 6
    assert len(caplog.records) == 2
    events.warning(user("alice"), "Forbidden", "not allowed")
    events.warning(user("alice"), "Conflict", "held by another")
    assert len(caplog.records) == 4
    events.normal(user("alice"), "Created", "user alice")
    events.warning(user("alice"), "Conflict", "held by another")
    assert [record.levelno for record in caplog.records][-1] == logging.WARNING
    assert len(caplog.records) in {5, 6}  # a line of INFO is there if somebody listens to it


def test_only_so_many_objects_are_remembered(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objectevents, "MAX_SAID", 2)
    events = ObjectEvents(Sent())
    for name in ("a", "b", "c", "b", "a"):
        events.warning(user(name), "Conflict", "held")
    said = [record.getMessage() for record in caplog.records]
    assert said == [f"LldapUser team-a/{name}: held" for name in ("a", "b", "c", "a")]


def test_a_request_that_the_api_server_did_not_do_is_logged_once_and_again_after_a_success(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failure = ApiFailure("PATCH /apis/x: 403 Forbidden: cannot patch")
    results = [
        Result(rate_limited=True, error=failure),
        Result(rate_limited=True, error=failure),
        Result(rate_limited=True, error=ConnectionFailed("gone", sent=False)),
        DONE,
        Result(rate_limited=True, error=ValueError("shown on the object")),
        Result(rate_limited=True, error=failure),
    ]
    expected = list(results)
    reconcile = reported("LldapUser", lambda _key: results.pop(0))
    assert [reconcile("team-a/alice") for _ in range(6)] == expected
    said = "LldapUser team-a/alice is tried again: PATCH /apis/x: 403 Forbidden: cannot patch"
    assert [record.getMessage() for record in caplog.records] == [
        said,
        "LldapUser team-a/alice is tried again: gone",
        said,
    ]
    fields = {"kind": "LldapUser", "namespace": "team-a", "name": "alice"}
    assert caplog.records[0].__dict__["fields"] == fields
