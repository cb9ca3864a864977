"""An API server in trouble: a clear message, nothing lost, and no restart needed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.apiserver.messages import Request, Response
from sandbox.controlplane import free_ports
from tests.support.process import (
    OperatorProcess,
    Servers,
    eventually,
    half_a_line,
    operator_of,
    probe,
    servers_in,
    status,
)

pytestmark = pytest.mark.slow

KUBE_SYSTEM = "/api/v1/namespaces/kube-system"


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    with servers_in(tmp_path) as both:
        yield both


def assert_ends_well(operator: OperatorProcess) -> None:
    assert operator.stop()[0] == 0, operator.log


class Refusing:
    """Answers the operator's requests that `meant` picks with `response`, while it is on."""

    def __init__(self, meant: Callable[[Request], bool], response: Callable[[], Response]) -> None:
        self.on = True
        self.hits = 0
        self._meant = meant
        self._response = response

    def __call__(self, request: Request) -> Response | None:
        if not self.on or not self._meant(request):
            return None
        self.hits += 1
        return self._response()


# --- which cluster it is -------------------------------------------------------------------


def test_a_cluster_whose_id_may_not_be_read_is_a_mistake_of_the_configuration(
    servers: Servers,
) -> None:
    servers.api.before = Refusing(
        lambda request: request.path == KUBE_SYSTEM,
        lambda: status(403, "Forbidden", "the operator cannot get namespaces"),
    )
    with operator_of(servers) as operator:
        assert operator.wait() == 2
        assert "LLDAP_CLUSTER_ID: is not set, and the namespace kube-system" in operator.log
        assert "Traceback" not in operator.log
    with operator_of(servers, {"lldap-cluster-id": "cluster-7"}) as operator:
        servers.user("alice")
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)
    values = servers.lldap.snapshot().users.rows["alice"].attributes["kubernetes-owner"]
    assert values[0].startswith("created cluster-7 default team-a/alice ")


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(lambda: status(401, "Unauthorized"), id="401"),
        pytest.param(lambda: status(429, "TooManyRequests"), id="429"),
        pytest.param(lambda: status(500, "InternalError"), id="500"),
        pytest.param(lambda: Response(200, b'{"kind":"Namespace","metadata":{'), id="half"),
        pytest.param(lambda: Response(200, b'{"kind":"Namespace"}'), id="no-uid"),
        pytest.param(lambda: Response(200, b"<html>"), id="html"),
    ],
)
def test_an_api_server_that_does_not_say_which_cluster_it_is_is_asked_again(
    servers: Servers, response: Callable[[], Response]
) -> None:
    servers.api.before = fault = Refusing(lambda request: request.path == KUBE_SYSTEM, response)
    (port,) = free_ports(1)
    with operator_of(servers, {"health-address": f"127.0.0.1:{port}"}) as operator:
        operator.wait_log("the API server does not say which cluster this is")
        assert probe(port, "/healthz")[0] == 200
        code, said = probe(port, "/readyz")
        assert code == 503
        assert "[-] cluster: GET /api/v1/namespaces/kube-system" in said
        fault.on = False
        operator.wait_log("working")
        assert probe(port, "/readyz")[0] == 200
        assert_ends_well(operator)


# --- kinds that cannot be had ----------------------------------------------------------------


def test_a_crd_that_is_missing_stops_no_other_kind_and_is_found_when_it_comes(
    tmp_path: Path,
) -> None:
    with servers_in(tmp_path, crds=False) as servers:
        servers.install_crds(leave_out="lldapgroups")
        servers.user("alice")
        (port,) = free_ports(1)
        with operator_of(servers, {"health-address": f"127.0.0.1:{port}"}) as operator:
            servers.wait_ready("LldapUser", "alice")
            code, said = probe(port, "/readyz")
            assert code == 503
            assert "[-] lldapgroups: cannot be listed: GET /apis/lldap-operator" in said
            assert "404" in said
            assert "lldapusers" not in said
            assert probe(port, "/healthz")[0] == 200
            servers.install_crds(only="lldapgroups")
            eventually("groups are served", lambda: probe(port, "/readyz")[0] == 200)
            servers.group("team")
            servers.wait_ready("LldapGroup", "team")
            assert_ends_well(operator)


