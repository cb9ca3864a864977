"""What somebody else may do at any point of a run."""

from collections.abc import Callable

from tests.faults.bed import FaultBed

ACTS: dict[str, Callable[[FaultBed], None]] = {}
