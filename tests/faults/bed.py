"""The deterministic bed: the shipped operator over two embedded stores, faults at every call."""

import random
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from controller.api import Kind
from controller.manager import PATIENCE_SECONDS, not_to_be_had
from controller.operator import Operator
from sandbox.apiserver.transport import Call as ApiCall
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward
from tests.faults.injector import Crash, Injector
from tests.faults.plan import Fault
from tests.faults.safety import Safety
from tests.faults.stores import Object, deleting, key_of
from tests.faults.transports import FaultyApiTransport, lldap_hook
from tests.support.bed import Bed
from tests.support.directory import Directory

_UNTOLD = frozenset({"drop", "hold", "stale"})
GONE_SECONDS = 1500.0  # how long people wait at most for a deletion
RESTART_SECONDS = 1.0  # until a crashed operator is there again
GROUP_SUFFIX = ".lldap-operator.lukidoescode.com"

# Time is let pass in small steps while things happen fast, in large ones later.
PACE: tuple[tuple[float, float], ...] = ((15.0, 1.0), (60.0, 5.0), (float("inf"), 30.0))
QUIET_PACE = ((float("inf"), 60.0),)


class FaultBed(Bed):
    """A Bed whose operator meets the faults of a plan once the run is armed. One thread.

    What is not safe ends up in `safety.violations`.
    """

    def __init__(
        self,
        *,
        whole_seconds: bool = False,
        acts: dict[str, Callable[["FaultBed"], None]] | None = None,
        **rules: Any,
    ) -> None:
        self.injector = Injector(self)
        self.crashes = 0
        self.acted = False  # whether another person did something than the workload's
        self._acts = acts or {}
        self._order: random.Random | None = None
        self._landings: list[tuple[float, Callable[[], object]]] = []
        super().__init__(whole_seconds=whole_seconds, **rules)
        self.directory = Directory(self)
        self.safety = Safety(self)
        self.safety.follow(self.operator)
        self.lldap.hooks.append(lldap_hook(self.caller, self.injector))
        self.lldap.hooks.append(self._watched)

    def _watched(self, call: Call, forward: Forward) -> Response:
        """Whatever of the operator is carried out is looked at."""
        ours = call.caller == self.caller
        return self.safety.judge_call(call, forward) if ours else forward(call)

    def operators_transport(self) -> FaultyApiTransport:
        """See Bed."""
        transport = FaultyApiTransport(
            self.api,
            self.injector,
            user="operator",
            stale=self._revision_before,
            now=self.clock.monotonic,
        )
        transport.after = self._judge_write
        return transport

    def _judge_write(self, call: ApiCall, status: int) -> None:
        self.safety.judge_write(call, status)  # it is made after the first operator

    def start(self, **options: Any) -> Operator:
        """See Bed."""
        self.injector.crashing = False
        self._patience = self.clock.monotonic() + PATIENCE_SECONDS
        operator = super().start(**options)
        if hasattr(self, "safety"):
            self.safety.follow(operator)
        return operator

    def arm(self, faults: Iterable[Fault], schedule: int) -> None:
        """From now on calls are points, and faults come; see Plan for `schedule`."""
        self.injector.arm(faults)
        self._order = random.Random(schedule) if schedule else None

    @property
    def watches_are_behind(self) -> bool:
        """Whether events have not come, or come in their own time."""
        late = any(fault.do in _UNTOLD and fault.late for fault in self.injector.hit)
        return late or self._order is not None

    def is_untold(self, kind: Kind, obj: Object) -> bool:
        """Whether the one event that told of it was dropped, and no list has come since.

        What a watch holds back comes in its order: who is told of a deletion knows all that is
        older. So this is about a watch that leaves an event out, as no API server does.
        """
        event = f"event {kind.plural} ADDED {key_of(obj)}#"
        dropped = any(f.do == "drop" and f.at.startswith(event) for f in self.injector.hit)
        lister = self.operator.informers[kind.kind].lister
        return dropped and lister.get(*key_of(obj).split("/")) is None

    # --- work ------------------------------------------------------------------------------

    def step(self) -> bool:
        """See Bed; a crash is survived, and what was late lands."""
        self._land()
        try:
            return self._ordered_step() if self._order else super().step()
        except Crash:
            self.crashes += 1
            self.clock.advance(RESTART_SECONDS)
            self.start()
            return True

    def _ordered_step(self) -> bool:
        """One round in a random order; informers are further behind or ahead each time."""
        assert self._order is not None
        self.api.step()
        units = self._units()
        self._order.shuffle(units)
        done = [unit() for unit in units[: self._order.randint(1, len(units))]]
        return any(done)

    def has_looked(self) -> bool:
        """As the manager does: a kind that cannot be had does not hold up the others for long."""
        if self.operator.has_synced():
            return True
        reflectors = [r for informer in self.operator.all_informers for r in informer.reflectors]
        return self.clock.monotonic() >= self._patience and all(
            reflector.has_listed or not_to_be_had(reflector) for reflector in reflectors
        )

    def _units(self) -> list[Callable[[], bool]]:
        operator = self.operator
        units: list[Callable[[], bool]] = []
        for informer in operator.all_informers:
            units += [_reflecting(reflector.step) for reflector in informer.reflectors]
            for each in informer.registrations:
                units.append(_telling(each))
        if self.has_looked():
            units += [_silently(operator.gate.step), _silently(operator.resync.step)]
            if operator.gate.probed:
                units += [operator.pool.try_step] * 3
        return units

    def settle(self, rounds: int = 60) -> None:
        """See Bed; with a random order a quiet round says little."""
        needed = 40 if self._order else 3
        quiet = 0
        for _ in range(rounds * 50):
            quiet = 0 if self.step() else quiet + 1
            if quiet >= needed:
                return
        raise AssertionError("the operator does not come to rest")

    def work(
        self,
        seconds: float,
        until: Callable[[], bool] = lambda: False,
        pace: tuple[tuple[float, float], ...] = PACE,
    ) -> float:
        """Let time pass until it is so; how long that took."""
        begun = self.clock.monotonic()
        self.settle()
        while not until() and (passed := self.clock.monotonic() - begun) < seconds:
            step = next(step for limit, step in pace if passed < limit)
            self.clock.advance(min(step, seconds - passed))
            self.settle()
        return self.clock.monotonic() - begun

    def apply(
        self, kind: str, name: str, spec: Object, namespace: str = "team-a", **metadata: Any
    ) -> Object:
        """See Bed; people who make something anew wait until the old one is gone."""
        key = f"{namespace}/{name}"

        def is_free() -> bool:
            found = self.safety.stores.object(kind, key)
            return found is None or not deleting(found)

        if not is_free():
            self.work(GONE_SECONDS, until=is_free)
        return super().apply(kind, name, spec, namespace, **metadata)

    # --- see injector.World ----------------------------------------------------------------

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def later(self, seconds: float, work: Callable[[], object]) -> None:
        self._landings.append((self.clock.monotonic() + seconds, work))

    def act(self, name: str) -> None:
        """A person acts; whatever they get for an answer."""
        self.acted = True
        with self.safety.person_acts():
            self._acts[name](self)

    def _land(self) -> None:
        now = self.clock.monotonic()
        due = [work for when, work in self._landings if when <= now]
        self._landings = [each for each in self._landings if each[0] > now]
        for work in due:
            with self.safety.disturbed(), suppress(Exception):
                work()

    @property
    def landings_left(self) -> int:
        """How many calls are still on their way."""
        return len(self._landings)

    def _revision_before(self, path: str, back: int) -> int:
        """The revision that the resource had before its last `back` changes."""
        plural = path.rpartition("/")[2]
        storage = plural if plural == "secrets" else plural + GROUP_SUFFIX
        changes = self.api.store.changes(storage, 0)[0]
        return changes[-back].revision - 1 if back <= len(changes) else self.api.store.revision


def _reflecting(step: Callable[[], float]) -> Callable[[], bool]:
    return lambda: step() == 0.0


def _telling(registration: Any) -> Callable[[], bool]:
    def tell() -> bool:
        pending: bool = registration.pending > 0
        registration.step()
        return pending

    return tell


def _silently(step: Callable[[], float]) -> Callable[[], bool]:
    def run() -> bool:
        step()
        return False

    return run
