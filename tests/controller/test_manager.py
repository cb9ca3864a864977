"""The order in which things start and end, whose threads they are, and what a dead one means."""

import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable

import pytest

from controller.configuration.config import ConfigError
from controller.operator import Operator
from controller.stop import Stop
from informers import RawResponse
from sandbox.apiserver.transport import Call as ApiCall
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward, on
from tests.support.manager_bed import ManagerBed, names, until

WORKERS = {"worker-0", "worker-1", "worker-2"}
INFORMERS = {
    f"{what} {plural}"
    for what in ("reflector", "handler")
    for plural in (
        "lldapusers",
        "lldapgroups",
        "lldapmemberships",
        "lldapattributeschemas",
        "secrets",
    )
}


def ask(bed: ManagerBed, path: str) -> tuple[int, str]:
    (server,) = until("it serves", lambda: bed.servers)
    url = f"http://127.0.0.1:{server.address.port}{path}"
    try:
        with urllib.request.urlopen(url, timeout=5.0) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_every_thread_has_a_name_and_none_is_left_at_the_end() -> None:
    before = set(threading.enumerate())
    bed = ManagerBed()
    with bed.running():
        until("it works", lambda: names() >= WORKERS)
        expected = {"events", "cluster-id", "gate", "resync", "election", "election-watch"}
        assert names() >= expected | INFORMERS | WORKERS
        unnamed = {t.name for t in threading.enumerate() if t.name.startswith("Thread-")}
        assert not unnamed
    assert bed.code == 0
    assert set(threading.enumerate()) == before


class Deaf(Stop):
    """Nobody is woken, as by a signal that comes between the last look and the wait."""

    def tell(self) -> None:
        """Say nothing."""


def test_an_end_that_nobody_was_woken_for_comes_all_the_same() -> None:
    bed = ManagerBed()
    bed.stop = Deaf()
    with bed.running():
        until("it works", lambda: names() >= WORKERS)
    assert bed.code == 0


def test_a_replica_that_does_not_lead_has_warm_informers_and_leaves_lldap_alone() -> None:
    bed = ManagerBed(leads=False)
    with bed.running():
        until("it tries to lead", lambda: "election" in names())
        assert ask(bed, "/readyz")[0] == 200
        time.sleep(0.2)
        assert not names() & (WORKERS | {"gate", "resync"})
        assert bed.lldap.log == []
        bed.election.lead = True
        until("it works", lambda: names() >= WORKERS)
    assert bed.code == 0
    assert bed.election.released_at is not None


def test_workers_wait_for_the_first_word_about_lldap() -> None:
    bed = ManagerBed()
    asked, go = threading.Event(), threading.Event()

    def hold(call: Call, forward: Forward) -> Response:
        asked.set()
        go.wait(10.0)
        return forward(call)

    bed.lldap.hooks.append(on("/auth/simple/login", hold))
    with bed.running():
        assert asked.wait(10.0)
        time.sleep(0.2)
        assert not names() & WORKERS
        go.set()
        until("it works", lambda: names() >= WORKERS)


def test_a_cluster_id_that_is_refused_ends_the_process_as_a_mistake() -> None:
    bed = ManagerBed()
    body = b'{"kind":"Status","code":403,"reason":"Forbidden","message":"no"}'
    bed.api_transport.before = lambda call: (
        RawResponse(403, {}, body) if call.path.endswith("/kube-system") else None
    )
    with bed.running():
        until("it ends", lambda: bed.raised)
    assert isinstance(bed.raised, ConfigError)
    assert bed.raised.mistakes[0].variable == "LLDAP_CLUSTER_ID"
    assert bed.operator is None


def break_worker(operator: Operator) -> None:
    def step() -> float:
        raise RuntimeError("a fault of the operator itself")

    operator.pool.step = step  # type: ignore[method-assign]


