"""Starts and stops everything, in order, and owns every thread."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from controller.api import KINDS
from controller.clock import Clock
from controller.cluster import ClusterId
from controller.election.leadership import Election
from controller.events.recorder import EventRecorder
from controller.loop import FOREVER
from controller.loops import Loops
from controller.operator import SECRETS, Operator
from controller.serving.httpserver import HTTPServer
from controller.serving.probes import Check
from controller.stop import Stop
from informers import Reflector, SharedInformer, StatusError, StatusKind

_LOG = logging.getLogger("controller.manager")

STOP_SECONDS = 4.5  # from the signal to the end; 5 are promised, on a busy machine too
GRACE_SECONDS = 3.2  # of these for the work in hand; then its connections are closed
ABORT_SECONDS = 0.4  # until a call notices that
FAREWELL_SECONDS = 2.0  # for the Lease and the last events, of what is left
JOIN_SECONDS = 0.5  # kept for the last threads
FLUSH_SECONDS = 1.0  # for the last events
PATIENCE_SECONDS = 5.0  # with a kind that is not served: a new CRD takes two seconds
POLL_SECONDS = 0.05  # between two looks whether the next phase may begin
WATCH_SECONDS = 1.0  # a bound on lateness: a signal that comes right before a wait does not end it
SERVER_THREADS = 2

_NOT_TO_BE_HAD = {StatusKind.UNKNOWN_RESOURCE, StatusKind.FORBIDDEN}

Checks = Mapping[str, Check]


@dataclass(frozen=True, kw_only=True)
class Process:
    """What a manager runs.

    `serve` makes the servers of metrics and probes, given the checks of liveness and readiness,
    and may raise ConfigError; `make_operator` is given the cluster's id. `close_lldap` and
    `close_api` end all calls, those in progress too, and may be called twice.
    """

    cluster: ClusterId
    make_operator: Callable[[str], Operator]
    elector: Election
    recorder: EventRecorder
    serve: Callable[[Checks, Checks], Sequence[HTTPServer]]
    workers: int
    clock: Clock
    close_lldap: Callable[[], None]
    close_api: Callable[[], None]


class Manager:
    """Runs one operator in its own threads, from its start to its end.

    Start: metrics and probes, the cluster's id, informers, election; then, as leader, the gate
    with the mirror of lldap, the resync and the workers. A standby has warm informers and leaves
    lldap alone. Stop: workers, informers, the Lease, events, servers. The Lease is given back
    only when no work is left: a call that had to be cut off may still be carried out.

    `run`: one thread, once. The checks: any thread.
    """

    def __init__(self, process: Process, stop: Stop) -> None:
        self._process = process
        self._stop = stop
        self._operator: Operator | None = None
        self._servers, self._events, self._informers = self._loops(), self._loops(), self._loops()
        self._election, self._lldap, self._workers = self._loops(), self._loops(), self._loops()
        self._farewell = self._loops()

    def _loops(self) -> Loops:
        return Loops(self._process.clock, ended=self._stop.tell)

    @property
    def _all(self) -> tuple[Loops, ...]:
        return (
            self._workers,
            self._lldap,
            self._informers,
            self._election,
            self._events,
            self._farewell,
            self._servers,
        )

    # --- checks ----------------------------------------------------------------------------

    def liveness(self) -> dict[str, Check]:
        """Checks of what a new start mends."""
        return {"threads": self._check_threads, "leader": self._process.elector.check}

    def readiness(self) -> dict[str, Check]:
        """Checks of what the operator needs to see its objects; lldap is not among them."""
        names = [*(kind.plural for kind in KINDS), SECRETS]
        return {
            "cluster": self._process.cluster.check,
            **{name: self._check_listed(name) for name in names},
        }

    def _check_threads(self) -> str | None:
        failed = self._failed
        return f"ended by an error: {', '.join(failed)}" if failed else None

    @property
    def _failed(self) -> list[str]:
        return [name for loops in self._all for name in loops.failed]

    def _check_listed(self, name: str) -> Check:
        def check() -> str | None:
            if self._operator is None:
                return "not listed yet"
            informer = next(i for i in self._operator.all_informers if i.name == name)
            error = informer.last_error
            if error is not None:
                return f"cannot be listed: {error}"
            return None if informer.has_synced() else "not listed yet"

        return check

    # --- start -----------------------------------------------------------------------------

    def run(self) -> int:
        """Work until `stop` wants the end; the exit code: 0, or 1 if something went wrong.

        Raises ConfigError if the configuration turns out to be of no use.
        """
        try:
            if self._start():
                self._until(lambda: False, WATCH_SECONDS)
        finally:
            self._shut_down()
        if self._process.cluster.mistake is not None:
            raise self._process.cluster.mistake
        if self._stop.lease_lost is not None:
            _LOG.error("the Lease is lost: %s", self._stop.lease_lost)
            return 1
        return 1 if self._failed else 0

    def _start(self) -> bool:
        """Every phase begins when the one before it is done; False if one is not to end well."""
        process = self._process
        self._serve()
        if not self._until(lambda: process.cluster.decided) or process.cluster.value is None:
            return False
        self._operator = operator = process.make_operator(process.cluster.value)
        for informer in operator.all_informers:
            self._start_informer(informer)
        patience = process.clock.monotonic() + PATIENCE_SECONDS
        if not self._until(lambda: self._has_looked(operator, patience)):
            return False
        self._election.run("election", process.elector.step)
        self._election.run("election-watch", process.elector.watch)
        if not self._until(self._may_work):
            return False
        self._lldap.run("gate", operator.gate.step, wake=operator.gate.wake_with)
        self._lldap.run("resync", operator.resync.step)
        if not self._until(lambda: operator.gate.probed):
            return False
        self._start_workers(operator)
        return True

    def _serve(self) -> None:
        process = self._process
        for server in process.serve(self.liveness(), self.readiness()):
            for number in range(SERVER_THREADS):
                name = f"http-{server.address.port}-{number}"
                self._servers.run(name, server.step, on_stop=server.close)
        self._events.run("events", process.recorder.step, wake=process.recorder.wake_with)
        self._informers.run("cluster-id", process.cluster.step)

    def _start_informer(self, informer: SharedInformer) -> None:
        for reflector in informer.reflectors:
            self._informers.run(
                f"reflector {reflector.name}", reflector.step, on_stop=reflector.stop
            )
        for registration in informer.registrations:
            self._informers.run(
                f"handler {informer.name}", registration.step, wake=registration.on_pending
            )

    def _has_looked(self, operator: Operator, patience: float) -> bool:
        """Every kind was listed, or cannot be had: then the others go on without it."""
        if operator.has_synced():
            return True
        if self._process.clock.monotonic() < patience:
            return False
        reflectors = [r for informer in operator.all_informers for r in informer.reflectors]
        return all(reflector.has_listed or not_to_be_had(reflector) for reflector in reflectors)

    def _may_work(self) -> bool:
        term = self._process.elector.term
        return term is not None and self._process.clock.monotonic() >= term.may_work_at

    def _start_workers(self, operator: Operator) -> None:
        operator.compare_all()
        operator.pool.workers(self._process.workers)
        for number in range(self._process.workers):
            self._workers.run(f"worker-{number}", operator.pool.step)
        _LOG.info("working")

    def _until(self, condition: Callable[[], bool], pause: float = POLL_SECONDS) -> bool:
        """Wait for a condition; False if the process is to end first, or a thread has died.

        Of both the thread that waits is told; the condition it looks at every `pause` seconds.
        """
        while not self._stop.wanted and not self._failed:
            if condition():
                return True
            self._stop.wait(pause)
        return False

    # --- the end ---------------------------------------------------------------------------

    def _shut_down(self) -> None:
        """End everything in less than STOP_SECONDS."""
        process = self._process
        end = process.clock.monotonic() + STOP_SECONDS
        idle = self._stop_workers()
        self._stop_informers()
        process.close_lldap()
        if idle and self._stop.lease_lost is None:
            self._farewell.run("farewell", self._say_farewell)
            left = end - JOIN_SECONDS - process.clock.monotonic()
            self._farewell.join(min(left, FAREWELL_SECONDS))
        process.close_api()
        self._join_all()

    def _join_all(self) -> None:
        end = self._process.clock.monotonic() + JOIN_SECONDS
        for loops in self._all:
            loops.stop()
        for loops in self._all:
            loops.join(end - self._process.clock.monotonic())
        running = [name for loops in self._all for name in loops.running]
        if running:  # daemon threads in calls that cannot be cut off: they end with the process
            _LOG.warning("still in a call at the end: %s", ", ".join(running))

    def _stop_workers(self) -> bool:
        """Whether the work in hand was finished."""
        if self._operator is None:
            return True
        self._operator.pool.stop()
        self._workers.stop()
        if self._workers.join(0.0 if self._stop.lease_lost else GRACE_SECONDS):
            return True
        _LOG.warning("calls are still under way and are cut off; the Lease is left to run out")
        self._stop_informers()
        self._election.stop()
        self._process.close_lldap()
        self._process.close_api()
        self._workers.join(ABORT_SECONDS)
        return False

    def _stop_informers(self) -> None:
        self._lldap.stop()
        self._informers.stop()
        if self._operator is not None:
            self._operator.queues.shut_down()
            for informer in self._operator.all_informers:
                informer.stop()

    def _say_farewell(self) -> float:
        """Give the Lease back, send the last events: in a thread, for no server is waited for."""
        self._election.stop()
        if self._election.join(FAREWELL_SECONDS):
            self._process.elector.release()
        self._events.stop()
        if self._events.join(FAREWELL_SECONDS):
            self._process.recorder.flush(FLUSH_SECONDS)
        self._farewell.stop()
        return FOREVER


def not_to_be_had(reflector: Reflector) -> bool:
    """No CRD, or no right: that may take for ever; everything else passes."""
    error = reflector.last_error
    return isinstance(error, StatusError) and error.kind in _NOT_TO_BE_HAD
