"""One object that goes wrong, whatever lldap does with it, delays no other (G9)."""

from collections.abc import Callable

import pytest

from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import ConnectionLostError, Forward
from tests.faults.transports import lldap_label
from tests.support.bed import Bed

COUNT = 20
POISON = "poison"
HTML = Response(200, [("content-type", "text/html")], b"<html>")
LOCKED = b'{"data":null,"errors":[{"message":"database is locked","path":["createUser"]}]}'

Answer = Callable[[Call, Forward], Response]


def _lost(_call: Call, _forward: Forward) -> Response:
    raise ConnectionLostError(sent=True)


def _always(status: int, body: bytes) -> Answer:
    answer = Response(status, [("content-type", "application/json")], body)
    return lambda _call, _forward: answer


ANSWERS: dict[str, Answer] = {
    "500": _always(500, b""),
    "502": _always(502, b"bad gateway"),
    "404": _always(404, b""),
    "html": lambda _call, _forward: HTML,
    "null": _always(200, b'{"data":null}'),
    "locked": _always(200, LOCKED),
    "half": lambda call, forward: forward(call)._replace(body=b'{"data"'),
    "lost": _lost,
}


def _seconds_until_others_are_ready(poisoned: Answer | None) -> float:
    """Two waves of objects with one among them that lldap does so to."""
    bed = Bed()

    def hook(call: Call, forward: Forward) -> Response:
        if poisoned is None or POISON not in lldap_label(call):
            return forward(call)
        return poisoned(call, forward)

    bed.lldap.hooks.append(hook)
    begun = bed.clock.monotonic()
    names = [f"user-{number}" for number in range(COUNT)]
    for name in (*names[: COUNT // 2], POISON):
        bed.user(name)
    bed.run(5.0)
    for name in names[COUNT // 2 :]:
        bed.user(name)
    for _ in range(600):
        bed.settle()
        if all(bed.ready("LldapUser", name)[0] == "True" for name in names):
            return bed.clock.monotonic() - begun
        bed.clock.advance(0.25)
    raise AssertionError("some never became Ready")


@pytest.mark.slow
@pytest.mark.parametrize("name", ANSWERS)
def test_an_object_that_goes_wrong_delays_no_other(name: str) -> None:
    clean = _seconds_until_others_are_ready(None)
    assert _seconds_until_others_are_ready(ANSWERS[name]) <= 1.2 * clean