def break_handler(operator: Operator) -> None:
    registration = operator.informers["LldapGroup"].registrations[0]

    def step() -> float:
        raise RuntimeError("a fault of the operator itself")

    registration.step = step  # type: ignore[method-assign]


def break_gate(operator: Operator) -> None:
    def step() -> float:
        raise SystemExit(0)

    operator.gate.step = step  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("break_it", "name"),
    [(break_worker, "worker-0"), (break_handler, "handler lldapgroups"), (break_gate, "gate")],
)
def test_H03_a_thread_that_dies_ends_the_process_and_gives_the_lease_back(
    break_it: Callable[[Operator], None], name: str, caplog: pytest.LogCaptureFixture
) -> None:
    bed = ManagerBed()
    bed.change = break_it
    with bed.running() as manager:
        until("it ends", lambda: bed.code is not None)
        assert name in str(manager.liveness()["threads"]())
    assert bed.code == 1
    assert bed.election.released_at is not None or not bed.election.term
    assert f"{name} ended by an error" in caplog.text


def test_liveness_names_a_leader_whose_lease_is_over() -> None:
    bed = ManagerBed()
    with bed.running():
        until("it serves", lambda: ask(bed, "/healthz")[0] == 200)
        bed.election.check_answer = "the Lease is over and has not been renewed"
        assert ask(bed, "/healthz") == (
            503,
            "[-] leader: the Lease is over and has not been renewed\nfailed\n",
        )


def test_the_lease_is_given_back_when_the_last_worker_has_ended_and_not_before() -> None:
    bed = ManagerBed()
    inside, ended = threading.Event(), []

    def slow(operator: Operator) -> None:
        original = operator.pool.step

        def step() -> float:
            if threading.current_thread().name != "worker-1":
                return original()
            inside.set()
            until("the end is near", lambda: bed.stop.wanted)
            time.sleep(0.3)
            ended.append(time.monotonic())
            return 0.0

        operator.pool.step = step  # type: ignore[method-assign]

    bed.change = slow
    with bed.running():
        assert inside.wait(10.0)
    assert bed.code == 0
    assert bed.election.released_at > ended[-1]
    assert bed.closed[-1] == "api"


def test_a_lost_lease_ends_it_at_once_with_1_and_is_not_given_back() -> None:
    bed = ManagerBed()
    with bed.running():
        until("it works", lambda: names() >= WORKERS)
        began = time.monotonic()
        bed.stop.lose("somebody else holds it")
        until("it ends", lambda: bed.code is not None)
        assert time.monotonic() - began < 2.0
    assert bed.code == 1
    assert bed.election.released_at is None


def test_a_stop_before_anything_has_begun_starts_nothing() -> None:
    bed = ManagerBed()
    bed.stop.request()
    with bed.running():
        until("it ends", lambda: bed.code is not None)
    assert bed.code == 0
    assert bed.operator is None


def test_an_operator_that_cannot_be_made_ends_the_process_with_its_error() -> None:
    bed = ManagerBed()

    def fail(_operator: Operator) -> None:
        raise LookupError("cannot be made")

    bed.change = fail
    with bed.running():
        until("it ends", lambda: bed.raised)
    assert isinstance(bed.raised, LookupError)


def test_readiness_names_what_is_not_listed_and_liveness_does_not_care() -> None:
    bed = ManagerBed()
    body = b'{"kind":"Status","code":403,"reason":"Forbidden","message":"cannot list"}'

    def before(call: ApiCall) -> RawResponse | None:
        return RawResponse(403, {}, body) if call.path.endswith("/lldapusers") else None

    bed.api_transport.before = before
    with bed.running():
        until("it has asked", lambda: "cannot list" in ask(bed, "/readyz")[1])
        until("others are listed", lambda: "[+] lldapgroups" in ask(bed, "/readyz?verbose")[1])
        code, said = ask(bed, "/readyz?verbose")
        assert code == 503
        assert "[-] lldapusers: cannot be listed: GET /apis" in said
        assert ask(bed, "/healthz")[0] == 200
