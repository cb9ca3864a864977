"""One login at a time, whoever needs it."""

import threading
from collections.abc import Mapping

import pytest

from lldap import Answer, ConnectionFailed, LoginRefused, Unavailable
from lldap.http import BeforeSend
from tests.lldap.crowd import Crowd, wait_until
from tests.lldap.scripted_transport import (
    LOGIN,
    Reply,
    ScriptedTransport,
    Sent,
    json_answer,
    text_answer,
)
from tests.lldap.session_bed import EXPIRED, OK, READ, session_of
from tests.support.clock import FakeClock


class SlowLogins(ScriptedTransport):
    """Holds each login until all but one of `crowd` threads wait for it."""

    def __init__(
        self, clock: FakeClock, crowd: int, reply: Reply, logins: tuple[Reply, ...] = ()
    ) -> None:
        super().__init__(reply, logins=logins)
        self.crowd = crowd
        self._clock = clock

    def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,
        max_bytes: int,
        before_send: BeforeSend | None = None,
    ) -> Answer:
        if path == LOGIN:
            wait_until(lambda: self._clock.waiters >= self.crowd - 1)
        return super().send(
            method,
            path,
            headers=headers,
            body=body,
            timeout=timeout,
            max_bytes=max_bytes,
            before_send=before_send,
        )


def test_B08_twenty_threads_make_one_login() -> None:
    clock = FakeClock()
    transport = SlowLogins(clock, 20, OK)
    session = session_of(transport, clock)
    results = Crowd(20, lambda: session.graphql(READ, write=False)).run()
    assert results == [{"users": []}] * 20
    assert len(transport.logins) == 1


def test_B08_twenty_threads_that_meet_a_401_make_one_login() -> None:
    clock = FakeClock()

    def reply(sent: Sent) -> Answer:
        return OK if sent.token == "token-2" else EXPIRED

    transport = SlowLogins(clock, 1, reply)
    session = session_of(transport, clock)
    session.login()
    transport.crowd = 20
    results = Crowd(20, lambda: session.graphql(READ, write=False)).run()
    assert results == [{"users": []}] * 20
    assert len(transport.logins) == 2


def test_twenty_threads_share_one_refused_login() -> None:
    clock = FakeClock()
    transport = SlowLogins(clock, 20, OK, logins=(text_answer("", 401),))
    session = session_of(transport, clock)
    results = Crowd(20, lambda: session.graphql(READ, write=False)).run()
    assert [type(result) for result in results] == [LoginRefused] * 20
    assert len(transport.logins) == 1


def test_after_a_failed_login_the_next_call_tries_again() -> None:
    transport = ScriptedTransport(
        OK, logins=(ConnectionFailed("refused"), json_answer({"token": "t"}))
    )
    session = session_of(transport)
    with pytest.raises(ConnectionFailed):
        session.graphql(READ, write=False)
    assert session.graphql(READ, write=False) == {"users": []}


def test_C09_who_waits_for_a_login_waits_no_longer_than_the_deadline() -> None:
    clock = FakeClock()
    entered, leave = threading.Event(), threading.Event()

    def stuck(_: Sent) -> Answer:
        entered.set()
        assert leave.wait(20.0)
        return json_answer({"token": "token"})

    session = session_of(ScriptedTransport(OK, logins=(stuck,)), clock)
    first = Crowd(1, session.login)
    thread = threading.Thread(target=first.run)
    thread.start()
    assert entered.wait(10.0)
    second = Crowd(1, session.login)
    waiter = threading.Thread(target=second.run)
    waiter.start()
    wait_until(lambda: clock.waiters == 1)
    clock.advance(8.0)
    waiter.join(10.0)
    assert [type(result) for result in second.results] == [Unavailable]
    leave.set()
    thread.join(10.0)
    assert len(first.results) == 1


def test_a_login_that_is_interrupted_leaves_nobody_waiting() -> None:
    def interrupt(_: Sent) -> Answer:
        raise KeyboardInterrupt

    transport = ScriptedTransport(OK, logins=(interrupt, json_answer({"token": "t"})))
    session = session_of(transport)
    with pytest.raises(KeyboardInterrupt):
        session.login()
    assert session.login().generation == 1
