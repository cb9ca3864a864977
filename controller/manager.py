"""Starts and stops everything, in order, and owns every thread."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from controller.clock import Clock
from controller.httpserver import HTTPServer
from controller.leadership import Election
from controller.loop import Loop
from controller.operator import Operator
from controller.probes import Check
from controller.recorder import EventRecorder
from informers import SharedInformer

_LOG = logging.getLogger("controller.manager")

GRACE_SECONDS = 3.0  # for work in hand; then the connections are closed under it
JOIN_SECONDS = 2.0
FLUSH_SECONDS = 1.0  # for the last events
SERVER_THREADS = 2
POLL_SECONDS = 0.1
SYNC_SECONDS = 5.0  # then a kind that cannot be listed no longer holds back the others


@dataclass(frozen=True, kw_only=True)
class Process:
    """What a manager runs. `abort` closes the connections to both servers."""

    operator: Operator
    elector: Election
    recorder: EventRecorder
    servers: Sequence[HTTPServer]
    workers: int
    clock: Clock
    abort: Callable[[], None]


class Manager:
    """Runs one operator.

    Start: probes and metrics, informers, mirror, election, workers. Stop: the reverse; the
    Lease is given back only when no work is left. `run` blocks: one thread; `stop`: any thread,
    also from a signal handler.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._stopping = False
        self._pause = threading.Event()  # never set: a sleep that the tests can see
        self._loops: list[Loop] = []
        self._workers: list[Loop] = []
        self._lost: str | None = None
        self._began = 0.0
        self.ready = False

    def stop(self) -> None:
        """End `run`; also from a signal handler.

        There no lock may be taken: `run` looks at a plain flag.
        """
        self._stopping = True

    def lost(self, why: str) -> None:
        """The Lease is lost: the process ends at once and begins anew."""
        self._lost = why
        self._stopping = True

    # --- probes ----------------------------------------------------------------------------

    def liveness(self) -> dict[str, Check]:
        """Checks of what a new start mends."""
        return {"threads": self._failed_loops, "leader": self._process.elector.check}

    def readiness(self) -> dict[str, Check]:
        """Checks of what the operator needs to see its objects; lldap is not among them."""
        return {
            informer.name: _synced(informer) for informer in self._process.operator.all_informers
        }

    def _failed_loops(self) -> str | None:
        failed = [loop.name for loop in [*self._loops, *self._workers] if loop.error is not None]
        return f"ended by an error: {', '.join(failed)}" if failed else None

    # --- run -------------------------------------------------------------------------------

    def run(self) -> int:
        """Work until `stop`; the exit code: 0 after a clean stop, 1 otherwise."""
        try:
            self._start()
            self._until(lambda: False)
        finally:
            clean = self._shut_down()
        if self._lost is not None:
            _LOG.error("the Lease is lost: %s", self._lost)
        return 0 if clean and self._lost is None and self._failed_loops() is None else 1

    def _start(self) -> None:
        process, operator = self._process, self._process.operator
        for server in process.servers:
            for number in range(SERVER_THREADS):
                self._run_loop(f"http-{server.address.port}-{number}", server.step, server.close)
        self._run_loop("events", process.recorder.step, wake=process.recorder.wake_with)
        for informer in operator.all_informers:
            self._start_informer(informer)
        self._run_loop("gate", operator.gate.step, wake=operator.gate.wake_with)
        self._run_loop("resync", operator.resync.step)
        self._began = process.clock.monotonic()
        if not self._until(self._has_looked) or not self._until(lambda: operator.gate.probed):
            return
        self._run_loop("election", process.elector.step)
        self._run_loop("election-watch", process.elector.watch)
        if self._until(self._may_work):
            self._start_workers()

    def _start_informer(self, informer: SharedInformer) -> None:
        for reflector in informer.reflectors:
            self._run_loop(f"reflector {reflector.name}", reflector.step, reflector.stop)
        for registration in informer.registrations:
            self._run_loop(
                f"handler {informer.name}", registration.step, wake=registration.on_pending
            )

    def _has_looked(self) -> bool:
        """Every kind was listed, or there is a reason why one cannot be: the others go on."""
        informers = self._process.operator.all_informers
        unsynced = [informer for informer in informers if not informer.has_synced()]
        if not unsynced:
            return self._process.operator.has_synced()
        late = self._process.clock.monotonic() - self._began > SYNC_SECONDS
        return late and all(informer.last_error is not None for informer in unsynced)

    def _may_work(self) -> bool:
        term = self._process.elector.term
        return term is not None and self._process.clock.monotonic() >= term.may_work_at

    def _start_workers(self) -> None:
        operator = self._process.operator
        operator.compare_all()
        for number in range(self._process.workers):
            loop = Loop(f"worker-{number}", operator.pool.step, clock=self._process.clock)
            self._workers.append(loop)
            loop.start()
        self.ready = True
        _LOG.info("working")

    def _until(self, condition: Callable[[], bool]) -> bool:
        """Wait for a condition; False if the process is to stop first, or a thread has died."""
        while not self._stopping and self._failed_loops() is None:
            if condition():
                return True
            self._pause.wait(POLL_SECONDS)
        return False

    def _run_loop(
        self,
        name: str,
        step: Callable[[], float],
        on_stop: Callable[[], None] | None = None,
        wake: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        loop = Loop(name, step, clock=self._process.clock, on_stop=on_stop, wake=wake)
        self._loops.append(loop)
        loop.start()

    # --- the end ---------------------------------------------------------------------------

    def _shut_down(self) -> bool:
        """Workers, informers, the rest, the Lease; True if every thread ended in time."""
        process, operator = self._process, self._process.operator
        operator.pool.stop()
        for worker in self._workers:
            worker.stop()
        ended = self._join(self._workers, GRACE_SECONDS)
        if not ended:
            _LOG.warning("calls are still under way: their connections are closed")
            process.abort()
            self._join(self._workers, JOIN_SECONDS)
        operator.queues.shut_down()
        for loop in reversed(self._loops):
            loop.stop()
        for informer in operator.all_informers:
            informer.stop()
        joined = self._join(self._loops, JOIN_SECONDS)
        if ended and self._lost is None:
            process.recorder.flush(FLUSH_SECONDS)
            process.elector.release()
        process.abort()
        return ended and joined

    def _join(self, loops: Sequence[Loop], seconds: float) -> bool:
        deadline = self._process.clock.monotonic() + seconds
        return all(
            loop.join(max(0.0, deadline - self._process.clock.monotonic())) for loop in loops
        )


def _synced(informer: SharedInformer) -> Check:
    def check() -> str | None:
        if informer.has_synced() and informer.last_error is None:
            return None
        error = informer.last_error
        return f"cannot be listed: {error}" if error is not None else "not listed yet"

    return check
