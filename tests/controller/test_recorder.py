import random
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from controller.events.eventseries import ObjectReference
from controller.events.recorder import EventRecorder
from controller.loop import FOREVER
from informers import DeadlineExceeded, StatusError
from tests.support.clock import FakeClock

Object = dict[str, Any]


def reference(name: str = "alice", namespace: str = "team-a") -> ObjectReference:
    return ObjectReference.of(
        {
            "apiVersion": "lldap-operator.lukidoescode.com/v1alpha1",
            "kind": "LldapUser",
            "metadata": {
                "namespace": namespace,
                "name": name,
                "uid": f"uid-{name}",
                "resourceVersion": "7",
                "labels": {"app.kubernetes.io/instance": "gitops"},
            },
        }
    )


def refused(code: int, reason: str, **more: Any) -> StatusError:
    return StatusError(code, reason, "no", body_is_status=True, **more)


TERMINATING = refused(
    403, "Forbidden", details={"causes": [{"reason": "NamespaceTerminating", "message": "x"}]}
)


@dataclass
class Events:
    """The server's events; each of `faults` meets one call, then `broken` all."""

    stored: dict[str, Object] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    faults: deque[Exception | None] = field(default_factory=deque)
    broken: Exception | None = None
    lose_answers: bool = False
    slow: Callable[[], object] = lambda: None

    def _begin(self, method: str, path: str) -> None:
        self.calls.append((method, path))
        self.slow()
        fault = self.faults.popleft() if self.faults else self.broken
        if fault is not None:
            raise fault

    def _end(self) -> Object:
        if self.lose_answers:
            raise DeadlineExceeded("no answer", sent=True)
        return {}

    def post(self, path: str, body: Object) -> Object:
        self._begin("POST", path)
        assert path == f"/apis/events.k8s.io/v1/namespaces/{body['metadata']['namespace']}/events"
        if body["metadata"]["name"] in self.stored:
            raise refused(409, "AlreadyExists")
        assert body.get("series", {"count": 2})["count"] >= 2
        self.stored[body["metadata"]["name"]] = body
        return self._end()

    def patch(self, path: str, body: Object, *, content_type: str) -> Object:
        self._begin("PATCH", path)
        assert content_type == "application/merge-patch+json"
        assert list(body) == ["series"]
        name = path.rpartition("/")[2]
        if name not in self.stored:
            raise refused(404, "NotFound")
        self.stored[name].update(body)
        return self._end()

    @property
    def only(self) -> Object:
        (event,) = self.stored.values()
        return event


