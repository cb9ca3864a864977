"""The in-process transport, its log and the faults that a test puts on it."""

from collections.abc import Callable

import pytest

from lldap.errors import AnswerTooLarge, ConnectionFailed, OutcomeUnknown
from lldap.transport import Answer, Transport
from sandbox.lldap import faults
from sandbox.lldap.exchange import Response
from sandbox.lldap.faults import Hook
from sandbox.lldap.transport import InProcessTransport
from tests.sandbox.lldap_session import JSON, Session, log_in, new_lldap
from tests.support.clock import FakeClock

CREATE = b'{"query":"mutation{ createUser(user:{id:\\"alice\\",email:\\"a\\"}){id}}"}'


class Bed:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.lldap = new_lldap(self.clock)
        self.admin: Session = log_in(self.lldap)
        self.transport: Transport = InProcessTransport(self.lldap)

    def create(self, max_bytes: int = 1000) -> Answer:
        headers = {**JSON, **self.admin.headers}
        return self.transport.send(
            "POST", "/api/graphql", headers=headers, body=CREATE, timeout=10, max_bytes=max_bytes
        )

    def has_created(self) -> bool:
        return len(self.admin.data("{users{id}}")["users"]) == 2


def test_an_answer_comes_back_and_the_log_says_who_called() -> None:
    bed = Bed()
    answer = bed.create()
    assert (answer.status, answer.content_type) == (200, "application/json")
    assert answer.body == b'{"data":{"createUser":{"id":"alice"}}}'
    other = InProcessTransport(bed.lldap, caller="another replica")
    health = other.send("GET", "/health", headers={}, body=None, timeout=1, max_bytes=0)
    assert (health.status, health.content_type, health.body) == (200, "", b"")
    assert [(e.call.caller, e.call.operation, e.status) for e in bed.lldap.log] == [
        ("operator", "createUser", 200),
        ("another replica", "/health", 200),
    ]


@pytest.mark.parametrize(
    ("fault", "error", "created"),
    [
        (faults.refuse, ConnectionFailed, False),
        (faults.lose_request, OutcomeUnknown, False),
        (faults.lose_answer, OutcomeUnknown, True),
    ],
)
def test_a_lost_connection_says_what_the_caller_may_conclude(
    fault: Hook, error: type[Exception], created: bool
) -> None:
    bed = Bed()
    bed.lldap.hooks.append(faults.on("createUser", fault))
    with pytest.raises(error):
        bed.create()
    assert bed.has_created() is created
    assert bed.lldap.log[0].status is None


def test_a_fault_hits_as_often_as_it_was_told_and_only_its_operation() -> None:
    bed = Bed()
    bed.lldap.hooks.append(faults.on("createUser", faults.refuse, times=2))
    bed.transport.send("GET", "/health", headers={}, body=None, timeout=1, max_bytes=0)
    for _ in range(2):
        with pytest.raises(ConnectionFailed):
            bed.create()
    assert bed.create().status == 200


def test_an_answer_after_the_timeout_is_an_unknown_outcome() -> None:
    bed = Bed()
    bed.lldap.hooks.append(faults.delay(bed.clock, 11))
    with pytest.raises(OutcomeUnknown, match="no answer within 10 s"):
        bed.create()
    assert bed.has_created()


def test_an_answer_can_be_garbled_replaced_or_too_large() -> None:
    bed = Bed()
    bed.lldap.hooks.append(faults.on("createUser", faults.answer(Response(500, body=b"no"))))
    assert bed.create() == Answer(500, "", b"no")
    assert not bed.has_created()
    bed.lldap.hooks[:] = [faults.garble(lambda body: body[:5])]
    assert bed.create().body == b'{"dat'
    assert bed.has_created()
    bed.lldap.hooks.clear()
    with pytest.raises(AnswerTooLarge):
        bed.create(max_bytes=10)


def test_a_postponed_call_takes_effect_when_the_test_says_so() -> None:
    bed = Bed()
    held: list[Callable[[], Response]] = []
    bed.lldap.hooks.append(faults.on("createUser", faults.postpone(held)))
    with pytest.raises(OutcomeUnknown):
        bed.create()
    assert not bed.has_created()
    assert held[0]().status == 200
    assert bed.has_created()


def test_hooks_run_in_the_order_of_the_list() -> None:
    bed = Bed()
    bed.lldap.hooks += [faults.garble(lambda body: body + b"2"), faults.garble(lambda _: b"1")]
    assert bed.create().body == b"12"
