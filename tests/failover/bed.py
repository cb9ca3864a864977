"""Two replicas as processes, over real HTTP, with servers that note who wrote and when."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

import orjson

from controller.api import GROUP
from controller.clock import SystemClock
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.authorization import Authenticator
from sandbox.apiserver.http import ApiServerHttp
from sandbox.apiserver.messages import Request, Response
from sandbox.lldap.exchange import Call
from sandbox.lldap.exchange import Response as LldapResponse
from sandbox.lldap.faults import Forward
from sandbox.lldap.opaque import cheap_stretching
from sandbox.lldap.server import Lldap
from tests.failover.history import Holder, Write
from tests.support.live import ADMIN_PASSWORD, LiveLldap, Replica
from tests.support.proxy import Proxy
from tests.support.sandboxed import Sandbox
from tests.tools.cache import faketime

LEASE, RENEW, RETRY, CALL = 3.0, 2.0, 0.5, 1.0
NAMES = ("a", "b")
PEOPLE = 8
EVERY = 0.1  # seconds between two changes of an object
SLOWEST = 0.6  # seconds that a change takes in lldap, of the CALL that it may take
MUTATIONS = ("create", "update", "delete", "add", "remove")
FAKETIME = faketime()


class NotedApi(ApiServer):
    """Notes each write of a replica, and who holds the Lease. Any thread."""

    def __init__(self, authenticator: Authenticator) -> None:
        super().__init__(SystemClock(), random.Random(1), authenticator=authenticator)
        self.holders: list[Holder] = []
        self.writes: list[Write] = []

    def request(self, request: Request) -> Response:
        began = time.monotonic()
        replica = request.headers.get("authorization", "").removeprefix("Bearer ")
        if request.method != "GET" and replica in NAMES and f"/{GROUP}/" in request.path:
            self.writes.append(Write(began, replica, f"{request.method} {request.path}"))
        response = super().request(request)
        if request.method != "GET" and "/leases" in request.path and response.status < 300:
            holder = orjson.loads(request.body)["spec"].get("holderIdentity", "")
            self.holders.append(Holder(time.monotonic(), holder.partition("_")[0]))
        return response


class FailoverBed:
    """Lasts as long as its context. `proxies` are the replicas' ways to the API server.

    With `steppable`, wall clocks of the replicas can be set, where libfaketime is at hand.
    """

    def __init__(self, folder: Path, rng: random.Random, *, steppable: bool) -> None:
        self.rng = rng
        self._steppable = steppable and FAKETIME is not None
        self.noted: NotedApi
        self.sandbox = Sandbox(self._note)
        self.lldap = LiveLldap(
            Lldap(SystemClock(), admin_password=ADMIN_PASSWORD, stretch=cheap_stretching)
        )
        self.lldap.lldap.hooks.append(self._slowly)
        self.replicas: dict[str, Replica] = {}
        self.proxies: dict[str, Proxy] = {}
        self._folder = folder
        self._stack = ExitStack()
        self._stopping = threading.Event()
        self._load = threading.Thread(target=self._change_objects, name="load")

    def _note(self, authenticator: Authenticator) -> ApiServer:
        self.noted = NotedApi(authenticator)
        return self.noted

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            server = stack.enter_context(self.sandbox.served())
            for name in NAMES:
                self._add(stack, server, name)
            self._stack = stack.pop_all()
        self._load.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._load.join()
        for replica in self.replicas.values():
            replica.kill()
        self._stack.close()

    def _add(self, stack: ExitStack, server: ApiServerHttp, name: str) -> None:
        self.sandbox.let_in(name, name)
        proxy = stack.enter_context(Proxy(server.url))
        folder = self._folder / name
        folder.mkdir()
        server.kubeconfig(folder / "kubeconfig", token=name)
        text = (folder / "kubeconfig").read_text()
        (folder / "kubeconfig").write_text(text.replace(server.url, proxy.url))
        (folder / "clock").write_text("+0\n")
        environ = {
            "KUBECONFIG": str(folder / "kubeconfig"),
            "LLDAP_URL": stack.enter_context(self.lldap.door(name)),
            "LEASE_SECONDS": f"{LEASE:g}",
            "RENEW_SECONDS": f"{RENEW:g}",
            "RETRY_SECONDS": f"{RETRY:g}",
            "CALL_SECONDS": f"{CALL:g}",
            "WORKERS": "4",
            "LOG_LEVEL": "info",
            **self._steppable_clock(folder),
        }
        self.proxies[name] = proxy
        self.replicas[name] = Replica(name, folder, environ)

    def _steppable_clock(self, folder: Path) -> dict[str, str]:
        if not self._steppable:
            return {}
        return {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(folder / "clock"),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    # --- what goes on all the time ---------------------------------------------------------

    def _slowly(self, call: Call, forward: Forward) -> LldapResponse:
        """Every other change takes its time: reconciles are always in flight."""
        if call.operation.startswith("update") and self.rng.random() < 0.5:
            time.sleep(self.rng.uniform(0.0, SLOWEST))
        return forward(call)

    def _change_objects(self) -> None:
        number = 0
        while not self._stopping.wait(EVERY):
            number += 1
            self.sandbox.user(f"person-{number % PEOPLE}", lastName=str(number))

    # --- what was seen ---------------------------------------------------------------------

    @property
    def holders(self) -> list[Holder]:
        return list(self.noted.holders)

    @property
    def holder(self) -> str:
        """Who holds the Lease now."""
        holders = self.noted.holders
        return holders[-1].replica if holders else ""

    @property
    def writes(self) -> list[Write]:
        """To both servers, in order."""
        mutations = [
            Write(seen.at, seen.caller, seen.operation)
            for seen in list(self.lldap.seen)
            if seen.operation.startswith(MUTATIONS)
        ]
        return sorted([*mutations, *self.noted.writes])

    def step_clock(self, name: str, seconds: int) -> None:
        """Set a replica's wall clock back or forth."""
        (self._folder / name / "clock").write_text(f"{seconds:+d}\n")


@contextmanager
def failover_bed(
    folder: Path, rng: random.Random, *, steppable: bool = False
) -> Iterator[FailoverBed]:
    """A bed with one leader that has written, and one replica that waits."""
    with FailoverBed(folder, rng, steppable=steppable) as bed:
        for replica in bed.replicas.values():
            replica.start()
        yield bed
