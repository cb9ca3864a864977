"""The bed on a real API server: the shipped operator over ApiClientTransport, and our own lldap.

Watches are read by a thread each, as they block; all else is done in the test's thread. Use it
as a context: `with RealBed(crds) as bed:` and then as a Bed.
"""

import datetime
import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from controller.api import KINDS
from controller.operator import Operator
from informers import ApiClientTransport, Reflector, RestClient, StatusError, StatusKind
from informers.transport import NO_HEADERS, BeforeSend, Query, RawResponse
from sandbox.apiserver.transport import Answered, Call
from sandbox.controlplane import ControlPlane, User
from sandbox.lldap.opaque import cheap_stretching
from sandbox.lldap.server import Lldap
from tests.support.bed import ADMIN_PASSWORD, CALL_SECONDS, NAMESPACES, ROOT, Bed
from tests.support.envtest import drop_finalizers, end_namespace

QUIET_SECONDS = 0.3  # nothing came for so long: an event takes milliseconds
DEADLINE_SECONDS = 30.0
CRDS = ROOT / "deploy/crds"
POLL_SECONDS = 0.01


class ShiftedClock:
    """The real time, moved on by a test. Any thread."""

    def __init__(self) -> None:
        self._shift = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self._shift

    def now(self) -> datetime.datetime:
        return datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=self._shift)

    def wait(self, condition: threading.Condition, timeout: float | None) -> None:
        condition.wait(timeout)

    def advance(self, seconds: float) -> None:
        self._shift += seconds


class RecordingTransport:
    """The product's transport, with the log and the hooks of the sandbox's. Any thread."""

    def __init__(self, transport: ApiClientTransport, user: str) -> None:
        self._transport = transport
        self._user = user
        self.calls: list[Answered] = []
        self.before: Callable[[Call], RawResponse | None] = lambda _call: None
        self.after: Callable[[Call, int], None] = lambda _call, _status: None

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        headers: Mapping[str, str] = NO_HEADERS,
        body: bytes | None = None,
        timeout: float,
        before_send: BeforeSend | None = None,
    ) -> RawResponse:
        call = Call(method, path, dict(query), dict(headers), body or b"", self._user)
        status = 0
        try:
            answer = self.before(call)
            if answer is None:
                answer = self._transport.request(
                    method,
                    path,
                    query=query,
                    headers=headers,
                    body=body,
                    timeout=timeout,
                    before_send=before_send,
                )
            status = answer.status
            self.after(call, status)
            return answer
        finally:
            self.calls.append(Answered(call, status))

    def stream(self, path: str, **options: Any) -> Any:
        return self._transport.stream(path, **options)

    def close(self) -> None:
        self._transport.close()


class _ReflectorThread:
    """Steps one reflector until it is stopped."""

    def __init__(self, reflector: Reflector) -> None:
        self._reflector = reflector
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"reflector {reflector.name}")
        self._thread.start()

    def _run(self) -> None:
        while not self._stopping.is_set():
            seconds = self._reflector.step()
            if seconds > 0:
                self._stopping.wait(min(seconds, POLL_SECONDS))

    def stop(self) -> None:
        self._stopping.set()
        self._reflector.stop()

    def join(self) -> None:
        self._thread.join(DEADLINE_SECONDS)
        assert not self._thread.is_alive()


class RealBed(Bed):
    """A Bed whose API server is real; CRDs are installed already. One thread.

    `settle` and `run` wait for real events; `until` waits for something. Time moves by itself
    and with `clock.advance`. The namespaces of the bed are made on entering and gone afterwards.
    """

    def __init__(self, plane: ControlPlane, *, user: User | None = None, **rules: Any) -> None:
        """`user`: who the operator is; by default an administrator."""
        self._plane = plane
        self._user = user or plane.admin
        self._rules = rules
        self._stack = ExitStack()
        self._threads: list[_ReflectorThread] = []
        self.clock = ShiftedClock()  # type: ignore[assignment]  # has what a Bed needs of it
        self.random = random.Random(1)
        self.stretch = cheap_stretching
        self.lldap = Lldap(
            self.clock,
            admin_password=ADMIN_PASSWORD,
            rng=random.Random(1),
            stretch=self.stretch,
        )

    def __enter__(self) -> Self:
        transport = self._transport(self._plane.admin)
        self.admin = RestClient(transport, call_seconds=CALL_SECONDS)
        for name in NAMESPACES:
            self._stack.callback(self._end_namespace, name)
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self.admin.post("/api/v1/namespaces", body)
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        self._stack.close()

    def _transport(self, user: User) -> RecordingTransport:
        api = self._stack.enter_context(self._plane.client(user))
        transport = RecordingTransport(ApiClientTransport(api, user_agent="bed"), user.name)
        self._stack.callback(transport.close)
        return transport

    def _end_namespace(self, name: str) -> None:
        with self._plane.client(self._plane.admin) as api:
            drop_finalizers(api, name)
            end_namespace(api, name)

    # --- the operator ----------------------------------------------------------------------

    def start(self, **options: Any) -> Operator:
        """Start an operator; one that ran before stops as in a crash."""
        self.stop()
        operator = super().start(**options)
        reflectors = [r for informer in operator.all_informers for r in informer.reflectors]
        self._threads = [_ReflectorThread(reflector) for reflector in reflectors]
        return operator

    def operators_transport(self) -> Any:
        """See Bed."""
        return self._transport(self._user)

    def stop(self) -> None:
        """Stop the operator, if one runs."""
        for thread in self._threads:
            thread.stop()
        for thread in self._threads:
            thread.join()
        self._threads = []

    def step(self) -> bool:
        """One round over everything but the watches; whether anything was done."""
        operator, busy = self.operator, False
        for informer in operator.all_informers:
            for registration in informer.registrations:
                busy |= registration.pending > 0
                registration.step()
        if operator.has_synced():
            operator.gate.step()
            operator.resync.step()
            if operator.gate.probed:
                while operator.pool.try_step():
                    busy = True
        return busy

    def settle(self, rounds: int = 60) -> None:
        """Work until nothing has come for a while."""
        del rounds
        deadline = time.monotonic() + DEADLINE_SECONDS
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < QUIET_SECONDS or not self.operator.has_synced():
            if self.step():
                quiet_since = time.monotonic()
            assert time.monotonic() < deadline, "the operator does not come to rest"
            time.sleep(POLL_SECONDS)

    def until(self, condition: Callable[[], bool], seconds: float = DEADLINE_SECONDS) -> None:
        """Work until it is so; AssertionError after `seconds`."""
        deadline = time.monotonic() + seconds
        while not condition():
            self.step()
            assert time.monotonic() < deadline, "it did not come to that in time"
            time.sleep(POLL_SECONDS)

    def install_definitions(self) -> None:
        """See Bed."""
        self._plane.install(CRDS)

    # --- what people do --------------------------------------------------------------------

    def delete_namespace(self, name: str) -> None:
        """See Bed; what is in it is deleted here, as the namespace controller does."""
        super().delete_namespace(name)
        for kind in KINDS:
            self.admin.delete(self.path(kind.kind, name))
        self.admin.delete(f"/api/v1/namespaces/{name}/secrets")

    def exists(self, kind: str, name: str, namespace: str = "team-a") -> bool:
        try:
            self.get(kind, name, namespace)
        except StatusError as error:
            if error.kind not in {StatusKind.NOT_FOUND, StatusKind.UNKNOWN_RESOURCE}:
                raise
            return False
        return True
