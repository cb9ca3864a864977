"""A socket that never waits by itself: what is waited for, and for how long."""

import socket
import ssl
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from informers import readiness
from informers.readiness import TO_READ, TO_SEND, never_wait, never_waits, when_ready


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    never_wait(ours)
    with ours, theirs:
        yield ours, theirs


def work_that(*outcomes: Any) -> Callable[[], int | None]:
    """Raises or gives one after the other."""
    left = list(outcomes)

    def work() -> int | None:
        outcome = left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        assert outcome is None or isinstance(outcome, int)
        return outcome

    return work


TRIED: dict[str, tuple[list[Any], bool, list[int]]] = {
    "done at once": ([3], True, []),
    "nothing can be there yet": ([3], False, [TO_READ]),
    "a plain socket has no room": ([BlockingIOError(), 3], True, [TO_READ]),
    "its file says so by None": ([None, None, 3], True, [TO_READ, TO_READ]),
    "part of a record of TLS": ([ssl.SSLWantReadError(), 3], True, [TO_READ]),
    "TLS has to send to read": ([ssl.SSLWantWriteError(), 3], True, [TO_SEND]),
    "nothing is size 0 and the end": ([0], False, [TO_READ]),
}


@pytest.mark.parametrize(("outcomes", "at_once", "waits"), TRIED.values(), ids=TRIED)
def test_what_is_waited_for(
    pair: tuple[socket.socket, socket.socket],
    monkeypatch: pytest.MonkeyPatch,
    outcomes: list[Any],
    at_once: bool,
    waits: list[int],
) -> None:
    waited: list[tuple[int, float]] = []
    monkeypatch.setattr(readiness, "_wait", lambda _sock, *how: waited.append(how))
    done = when_ready(pair[0], work_that(*outcomes), TO_READ, lambda: 7.0, at_once=at_once)
    assert done == outcomes[-1]
    assert waited == [(event, 7.0) for event in waits]


def test_tls_may_have_to_read_to_send(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[int] = []
    monkeypatch.setattr(readiness, "_wait", lambda _sock, event, _left: waited.append(event))
    work = work_that(ssl.SSLWantReadError(), BlockingIOError(), 5)
    assert when_ready(pair[0], work, TO_SEND, lambda: 7.0, at_once=True) == 5
    assert waited[0] == TO_READ


def test_what_comes_ends_the_wait(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.send(b"abc")
    buffer = bytearray(8)
    read = when_ready(ours, lambda: ours.recv_into(buffer), TO_READ, lambda: 10.0, at_once=False)
    assert bytes(buffer[:read]) == b"abc"


def test_so_does_the_end_of_the_other_side(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.close()
    buffer = bytearray(8)
    read = when_ready(ours, lambda: ours.recv_into(buffer), TO_READ, lambda: 10.0, at_once=False)
    assert read == 0


def test_a_wait_has_its_time_and_none_begins_after_it(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    tried = 0

    def read() -> int:
        nonlocal tried
        tried += 1
        return pair[0].recv_into(bytearray(8))

    with pytest.raises(TimeoutError):
        when_ready(pair[0], read, TO_READ, lambda: 0.001, at_once=True)
    assert tried == 1

    def over() -> float:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        when_ready(pair[0], read, TO_READ, over, at_once=False)
    assert tried == 1


def test_only_a_socket_of_the_system_can_be_told_never_to_wait() -> None:
    class TlsInTls:
        def gettimeout(self) -> float:
            return 3.0

        def settimeout(self, _seconds: float) -> None:
            raise AssertionError

    inner: Any = TlsInTls()
    never_wait(inner)
    assert not never_waits(inner)