class Setting:
    """A recorder, its server, its clock, its counts."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.server = Events()
        self.counts: Counter[str] = Counter()
        self.woken = 0
        self.recorder = EventRecorder(
            self.server,
            clock=self.clock,
            rng=random.Random(1),
            controller="lldap-operator",
            instance="operator-0_1234",
            count=self._count,
        )
        self.recorder.wake_with(self._wake)

    def _count(self, outcome: str) -> None:
        self.counts[outcome] += 1

    def _wake(self) -> None:
        self.woken += 1

    def event(self, name: str = "alice", reason: str = "UserCreated", note: str = "made") -> None:
        self.recorder.event(reference(name), "Normal", reason, "Create", note)

    def send(self) -> float:
        """Step until nothing is due; the wait that is left."""
        for _ in range(10_000):
            wait = self.recorder.step()
            if wait > 0:
                return wait
        raise AssertionError("never done")

    def run(self, seconds: float) -> None:
        end = self.clock.monotonic() + seconds
        while True:
            wait = min(self.send(), end - self.clock.monotonic())
            if wait <= 0:
                return
            self.clock.advance(wait)


@pytest.fixture
def s() -> Setting:
    return Setting()


def test_an_event_says_all_that_the_server_asks_for(s: Setting) -> None:
    s.event(note="created in lldap")

    assert s.server.calls == [], "nothing is sent by the caller"
    assert s.woken == 1
    assert s.send() == FOREVER

    event = dict(s.server.only)
    assert event.pop("metadata") == {"name": "alice.91b7584a2265b1f5", "namespace": "team-a"}
    assert event == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "eventTime": "2030-01-01T00:00:00.000000Z",
        "reportingController": "lldap-operator",
        "reportingInstance": "operator-0_1234",
        "action": "Create",
        "reason": "UserCreated",
        "type": "Normal",
        "note": "created in lldap",
        "regarding": {
            "apiVersion": "lldap-operator.lukidoescode.com/v1alpha1",
            "kind": "LldapUser",
            "namespace": "team-a",
            "name": "alice",
            "uid": "uid-alice",
            "resourceVersion": "7",
        },
    }
    assert s.counts == {"created": 1}


def test_events_about_what_has_no_namespace_live_in_default(s: Setting) -> None:
    s.recorder.event(reference("node", ""), "Warning", "R", "A", "n")
    s.send()

    assert s.server.only["metadata"]["namespace"] == "default"
    assert s.server.only["regarding"]["namespace"] == ""


def test_what_happens_again_is_counted_up_in_one_event(s: Setting) -> None:
    for _ in range(3):
        s.event()
        s.clock.advance(1.0)

    s.send()

    assert [method for method, _ in s.server.calls] == ["POST"]
    assert s.server.only["series"] == {
        "count": 3,
        "lastObservedTime": "2030-01-01T00:00:02.000000Z",
    }


def test_a_count_is_sent_at_growing_intervals(s: Setting) -> None:
    s.event()
    s.send()
    times = []
    for _ in range(600):
        s.event()
        before = len(s.server.calls)
        s.run(1.0)
        if len(s.server.calls) > before:
            times.append(round(s.clock.monotonic() - 1000.0))

    assert [method for method, _ in s.server.calls] == ["POST"] + ["PATCH"] * len(times)
    assert times == [10, 30, 70, 150, 310]
    s.run(600.0)
    assert s.server.only["series"]["count"] == 601, "the last count is sent too"


def test_what_happens_again_after_a_long_time_is_a_new_event(s: Setting) -> None:
    s.event()
    s.run(601.0)
    s.event()
    s.run(1.0)

    assert len(s.server.stored) == 2


@pytest.mark.parametrize("other", ["object", "reason", "type", "note"])
def test_another_object_reason_type_or_note_is_another_event(s: Setting, other: str) -> None:
    s.event()
    s.recorder.event(
        reference("bob" if other == "object" else "alice"),
        "Warning" if other == "type" else "Normal",
        "UserUpdated" if other == "reason" else "UserCreated",
        "Create",
        "made anew" if other == "note" else "made",
    )
    s.send()

    assert len(s.server.stored) == 2


def test_an_event_whose_answer_was_lost_is_not_made_twice(s: Setting) -> None:
    s.event()
    s.server.lose_answers = True
    s.recorder.step()
    s.server.lose_answers = False

    s.run(60.0)

    assert len(s.server.stored) == 1
    assert s.counts == {"created": 1}


def test_an_event_that_the_server_has_forgotten_begins_anew(s: Setting) -> None:
    s.event()
    s.send()
    s.server.stored.clear()
    s.event()
    s.event()

    s.run(60.0)

    assert [method for method, _ in s.server.calls] == ["POST", "PATCH", "POST"]
    assert s.server.only["series"]["count"] == 2
    assert s.counts == {"created": 2}


def test_a_server_that_fails_is_left_alone_for_a_while_and_asked_again(s: Setting) -> None:
    s.server.broken = refused(500, "InternalError")
    s.event()
    s.run(3.5)
    assert len(s.server.calls) == 3, "after 0, 1 and 3 s"

    s.server.broken = None
    s.run(10.0)
    assert s.counts == {"created": 1}


def test_a_pause_that_the_server_asks_for_is_kept(s: Setting) -> None:
    s.server.faults.append(refused(429, "TooManyRequests", retry_after=20.0))
    s.event()
    s.event("bob")

    assert s.send() == 20.0
    assert len(s.server.calls) == 1
    s.run(21.0)
    assert s.counts == {"created": 2}


def test_an_event_is_given_up_after_some_tries(s: Setting) -> None:
    s.server.broken = DeadlineExceeded("no answer", sent=False)
    s.event()

    s.run(3600.0)

    assert len(s.server.calls) == 5
    assert s.counts == {"failed": 1}


@pytest.mark.parametrize("error", [TERMINATING, refused(403, "Forbidden"), refused(422, "Invalid")])
def test_a_refusal_is_counted_and_not_repeated(s: Setting, error: StatusError) -> None:
    s.server.broken = error
    for _ in range(100):
        s.event()
        s.run(1.0)

    assert len(s.server.calls) == 1
    assert s.counts == {"failed": 1}

    s.server.broken = None
    s.event("bob")
    s.send()
    assert s.counts == {"failed": 1, "created": 1}


def test_flush_sends_what_is_left_now(s: Setting) -> None:
    s.event()
    s.send()
    s.event()
    s.event("bob")

    s.recorder.flush(5.0)

    assert len(s.server.stored) == 2
    assert s.counts == {"created": 2, "updated": 1}
    assert s.recorder.step() == FOREVER


def test_flush_ends_with_the_first_failure(s: Setting) -> None:
    s.server.broken = refused(503, "ServiceUnavailable")
    for i in range(10):
        s.event(f"user-{i}")

    s.recorder.flush(5.0)

    assert len(s.server.calls) == 1


def test_flush_ends_in_time(s: Setting) -> None:
    s.server.slow = lambda: s.clock.advance(2.0)
    for i in range(10):
        s.event(f"user-{i}")

    s.recorder.flush(5.0)

    assert len(s.server.calls) == 3
