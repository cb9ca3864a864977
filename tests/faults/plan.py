"""One run in one small file: which workload, and which fault at which outward call."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import orjson


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens at one point.

    `at` is a point's address: its label and which of the calls with that label it is, as in
    `lldap createUser#1`. `do` is a key of injector.DEEDS. `seconds`, `back` and `act` are for
    deeds that need them.
    """

    at: str
    do: str
    seconds: float = 0.0
    back: int = 0
    act: str = ""

    @property
    def late(self) -> bool:
        """Whether something comes later, or never."""
        return self.seconds > 0 or self.do == "drop"

    def __str__(self) -> str:
        more = [f"{self.seconds:g} s"] if self.seconds else []
        more += [f"{self.back} back"] if self.back else []
        more += [self.act] if self.act else []
        return f"{self.do} at {self.at}" + (f" ({', '.join(more)})" if more else "")


@dataclass(frozen=True, slots=True)
class Plan:
    """A workload under faults. `schedule` 0 works in a fixed order, else in a random one."""

    workload: str
    faults: tuple[Fault, ...] = ()
    schedule: int = 0
    note: str = field(default="", compare=False)

    def __str__(self) -> str:
        order = f", schedule {self.schedule}" if self.schedule else ""
        return f"{self.workload}{order}: {'; '.join(map(str, self.faults)) or 'undisturbed'}"

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a plan file."""
        raw: dict[str, Any] = orjson.loads(path.read_bytes())
        faults = tuple(Fault(**fault) for fault in raw.pop("faults", ()))
        return cls(faults=faults, **raw)

    def save(self, path: Path) -> None:
        """Write a plan file."""
        raw = asdict(self)
        raw["faults"] = [
            {key: value for key, value in fault.items() if value} for fault in raw["faults"]
        ]
        kept = {key: value for key, value in raw.items() if value}
        path.write_bytes(orjson.dumps(kept, option=orjson.OPT_INDENT_2) + b"\n")
