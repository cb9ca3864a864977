"""Cases from the field that take the whole operator."""

from typing import Any

import pytest

from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward, refuse
from tests.support.bed import Bed

STRANGE: dict[str, Response] = {
    "data null": Response.of_json(200, {"data": None}),
    "data null and errors": Response.of_json(200, {"data": None, "errors": [{"message": "oops"}]}),
    "lists null": Response.of_json(200, {"data": {"users": None, "groups": None}}),
    "lists empty": Response.of_json(200, {"data": {"users": [], "groups": []}}),
    "errors empty": Response.of_json(200, {"errors": []}),
    "nothing in it": Response.of_json(200, {}),
    "a list": Response.of_json(200, []),
    "empty": Response(200),
    "half": Response(200, [], b'{"data":{"users":[{"id":"al'),
    "html": Response(200, [("content-type", "text/html")], b"<html>Sign in</html>"),
    "bad gateway": Response(502, [], b"Bad Gateway"),
    "too many": Response(429, [], b"slow down"),
}


class GraphQLAnswers:
    """Answers every GraphQL call in lldap's stead while it is on."""

    def __init__(self, response: Response) -> None:
        self.on = True
        self._response = response

    def __call__(self, call: Call, forward: Forward) -> Response:
        return self._response if self.on and call.path == "/api/graphql" else forward(call)


def everything(bed: Bed) -> Any:
    state = bed.lldap.snapshot()
    return state.users, state.groups


@pytest.mark.parametrize("name", STRANGE)
def test_C02_an_answer_that_is_none_never_creates_deletes_or_marks_absent(name: str) -> None:
    bed = Bed()
    bed.user("alice")
    bed.user("carol")
    bed.group("team")
    bed.membership("alice", "team")
    bed.run(20)
    assert bed.ready("LldapMembership", "alice-team") == ("True", "Verified")
    before = everything(bed)
    strange = GraphQLAnswers(STRANGE[name])
    bed.lldap.hooks.append(strange)
    bed.user("bob")
    bed.delete("LldapUser", "carol")
    bed.run(700, step=20)  # a resync too
    assert everything(bed) == before
    assert bed.exists("LldapUser", "carol")
    assert bed.ready("LldapUser", "bob")[0] == "False"
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert bed.ready("LldapMembership", "alice-team")[0] == "True"
    strange.on = False
    bed.run(700, step=20)
    assert bed.ready("LldapUser", "bob") == ("True", "Verified")
    assert not bed.exists("LldapUser", "carol")
    assert set(bed.lldap.snapshot().users.rows) == {"admin", "alice", "bob"}


def test_E04_a_deletion_waits_for_an_lldap_that_is_down_and_says_so() -> None:
    bed = Bed()
    bed.user("alice")
    bed.run(5)
    bed.lldap.hooks.append(refuse)
    bed.delete("LldapUser", "alice")
    bed.run(300, step=10)
    assert bed.exists("LldapUser", "alice")
    assert bed.ready("LldapUser", "alice") == ("False", "LldapUnavailable")
    assert ("LldapUser alice", "Warning", "LldapUnavailable") in {e[:3] for e in bed.events.seen}
    bed.lldap.hooks.clear()
    bed.run(40, step=1)
    assert not bed.exists("LldapUser", "alice")
    assert "alice" not in bed.lldap.snapshot().users.rows


def test_E04_retain_releases_at_once_while_lldap_is_down() -> None:
    bed = Bed()
    bed.user("alice")
    bed.run(5)
    bed.lldap.hooks.append(refuse)
    bed.delete("LldapUser", "alice")
    bed.run(30)
    assert bed.exists("LldapUser", "alice")
    bed.user("alice", deletionPolicy="Retain")
    bed.run(2)
    assert not bed.exists("LldapUser", "alice")
    assert "alice" in bed.lldap.snapshot().users.rows


def test_C09_one_login_serves_all_objects() -> None:
    bed = Bed()
    for number in range(50):
        bed.user(f"user-{number}")
    bed.run(5)
    assert all(bed.ready("LldapUser", f"user-{n}")[0] == "True" for n in range(50))
    assert bed.operations().count("/auth/simple/login") == 1
