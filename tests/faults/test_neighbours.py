"""One object that goes wrong, whatever lldap does with it, delays no other (G9)."""

from collections.abc import Callable

import pytest

from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import ConnectionLostError, Forward
from tests.faults.transports import lldap_label
from tests.faults.ways import database_busy
from tests.support.bed import Bed

COUNT = 20
POISON = "poison"
HTML = Response(200, [("content-type", "text/html")], b"<html>")

Answer = Callable[[Call, Forward], Response]


def _lost(_call: Call, _forward: Forward) -> Response:
    raise ConnectionLostError(sent=True)


def _always(status: int, body: bytes) -> Answer:
    answer = Response(status, [("content-type", "application/json")], body)
    return lambda _call, _forward: answer


def _busy(call: Call, _forward: Forward) -> Response:
    status, body, kind = database_busy("locked", call.operation)
    return Response(status, [("content-type", kind)], body)


ANSWERS: dict[str, Answer] = {
    "500": _always(500, b""),
    "502": _always(502, b"bad gateway"),
    "404": _always(404, b""),
    "html": lambda _call, _forward: HTML,
    "null": _always(200, b'{"data":null}'),
    "locked": _busy,
    "half": lambda call, forward: forward(call)._replace(body=b'{"data"'),
    "lost": _lost,
}


def _user(bed: Bed, name: str) -> None:
    bed.user(name)


def _group(bed: Bed, name: str) -> None:
    bed.group(name)


def _membership(bed: Bed, name: str) -> None:
    bed.membership(name, "staff")


def _schema(bed: Bed, name: str) -> None:
    bed.schema(name)


KINDS: dict[str, tuple[Callable[[Bed, str], None], str]] = {
    "LldapUser": (_user, "{}"),
    "LldapGroup": (_group, "{}"),
    "LldapMembership": (_membership, "{}-staff"),
    "LldapAttributeSchema": (_schema, "user-{}"),
}
"""How an object of a kind is made, and its name."""
NAMES = [f"object-{number}" for number in range(COUNT)]


def _bed(kind: str) -> Bed:
    bed = Bed()
    if kind == "LldapMembership":
        bed.group("staff")
        for name in (*NAMES, POISON):
            bed.user(name)
    bed.settle()
    return bed


def _seconds_until_others_are_ready(kind: str, poisoned: Answer | None) -> float:
    """Two waves of objects with one among them that lldap does so to."""
    bed = _bed(kind)
    make, named = KINDS[kind]
    hit: list[str] = []

    def hook(call: Call, forward: Forward) -> Response:
        if poisoned is None or POISON not in lldap_label(call):
            return forward(call)
        hit.append(call.operation)
        return poisoned(call, forward)

    bed.lldap.hooks.append(hook)
    begun = bed.clock.monotonic()
    for name in (*NAMES[: COUNT // 2], POISON):
        make(bed, name)
    bed.run(5.0)
    for name in NAMES[COUNT // 2 :]:
        make(bed, name)
    for _ in range(600):
        bed.settle()
        if all(bed.ready(kind, named.format(name))[0] == "True" for name in NAMES):
            assert poisoned is None or hit
            return bed.clock.monotonic() - begun
        bed.clock.advance(0.25)
    raise AssertionError("some never became Ready")


@pytest.fixture(scope="module")
def clean() -> dict[str, float]:
    """After how many seconds all are Ready when nothing goes wrong."""
    return {kind: _seconds_until_others_are_ready(kind, None) for kind in KINDS}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ANSWERS)
def test_an_object_that_goes_wrong_delays_no_other(
    kind: str, name: str, clean: dict[str, float]
) -> None:
    assert _seconds_until_others_are_ready(kind, ANSWERS[name]) <= 1.2 * clean[kind]
