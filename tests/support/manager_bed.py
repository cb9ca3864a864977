"""A manager with its real threads over the sandbox's two stores: no socket, the system's clock."""

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from controller.api import KINDS
from controller.clock import SystemClock
from controller.cluster import ClusterId
from controller.configuration.rules import Rules
from controller.configuration.values import Address
from controller.election.leadership import Election, NoElection, Term
from controller.events.objectevents import ObjectEvents
from controller.events.recorder import EventRecorder
from controller.manager import Checks, Manager, Process
from controller.metrics.metrics import Metrics
from controller.operator import Operator, Parts
from controller.serving.httpserver import HTTPServer
from controller.serving.probes import probe_routes
from controller.stop import Stop
from informers import RestClient
from lldap import Credentials, Session
from lldap.opaque import Client, ClientV07, ClientV40
from lldap.passwords import OwnCredentials, Passwords
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.transport import InProcessTransport as ApiTransport
from sandbox.lldap.opaque import cheap_stretching
from sandbox.lldap.server import Lldap
from sandbox.lldap.transport import InProcessTransport as LldapTransport

ROOT = Path(__file__).parents[2]
ADMIN_PASSWORD = "admin-password-1"
CALL_SECONDS = 8.0


class WatchedElection:
    """An election that notes what is asked of it; `lead` lets it lead."""

    def __init__(self, clock: SystemClock, *, leads: bool = True) -> None:
        self._election = NoElection(clock=clock, on_leading=lambda _term: None)
        self.lead = leads
        self.released_at: float | None = None
        self.check_answer: str | None = None

    @property
    def term(self) -> Term | None:
        return self._election.term

    def fence(self, timeout: float) -> None:
        self._election.fence(timeout)

    def check(self) -> str | None:
        return self.check_answer

    def step(self) -> float:
        return self._election.step() if self.lead else 0.05

    def watch(self) -> float:
        return self._election.watch()

    def release(self) -> None:
        self.released_at = time.monotonic()


class ManagerBed:
    """Everything but the sockets. `run` starts the manager's own thread."""

    def __init__(self, *, leads: bool = True, crds: bool = True) -> None:
        self.clock = SystemClock()
        self.api = ApiServer(self.clock, random.Random(1))
        self.lldap = Lldap(self.clock, admin_password=ADMIN_PASSWORD, stretch=cheap_stretching)
        self.admin = RestClient(ApiTransport(self.api, user_agent="tests"), call_seconds=8.0)
        self.api_transport = ApiTransport(self.api)
        self.election: Any = WatchedElection(self.clock, leads=leads)
        self.stop = Stop()
        self.operator: Operator | None = None
        self.closed: list[str] = []
        self.began: list[str] = []
        """What began to run, by the name of its thread, in order."""
        self.change: Callable[[Operator], None] = lambda _operator: None
        self.servers: Sequence[HTTPServer] = ()
        self.code: int | None = None
        self.raised: BaseException | None = None
        if crds:
            self.install()

    def install(self) -> None:
        for path in sorted((ROOT / "deploy/crds").glob("lldap*.yaml")):
            crd = yaml.safe_load(path.read_text())
            self.admin.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)

    def manager(self) -> Manager:
        rest = RestClient(self.api_transport, call_seconds=CALL_SECONDS)
        metrics = Metrics(clock=self.clock, kinds=[kind.kind for kind in KINDS])
        recorder = EventRecorder(
            rest,
            clock=self.clock,
            rng=random.Random(1),
            controller="lldap-operator",
            instance="pod-1",
            count=metrics.objects.event,
        )
        election: Election = self.election
        process = Process(
            cluster=ClusterId(None, rest),
            make_operator=lambda cluster: self._make(cluster, rest, metrics, recorder),
            elector=election,
            recorder=recorder,
            serve=self._serve,
            workers=3,
            clock=self.clock,
            close_lldap=lambda: self.closed.append("lldap"),
            close_api=lambda: self.closed.append("api"),
        )
        return Manager(process, self.stop)

    def _make(
        self, cluster: str, rest: RestClient, metrics: Metrics, recorder: EventRecorder
    ) -> Operator:
        own = OwnCredentials(lambda: Credentials("admin", ADMIN_PASSWORD))
        transport = LldapTransport(self.lldap)
        session = Session(
            transport,
            own,
            clock=self.clock,
            call_seconds=CALL_SECONDS,
            before_write=self.election.fence,
        )
        clients: list[Client] = [
            ClientV07(random=os.urandom, stretch=cheap_stretching),
            ClientV40(),
        ]
        self.operator = Operator(
            Parts(
                rules=Rules(
                    instance="default",
                    cluster=cluster,
                    own_user="admin",
                    virtual_group_namespace="default",
                ),
                rest=rest,
                session=session,
                passwords=Passwords(session, own, clients),
                hash_key=b"k" * 32,
                events=ObjectEvents(recorder),
                metrics=metrics,
                clock=self.clock,
                rng=random.Random(1),
                own_namespace="default",
                max_deletions_per_minute=60,
                resync_seconds=600.0,
            )
        )
        self.change(self.operator)
        return self.operator

    def _serve(self, liveness: Checks, readiness: Checks) -> Sequence[HTTPServer]:
        routes = probe_routes(liveness, readiness)
        self.servers = [HTTPServer(Address("127.0.0.1", 0), routes, clock=self.clock)]
        return self.servers

    @contextmanager
    def running(self) -> Iterator[Manager]:
        """Run the manager; at the end it is told to stop if it still runs."""
        manager = self.manager()
        thread = threading.Thread(target=self._run, args=[manager], name="main of the manager")
        thread.start()
        stepping = threading.Event()
        server = threading.Thread(target=self._step_api, args=[stepping], name="api steps")
        server.start()
        try:
            yield manager
        finally:
            self.stop.request()
            thread.join(15.0)
            stepping.set()
            server.join(5.0)
            assert not thread.is_alive(), "the manager does not end"

    def _run(self, manager: Manager) -> None:
        try:
            self.code = manager.run()
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.raised = error

    def _step_api(self, over: threading.Event) -> None:
        while not over.wait(0.05):
            self.api.step()


def until(what: str, condition: Callable[[], Any], seconds: float = 10.0) -> Any:
    """Wait until `condition` gives something true, and return it."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.01)
    return found


def names() -> set[str]:
    """Names of the threads that live."""
    return {thread.name for thread in threading.enumerate()}
