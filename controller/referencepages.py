"""The reference pages that follow from tables in the code, in Markdown."""

from collections.abc import Iterator, Sequence
from itertools import chain

from controller.api import KINDS
from controller.configuration.config import ConfigurationRow, configuration_table
from controller.events.events import EVENTS
from controller.events.recorder import BUSY_SECONDS, MANY_UNSENT, MAX_UNSENT
from controller.harness.reasons import CADENCES, TABLE, Entry
from controller.harness.taxonomy import Disposition, Rule
from controller.metrics.metrics import metrics_table

REASONS_HEAD = """# Reasons of the Ready condition

`kubectl get` shows the reason; the condition's message says it for the object at hand. There is
one condition to wait for: Ready. Beside it stand `Reconciling` while a change is on its way and
`Stalled` while nothing will be tried until something changes, for tools that know kstatus."""

CONFIGURATION_HEAD = """# Configuration

Each variable of the environment is also a flag of `lldap-operator run`; the flag wins, and an
empty text is as good as none. All mistakes are reported at once, at the start, with exit code 2."""

METRICS_HEAD = """# Metrics

Served at `/metrics` on METRICS_ADDRESS, in the text format of Prometheus and in OpenMetrics. Those
that client-go and controller-runtime have too bear their names. The process collector's
(`process_…`) come on top. A histogram `x` is exported as `x_bucket`, `x_sum` and `x_count`."""

_A_SECOND = [1 / seconds for seconds in BUSY_SECONDS]

EVENTS_HEAD = f"""# Events

`kubectl describe` shows them, and `kubectl get events`. They are events of events.k8s.io/v1, on
the object that they are about; what happens again within ten minutes counts the same event up.

They give way to work: while workers are busy {_A_SECOND[0]:.0f} events a second are sent,
{_A_SECOND[1]:.0f} with more than {MANY_UNSENT:,} to send, and all that is left as soon as the
workers rest. Up to {MAX_UNSENT:,} wait; beyond that the oldest are lost, and
`lldap_operator_events_total` counts them as `dropped`. At its end the operator sends for a second
what still waits.

A failure is a Warning with [the reason of the condition](reasons.md); these come on top:"""


def reasons_page() -> str:
    """All reasons, with what to do and when they are looked at again."""
    rows = [
        (f"`{e.reason}`", e.ready, _whose(e), e.meaning, e.action, _looked_at_again(e))
        for e in TABLE
    ]
    head = ("reason", "Ready", "kinds", "meaning", "what to do", "looked at again")
    return _page(REASONS_HEAD, _table(head, rows))


def configuration_page() -> str:
    """All variables."""
    head = ("variable", "flag", "default", "meaning")
    return _page(CONFIGURATION_HEAD, _table(head, [_variable(r) for r in configuration_table()]))


def metrics_page() -> str:
    """All metrics."""
    rows = [(f"`{m.name}`", m.type, m.labels, m.meaning) for m in metrics_table()]
    return _page(METRICS_HEAD, _table(("name", "type", "labels", "meaning"), rows))


def events_page() -> str:
    """All reasons of events that are no failures."""
    rows = [(f"`{e.reason}`", "Warning" if e.warning else "Normal", e.meaning) for e in EVENTS]
    return _page(EVENTS_HEAD, _table(("reason", "type", "meaning"), rows))


def _variable(row: ConfigurationRow) -> tuple[str, ...]:
    flag = f"`{row.flag}`" if row.flag else "none"
    return f"`{row.variable}`", flag, row.default, row.meaning


def _whose(entry: Entry) -> str:
    return "all" if entry.kinds == KINDS else ", ".join(kind.kind for kind in entry.kinds)


def _looked_at_again(entry: Entry) -> str:
    """When, beside the moments at which something of it changes."""
    if entry.rule is not None:
        return _when(entry.rule)
    on_its_way = entry.ready == "False"
    return f"after {_time(CADENCES.progressing)}" if on_its_way else "by the resync"


def _when(rule: Rule) -> str:
    match rule.disposition:
        case Disposition.TERMINAL:
            return f"after {_time(rule.seconds or CADENCES.terminal)}"
        case Disposition.FIXED_REQUEUE:
            return f"after {_time(rule.seconds or CADENCES.transient)}"
        case Disposition.BACKOFF:
            return "ever more rarely, at last every 5 min"  # the queue's own rule


def _time(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 60 else f"{seconds:g} s"


def _page(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(_lines(head, rows))


def _lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in chain([head, ["---"] * len(head)], rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