@pytest.mark.parametrize("plural", ["lldapmemberships", "secrets"])
def test_a_right_that_is_missing_stops_no_other_kind_and_counts_when_it_is_given(
    servers: Servers, plural: str
) -> None:
    fault = Refusing(
        lambda request: request.path.endswith(f"/{plural}"),
        lambda: status(403, "Forbidden", f"cannot list {plural}"),
    )
    servers.api.before = fault
    (port,) = free_ports(1)
    with operator_of(servers, {"health-address": f"127.0.0.1:{port}"}) as operator:
        servers.user("alice")
        servers.wait_ready("LldapUser", "alice")
        code, said = probe(port, "/readyz")
        assert code == 503
        assert f"[-] {plural}: cannot be listed" in said
        assert f"cannot list {plural}" in said
        fault.on = False
        eventually("it is listed", lambda: probe(port, "/readyz")[0] == 200)
        servers.user_with_password("bob", b"correct horse")
        servers.group("team")
        servers.apply("LldapMembership", "bob", {"userName": "bob", "groupName": "team"})
        servers.wait_ready("LldapMembership", "bob")
        servers.wait_ready("LldapUser", "bob")
        assert_ends_well(operator)


# --- answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(lambda: status(403, "Forbidden"), id="403"),
        pytest.param(lambda: status(410, "Expired", "too old resource version"), id="410"),
        pytest.param(lambda: status(429, "TooManyRequests", **{"Retry-After": "1"}), id="429"),
        pytest.param(lambda: status(500, "InternalError"), id="500"),
        pytest.param(half_a_line, id="half-a-line"),
    ],
)
def test_a_watch_that_goes_wrong_loses_no_object(
    servers: Servers, response: Callable[[], Response]
) -> None:
    with operator_of(servers) as operator:
        operator.wait_log("working")
        fault = Refusing(lambda request: request.query.get("watch") in {"1", "true"}, response)
        servers.api.before = fault
        servers.way.cut()
        eventually("every watch was refused", lambda: fault.hits >= 5)
        servers.user("alice")  # nobody sees it come
        fault.on = False
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(lambda: status(409, "Conflict", "the object has been modified"), id="409"),
        pytest.param(lambda: status(429, "TooManyRequests", **{"Retry-After": "1"}), id="429"),
        pytest.param(lambda: status(500, "InternalError"), id="500"),
        pytest.param(lambda: Response(200, b'{"kind":"LldapUser","metad'), id="half-an-answer"),
    ],
)
def test_a_status_that_cannot_be_written_is_written_later_and_nothing_done_twice(
    servers: Servers, response: Callable[[], Response]
) -> None:
    def meant(request: Request) -> bool:
        return request.method == "PATCH" and request.path.endswith("/status")

    servers.api.before = fault = Refusing(meant, response)
    servers.user_with_password("alice", b"correct horse")
    with operator_of(servers) as operator:
        eventually("it tries", lambda: fault.hits >= 3)
        fault.on = False
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)
    assert servers.calls("createUser") == 1
    assert servers.calls("/auth/opaque/register/finish") == 1


def test_writes_that_are_forbidden_are_said_to_be_in_the_log_and_done_when_allowed(
    servers: Servers,
) -> None:
    def meant(request: Request) -> bool:
        return request.method == "PATCH" and "/lldapusers/" in request.path

    fault = Refusing(meant, lambda: status(403, "Forbidden", "cannot patch lldapusers"))
    servers.api.before = fault
    servers.user("alice")
    with operator_of(servers) as operator:
        operator.wait_log("cannot patch lldapusers")
        assert servers.mutations() == []  # without its finalizer nothing is begun
        fault.on = False
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)


def test_an_api_server_that_is_silent_for_a_while(servers: Servers) -> None:
    with operator_of(servers, {"call-seconds": "1"}) as operator:
        operator.wait_log("working")
        servers.way.hang = lambda _data: True
        servers.user("alice")
        eventually("it writes in vain", lambda: servers.way.swallowed)
        servers.way.hang = lambda _data: False
        servers.way.cut()
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)
    assert servers.calls("createUser") == 1


def test_an_api_server_that_is_gone_at_the_start_and_comes(servers: Servers) -> None:
    servers.way.closed = True
    servers.user("alice")
    with operator_of(servers, {"leader-elect": "true", "call-seconds": "1"}) as operator:
        operator.wait_log("the API server does not say which cluster this is")
        servers.way.closed = False
        servers.wait_ready("LldapUser", "alice")
        assert_ends_well(operator)
