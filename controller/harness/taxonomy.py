"""What becomes of an object that failed, by the reason of the failure."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field


class Disposition(enum.Enum):
    """How a failure is looked at again."""

    TERMINAL = "Terminal"  # latches until something changes; looked at again after a long while
    FIXED_REQUEUE = "FixedRequeue"  # after a fixed time
    BACKOFF = "Backoff"  # after the queue's exponential back-off


@dataclass(frozen=True, slots=True)
class Rule:
    """Disposition of one reason; `seconds` overrides the cadence of its phase."""

    disposition: Disposition
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Maps each reason to its rule; one that is not listed takes `default`."""

    rules: Mapping[str, Rule]
    default: Rule = field(default_factory=lambda: Rule(Disposition.BACKOFF))

    def __contains__(self, reason: str) -> bool:
        return reason in self.rules

    def of(self, reason: str) -> Rule:
        """The rule of a reason."""
        return self.rules.get(reason, self.default)

    def overridden_by(self, other: "Taxonomy") -> "Taxonomy":
        """The same, but for the reasons that the other lists."""
        return Taxonomy({**self.rules, **other.rules}, self.default)


@dataclass(frozen=True, slots=True)
class Cadences:
    """Seconds until an object is looked at again, by phase.

    `ready` is the drift resync of one object (0: none, when one resync serves all objects);
    `terminal` is how long a latched failure rests.
    """

    ready: float = 600.0
    progressing: float = 5.0
    transient: float = 30.0
    terminal: float = 600.0
