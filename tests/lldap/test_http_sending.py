"""When a call to lldap goes out, and who may still stop it."""

import pytest

from lldap import Answer, HttpTransport
from lldap.http import BeforeSend
from tests.lldap.http_bed import BODY, HEADERS, Connect
from tests.lldap.loopback import answer_all


class _StoppedError(Exception):
    """What a fence raises."""


def _stop(_seconds: float) -> None:
    raise _StoppedError


def _send(
    transport: HttpTransport, before_send: BeforeSend | None, *, body: bytes = BODY
) -> Answer:
    return transport.send(
        "POST",
        "/",
        headers=HEADERS,
        body=body,
        timeout=5.0,
        max_bytes=1000,
        before_send=before_send,
    )


def test_before_send_is_told_what_is_left_of_the_call(connect: Connect) -> None:
    told: list[float] = []
    transport, server = connect(answer_all)
    for _ in range(2):  # the second time over a connection that stands
        _send(transport, told.append)
    assert len(told) == 2
    assert all(0 < seconds < 5 for seconds in told)
    assert len(server.requests) == 2


def test_a_call_that_is_stopped_sends_not_a_byte(connect: Connect) -> None:
    transport, server = connect(answer_all, answer_all)
    _send(transport, None, body=b"before")
    with pytest.raises(_StoppedError) as caught:
        _send(transport, _stop)
    assert caught.value.__context__ is None
    _send(transport, None, body=b"after")  # nobody stops this one
    assert [request.rpartition(b"\r\n")[2] for request in server.requests] == [b"before", b"after"]


def test_a_request_larger_than_the_buffers_is_sent_whole(connect: Connect) -> None:
    body = bytes(range(256)) * 2**15
    transport, server = connect(answer_all)
    _send(transport, None, body=body)
    assert server.requests[0].endswith(b"\r\n\r\n" + body)
