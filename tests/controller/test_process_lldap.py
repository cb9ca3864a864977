"""An lldap in trouble: a clear reason on the object, nothing lost, and no restart needed."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward, drip, on
from sandbox.lldap.tables import Table
from tests.support.process import (
    ADMIN_PASSWORD,
    OperatorProcess,
    Servers,
    eventually,
    operator_of,
    servers_in,
)

pytestmark = pytest.mark.slow

GRAPHQL = "/api/graphql"
HTML = Response(200, [("content-type", "text/html")], b"<html>Sign in</html>")


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    with servers_in(tmp_path) as both:
        yield both


class Answering:
    """Answers in lldap's stead while it is on."""

    def __init__(self, response: Response, path: str = GRAPHQL) -> None:
        self.on = True
        self.hits = 0
        self._response = response
        self._path = path

    def __call__(self, call: Call, forward: Forward) -> Response:
        if not self.on or not call.path.endswith(self._path):
            return forward(call)
        self.hits += 1
        return self._response


def everything(servers: Servers) -> tuple[Table, Table]:
    """All that is in lldap but tokens."""
    state = servers.lldap.snapshot()
    return state.users, state.groups


def wait_rest(servers: Servers) -> None:
    """Until lldap is asked nothing for half a second: what is Ready may be looked at once more."""

    def rests() -> bool:
        asked = len(servers.lldap.log)
        time.sleep(0.5)
        return len(servers.lldap.log) == asked

    eventually("nobody asks lldap any more", rests)


def assert_ends_well(operator: OperatorProcess) -> None:
    assert operator.stop()[0] == 0, operator.log


def test_lldap_is_down_at_the_start(servers: Servers) -> None:
    servers.lldap_way.closed = True
    servers.user_with_password("alice", b"correct horse")
    with operator_of(servers) as operator:
        message = servers.wait_reason("LldapUser", "alice", "LldapUnavailable")
        assert "check that it runs and that LLDAP_URL is right" in message
        servers.lldap_way.closed = False
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)
    assert servers.login("alice", "correct horse") == 200


def test_lldap_goes_down_in_the_middle_and_comes_back(servers: Servers) -> None:
    servers.user("alice")
    servers.user("carol")
    with operator_of(servers) as operator:
        servers.wait_ready("LldapUser", "alice")
        servers.wait_ready("LldapUser", "carol")
        servers.lldap_way.closed = True
        servers.lldap_way.cut()
        servers.user("bob")
        servers.delete("LldapUser", "carol")
        servers.wait_reason("LldapUser", "bob", "LldapUnavailable")
        servers.wait_reason("LldapUser", "carol", "LldapUnavailable")
        assert servers.is_ready("LldapUser", "alice")  # as far as anybody knows
        servers.lldap_way.closed = False
        servers.wait_ready("LldapUser", "bob")
        eventually("carol is gone", lambda: servers.get("LldapUser", "carol") is None)
        assert_ends_well(operator)
    assert set(servers.lldap.snapshot().users.rows) == {"admin", "alice", "bob"}


def test_a_wrong_password_is_corrected_in_its_file(servers: Servers) -> None:
    servers.write_password("something else")
    servers.user("alice")
    with operator_of(servers) as operator:
        message = servers.wait_reason("LldapUser", "alice", "Forbidden")
        assert message == (
            "lldap refuses the operator's login: check LLDAP_ADMIN_USERNAME and its password"
        )
        servers.write_password(ADMIN_PASSWORD)
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)


def test_the_password_file_is_gone_for_a_while(servers: Servers) -> None:
    servers.lldap_way.closed = True
    with operator_of(servers) as operator:
        operator.wait_log("lldap cannot be worked with")
        servers.password_file.unlink()
        operator.wait_log("the operator cannot read its password")
        servers.lldap_way.closed = False
        servers.user("alice")
        message = servers.wait_reason("LldapUser", "alice", "Forbidden")
        assert "LLDAP_ADMIN_PASSWORD_FILE" in message
        servers.write_password(ADMIN_PASSWORD)
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)


@pytest.mark.parametrize("group", [None, 3])
def test_the_operators_account_has_no_rights_until_somebody_gives_them(
    servers: Servers, group: int | None
) -> None:
    with servers.lldap.database() as store:
        store.remove_member("admin", 1)
        if group is not None:  # it may read everything and change nothing
            store.add_member("admin", group)
    servers.user("alice")
    with operator_of(servers) as operator:
        message = servers.wait_reason("LldapUser", "alice", "Forbidden")
        assert "lldap_admin" in message
        with servers.lldap.database() as store:
            store.add_member("admin", 1)
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)


def test_an_old_lldap_is_named_as_such(servers: Servers) -> None:
    text = 'Unknown field "attributes" on type "User"'
    old = Answering(Response.of_json(400, {"errors": [{"message": text}]}))
    servers.lldap.hooks.append(old)
    servers.user("alice")
    with operator_of(servers) as operator:
        message = servers.wait_reason("LldapUser", "alice", "UnsupportedServer")
        assert "0.6" in message
        old.on = False  # it was upgraded
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(HTML, id="html"),
        pytest.param(Response.of_json(200, {"data": None}), id="data-null"),
        pytest.param(Response(200, [], b'{"data":{"users":[{"id":"al'), id="half-an-answer"),
    ],
)
def test_C02_an_answer_that_is_none_changes_nothing(servers: Servers, response: Response) -> None:
    servers.user("alice")
    servers.group("team")
    with operator_of(servers) as operator:
        servers.wait_ready("LldapUser", "alice")
        servers.wait_ready("LldapGroup", "team")
        wait_rest(servers)
        strange = Answering(response)
        servers.lldap.hooks.append(strange)
        before = everything(servers)
        servers.user("bob")
        servers.wait_reason("LldapUser", "bob", "LldapUnavailable")
        eventually("it was asked again", lambda: strange.hits > 3)
        assert servers.is_ready("LldapUser", "alice")
        assert everything(servers) == before
        strange.on = False
        servers.wait_ready("LldapUser", "bob")
        assert_ends_well(operator)
    assert servers.mutations().count("createGroupWithDetails") == 1


def test_a_login_page_where_the_login_should_be(servers: Servers) -> None:
    page = Answering(HTML, "/auth/simple/login")
    servers.lldap.hooks.append(page)
    servers.user("alice")
    with operator_of(servers) as operator:
        servers.wait_reason("LldapUser", "alice", "LldapUnavailable")
        page.on = False
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)


def test_C09_an_answer_that_drips_costs_one_call_its_time_and_no_worker_for_good(
    servers: Servers,
) -> None:
    with operator_of(servers, {"call-seconds": "1"}) as operator:
        operator.wait_log("working")
        slow = drip(0.1)
        servers.lldap.hooks.append(on("createUser", slow, times=2))
        servers.user("alice")
        eventually("it is tried again", lambda: servers.calls("createUser"))
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)
    assert list(servers.lldap.snapshot().users.rows) == ["admin", "alice"]
