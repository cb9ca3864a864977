"""What a contestant is told: where the servers are, and what there is to do."""

from dataclasses import asdict, dataclass
from pathlib import Path

import orjson


@dataclass(frozen=True, slots=True)
class Job:
    """One run of one contestant. Read from a file, which holds secrets of the test servers."""

    work: str
    api: str
    ca: str
    token: str
    namespace: str
    lldap: str
    lldap_password: str
    threads: int

    def write(self, path: Path) -> None:
        """Write it for `read`."""
        path.touch(mode=0o600)
        path.write_bytes(orjson.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> "Job":
        """What `write` wrote."""
        return cls(**orjson.loads(path.read_bytes()))
