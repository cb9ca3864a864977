"""How the process ends: in time, by the right code, the Lease given back only when all is done."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.apiserver.messages import Request
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward, Hook, on
from tests.support.process import OperatorProcess, Servers, eventually, operator_of, servers_in

pytestmark = pytest.mark.slow

IN_TIME = 5.0
ELECTION = {"leader-elect": "true"}
FINISH = "/auth/opaque/register/finish"


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    with servers_in(tmp_path) as both:
        both.released_lease()
        yield both


class Held:
    """A fault that keeps the answer of a call back, or with `before` the call itself."""

    def __init__(self, seconds: float, *, before: bool = False) -> None:
        self.reached = threading.Event()
        self.over = threading.Event()
        self._seconds = seconds
        self._before = before

    def __call__(self, call: Call, forward: Forward) -> Response:
        response = None if self._before else forward(call)
        self.reached.set()
        self.over.wait(self._seconds)
        return forward(call) if response is None else response


@pytest.fixture
def held() -> Iterator[Callable[..., Held]]:
    """Make such faults; they let go at the end of the test."""
    made: list[Held] = []

    def make(seconds: float, *, before: bool = False) -> Held:
        made.append(Held(seconds, before=before))
        return made[-1]

    yield make
    for each in made:
        each.over.set()


def assert_ends(operator: OperatorProcess, code: int = 0) -> None:
    found, seconds = operator.stop()
    assert found == code, operator.log
    assert seconds < IN_TIME


def in_the_middle(servers: Servers, operation: str, fault: Held) -> Hook:
    hook = on(operation, fault)
    servers.lldap.hooks.append(hook)
    return hook


def note_mutations_at_release(servers: Servers) -> list[list[str]]:
    """What had been changed in lldap each time that the Lease was given back."""
    noted: list[list[str]] = []

    def before(request: Request) -> None:
        if request.method == "PUT" and b'"holderIdentity":""' in request.body:
            noted.append(servers.mutations())

    servers.api.before = before
    return noted


def test_sigterm_ends_a_leader_at_rest_and_gives_the_lease_back(servers: Servers) -> None:
    servers.user_with_password("alice", b"correct horse")
    with operator_of(servers, ELECTION) as operator:
        servers.wait_ready("LldapUser", "alice")
        assert servers.login("alice", "correct horse") == 200
        found, seconds = operator.stop()
    assert found == 0, operator.log
    assert seconds < 2.0
    assert servers.lease_holder == ""


def test_ctrl_c_ends_it_as_sigterm_does(servers: Servers) -> None:
    with operator_of(servers) as operator:
        operator.wait_log("working")
        operator.process.send_signal(signal.SIGINT)
        assert operator.wait(IN_TIME) == 0


def test_sigterm_before_the_api_server_has_said_anything(servers: Servers) -> None:
    servers.way.hang = lambda _data: True
    with operator_of(servers) as operator:
        eventually("it asks", lambda: servers.way.swallowed)
        assert_ends(operator)


def test_sigterm_while_nobody_listens_where_the_api_server_should_be(servers: Servers) -> None:
    servers.way.closed = True
    with operator_of(servers) as operator:
        operator.wait_log("the API server does not say which cluster this is")
        assert_ends(operator)


def test_sigterm_before_the_objects_were_listed(servers: Servers) -> None:
    servers.way.hang = lambda data: b"/lldapgroups" in data
    with operator_of(servers, ELECTION) as operator:
        eventually("it lists", lambda: servers.way.swallowed)
        assert_ends(operator)
    assert servers.lease_holder == ""


def test_sigterm_while_another_replica_leads(servers: Servers) -> None:
    with operator_of(servers, ELECTION) as leader:
        leader.wait_log("working")
        holder = servers.lease_holder
        with operator_of(servers, ELECTION) as standby:
            standby.wait_log("is held by")
            assert_ends(standby)
        assert servers.lease_holder == holder


def test_a_standby_takes_over_at_once_when_the_leader_has_ended(servers: Servers) -> None:
    with operator_of(servers, ELECTION) as leader:
        leader.wait_log("working")
        with operator_of(servers, ELECTION) as standby:
            standby.wait_log("is held by")
            assert_ends(leader)
            began = time.monotonic()
            eventually("the standby leads", lambda: servers.lease_holder)
            assert time.monotonic() - began < 5.0  # a try every 2 to 4.4 s
            servers.user("bob")
            servers.wait_ready("LldapUser", "bob")
            assert_ends(standby)


@pytest.mark.parametrize(("operation", "seconds"), [("createUser", 1.5), (FINISH, 3.0)])
def test_G08_sigterm_lets_the_work_in_hand_finish(
    servers: Servers, held: Callable[..., Held], operation: str, seconds: float
) -> None:
    fault = held(seconds)
    in_the_middle(servers, operation, fault)
    at_release = note_mutations_at_release(servers)
    servers.user_with_password("alice", b"correct horse")
    with operator_of(servers, ELECTION) as operator:
        assert fault.reached.wait(20.0)
        time.sleep(0.5)
        operator.terminate()
        time.sleep(0.5)
        assert_ends(operator)  # the second one changes nothing
    assert servers.lease_holder == ""
    assert at_release == [servers.mutations()]
    with operator_of(servers) as operator:
        operator.wait_log("working")
        servers.wait_ready("LldapUser", "alice")
        assert_ends(operator)
    assert servers.login("alice", "correct horse") == 200
    assert servers.calls("createUser") == 1
    assert servers.calls(FINISH) == 1


@pytest.mark.parametrize("operation", ["createUser", FINISH])
def test_G08_a_call_that_never_ends_is_cut_off_and_the_lease_left_to_run_out(
    servers: Servers, held: Callable[..., Held], operation: str
) -> None:
    fault = held(60.0, before=True)
    in_the_middle(servers, operation, fault)
    servers.user_with_password("alice", b"correct horse")
    with operator_of(servers, ELECTION) as operator:
        assert fault.reached.wait(30.0)
        assert_ends(operator)
        assert "are cut off" in operator.log
    assert servers.lease_holder  # the call may still be carried out
    fault.over.set()
    with operator_of(servers) as operator:
        operator.wait_log("working")
        servers.wait_ready("LldapUser", "alice")
        assert_ends(operator)
    assert servers.login("alice", "correct horse") == 200


def test_sigterm_while_the_api_server_does_not_answer_a_write(servers: Servers) -> None:
    with operator_of(servers, ELECTION) as operator:
        operator.wait_log("working")
        servers.way.hang = lambda data: b"PATCH /apis/lldap" in data
        servers.user("bob")
        eventually("it writes", lambda: servers.way.swallowed)
        assert_ends(operator)
        assert "are cut off" in operator.log
    assert servers.lease_holder


def test_sigterm_while_lldap_does_not_answer_a_login(
    servers: Servers, held: Callable[..., Held]
) -> None:
    fault = held(60.0, before=True)
    in_the_middle(servers, "/auth/simple/login", fault)
    with operator_of(servers, ELECTION) as operator:
        assert fault.reached.wait(20.0)
        assert_ends(operator)
    assert servers.lease_holder == ""  # reading is no work that another leader must wait for


def test_sigterm_while_the_api_server_is_gone(servers: Servers) -> None:
    with operator_of(servers, ELECTION) as operator:
        operator.wait_log("working")
        servers.way.closed = True
        servers.way.cut()
        assert_ends(operator)


def test_sigterm_while_the_api_server_is_silent(servers: Servers) -> None:
    with operator_of(servers, ELECTION) as operator:
        operator.wait_log("working")
        servers.way.hang = lambda _data: True
        assert_ends(operator)


def test_H01_a_replica_that_lost_its_lease_ends_with_1_and_writes_nothing_more(
    servers: Servers, held: Callable[..., Held]
) -> None:
    fault = held(60.0, before=True)
    with operator_of(servers, {**ELECTION, "retry-seconds": "0.5"}) as operator:
        operator.wait_log("working")
        in_the_middle(servers, "createUser", fault)
        servers.user("bob")
        servers.give_lease_to("somebody-else")
        assert operator.wait(10.0) == 1
        assert "the Lease is lost: somebody-else holds it" in operator.log
    assert servers.lease_holder == "somebody-else"


def test_a_process_is_started_anew_after_a_crash_and_nothing_is_lost(
    servers: Servers, held: Callable[..., Held]
) -> None:
    fault = held(60.0)
    in_the_middle(servers, "createUser", fault)
    servers.user_with_password("alice", b"correct horse")
    with operator_of(servers) as operator:
        assert fault.reached.wait(20.0)
        operator.kill()
    fault.over.set()
    with operator_of(servers) as operator:
        operator.wait_log("working")
        servers.wait_ready("LldapUser", "alice")
        assert_ends(operator)
    assert servers.calls("createUser") == 1
    assert servers.login("alice", "correct horse") == 200
