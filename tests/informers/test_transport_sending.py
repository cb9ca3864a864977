"""When a request goes out, and who may still stop it."""

from collections.abc import Callable

import pytest

from tests.informers.rawserver import Peer, Script, serve
from tests.informers.sites import LONG, Site


class _StoppedError(Exception):
    """What a fence raises."""


def _stop(_seconds: float) -> None:
    raise _StoppedError


def test_before_send_is_told_what_is_left_of_the_call(site: Callable[[Script], Site]) -> None:
    told: list[float] = []
    place = site(serve(lambda peer: peer.answer()))
    with place as transport:
        for _ in range(2):  # the second time over a connection that stands
            transport.request("PATCH", "/", body=b"{}", timeout=LONG, before_send=told.append)
        assert len(told) == 2
        assert all(0 < seconds < LONG for seconds in told)
        assert len(place.server.peers) == 1


def test_a_call_that_is_stopped_sends_not_a_byte(site: Callable[[Script], Site]) -> None:
    received: list[object] = []

    def script(peer: Peer) -> None:
        while request := peer.receive():
            received.append(request)
            peer.answer()
        received.append("closed")

    place = site(script)
    with place as transport:
        transport.request("GET", "/before", timeout=LONG)
        with pytest.raises(_StoppedError):
            transport.request("PATCH", "/", body=b"{}", timeout=LONG, before_send=_stop)
        transport.request("GET", "/after", timeout=LONG)  # nobody stops this one
    assert [request[0] for request in place.server.requests] == [
        "GET /before HTTP/1.1",
        "GET /after HTTP/1.1",
    ]
    assert received.count("closed") == len(place.server.peers)


def test_a_request_larger_than_the_buffers_is_sent_whole(site: Callable[[Script], Site]) -> None:
    body = bytes(range(256)) * 2**15
    place = site(serve(lambda peer: peer.answer()))
    with place as transport:
        transport.request("PUT", "/", body=body, timeout=LONG)
        assert place.server.requests[0][2] == body
