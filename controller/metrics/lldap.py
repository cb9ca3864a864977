"""What goes on between the operator and lldap: calls, logins, passwords, the gate, the mirror."""

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry

from controller.metrics.family import Family, Kind, counter, histogram, single_gauge

OK: Final = "ok"
_PROOFS: Final = ("holds", "fails", "error")

CALLS: Final = Family(
    "lldap_operator_lldap_calls_total",
    Kind.COUNTER,
    ("operation", "outcome"),
    "Calls to lldap; outcome `ok` or the name of the error.",
)
CALL_DURATION: Final = Family(
    "lldap_operator_lldap_call_duration_seconds",
    Kind.HISTOGRAM,
    ("operation",),
    "How long a call to lldap takes.",
    (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
LOGINS: Final = Family(
    "lldap_operator_lldap_logins_total",
    Kind.COUNTER,
    ("outcome",),
    "Logins of the operator's account; outcome `ok` or the name of the error.",
)
REGISTRATIONS: Final = Family(
    "lldap_operator_password_registrations_total",
    Kind.COUNTER,
    ("outcome",),
    "Passwords set; outcome `ok` or the name of the error.",
)
PROOFS: Final = Family(
    "lldap_operator_password_proofs_total",
    Kind.COUNTER,
    ("result",),
    "Looks whether lldap already has a password: it `holds`, it `fails`, or an `error`.",
)
GATE: Final = Family(
    "lldap_operator_gate_open",
    Kind.GAUGE,
    (),
    "1 while lldap answers and work goes on, 0 while all work for lldap waits.",
)
MIRROR_AGE: Final = Family(
    "lldap_operator_mirror_age_seconds",
    Kind.GAUGE,
    (),
    "Seconds since all of lldap was last read.",
)
DEAD_MARKS: Final = Family(
    "lldap_operator_dead_marks",
    Kind.GAUGE,
    (),
    "Accounts and groups marked for an object that is gone; `doctor` names them.",
)
FAMILIES: Final = (
    CALLS,
    CALL_DURATION,
    LOGINS,
    REGISTRATIONS,
    PROOFS,
    GATE,
    MIRROR_AGE,
    DEAD_MARKS,
)


class LldapMetrics:
    """The Metrics of the lldap package, and what the controller knows of lldap. Any thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = counter(registry, CALLS)
        self._duration = histogram(registry, CALL_DURATION)
        self._logins = counter(registry, LOGINS, [(OK,), ("LoginRefused",)])
        self._registrations = counter(registry, REGISTRATIONS, [(OK,)])
        self._proofs = counter(registry, PROOFS, [(result,) for result in _PROOFS])
        self._gate = single_gauge(registry, GATE)
        self._dead_marks = single_gauge(registry, DEAD_MARKS)
        self._mirror_age = single_gauge(registry, MIRROR_AGE)

    def follow(
        self,
        *,
        gate_open: Callable[[], bool],
        mirror_age: Callable[[], float],
        dead_marks: Callable[[], int],
    ) -> None:
        """Ask these at each scrape: any thread, quick, and without raising."""
        self._gate.set_function(gate_open)
        self._mirror_age.set_function(mirror_age)
        self._dead_marks.set_function(dead_marks)

    def observe_call(self, operation: str, outcome: str, seconds: float) -> None:
        """A call ended."""
        self._calls.at(operation, outcome).inc()
        self._duration.at(operation).observe(seconds)

    def observe_login(self, outcome: str) -> None:
        """A login ended."""
        self._logins.at(outcome).inc()

    def registered(self, outcome: str) -> None:
        """A password was set, or not: "ok" or the name of the error."""
        self._registrations.at(outcome).inc()

    def proved(self, *, holds: bool | None) -> None:
        """A password was compared with lldap's; None: that failed."""
        result = _PROOFS[2] if holds is None else _PROOFS[0] if holds else _PROOFS[1]
        self._proofs.at(result).inc()
